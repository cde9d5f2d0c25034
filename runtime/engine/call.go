package engine

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/rules"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A call is one execution. Two goroutines share it: the caller's, which waits for the outcome, and
// the worker's. Timers and other goroutines may end it. mu guards the last group of fields. The
// fields of the second group belong to the goroutine that executes the call.
type call struct {
	exec   *Executor
	run    *Run
	turn   *Turn
	ctx    context.Context // of the caller: it lives as long as the call
	record *callRecord
	id     string
	began  time.Time
	batch  *batch

	worker      *worker
	tool        *tool
	index       int
	now         time.Time
	args        wire.Value // as decoded
	final       wire.Value // after rewrites
	text        []byte     // of args; never changed
	finalText   []byte     // of final
	size        int        // of the input, in bytes
	obligations []runtime.Obligation
	outputs     wire.Value
	policyCtx   callContext
	slotGranted *sched.Event
	asked       *asked
	metadata    map[string]string
	heartbeat   bool            // it asked to be continued
	epoch       uint64          // of the earlier owner of the journal that started its handler
	dry         bool            // only evaluated: no events, no reservations, no handler
	undoing     bool            // it is the undo of another call and shares the record of that call
	inFlight    bool            // counted in the capacity
	readmits    bool            // after a restart: it is evaluated again, and still holds its reservation
	unfit       bool            // it waits for consent that was requested under another declaration of its tool
	entered     bool            // counted in the gates
	slot        bool            // holds a slot of its tool
	returned    bool            // the work returned without a panic and without Goexit
	work        context.Context // of policy and handler
	left        atomic.Bool     // its handler has returned

	mu           sync.Mutex
	life         lifecycle.Call // phase, attempt and fence, and who may end it
	handlerCtx   callContext
	prepared     wire.Value   // the state that its undo will need
	isPrepared   bool         // prepared was computed, and may be nil
	position     int          // in the list of active calls, from 1; guarded by the session
	evaluation   *callContext // the context of the policy
	revision     string       // of the policy that evaluated the call
	drained      *sched.Event // happens when the fence is shut and no effect is inside; nil: no goroutine waits
	state        runtime.State
	reservation  reservation // what it holds in the rule state; guarded by the session
	invoked      bool
	entry        uint64       // position of its latest entry in the journal
	interruption *result      // while it is evaluated again: its result unless it runs again
	running      *callContext // of the present attempt
	parts        []*begun     // of the present attempt, in the order in which they began
	sealing      *sched.Event // happens when no goroutine uses the parts; nil: none is using them
	stray        bool         // refused because its id is that of another call
	found        *Verdict     // dry: the verdict, when the worker ended the call
	effect       rules.Digest // of its idempotency, when its tool declares one; zero before it is admitted
	unrecorded   bool         // the journal has no entry of it: the commit log was stalled when it was made
}

// clock returns the time, measured by the monotonic clock from the start of the call. That is
// cheaper than time.Now, and a change of the wall clock does not change how long the call may take.
func (c *call) clock() time.Time { return c.exec.sched.Since(c.began) }

// over returns the signal that happens when c has its outcome.
func (c *call) over() *sched.Event {
	if c.record.final != nil {
		return c.record.final
	}
	return &c.record.first
}

// ends returns when the turn's budget is used up. It returns zero for a call whose
// caller has the outcome pending, because that call no longer belongs to the turn.
func (c *call) ends() time.Time {
	if c.life.Detached() {
		return time.Time{}
	}
	return c.turn.ends
}

// enter takes the call to phase p, which ends at due, or never when due is zero. It
// reports false when the call has ended. Only the worker calls it.
func (c *call) enter(p lifecycle.Phase, due time.Time) bool {
	c.mu.Lock()
	if !c.life.Enter(p, due) {
		c.mu.Unlock()
		return false
	}
	c.mu.Unlock()
	c.worker.arm(due)
	return true
}

// A reservation says what a call holds in the rule state of its session.
type reservation uint8

const (
	reservedNothing reservation = iota
	reserved
	reservedAndInvoked // its handler was started
)

// resumed reports whether the call has been approved.
func (c *call) resumed() bool { return c.asked != nil && c.asked.id != "" }

// deadline returns how long one attempt of c may take, without the budget of its turn: what its
// tool declares, or less if the turn caps it.
func (c *call) deadline() time.Duration {
	d := deadlineOf(c.tool.spec)
	if most := c.turn.limit; most > 0 && most < d {
		return most
	}
	return d
}

// deadlineOf returns how long one attempt may take.
func deadlineOf(s *runtime.Spec) time.Duration {
	if s.Deadline > 0 {
		return s.Deadline
	}
	return runtime.DefaultDeadline
}

// outputLimit returns how many bytes an output may have.
func outputLimit(s *runtime.Spec) int64 {
	if s.Limits.Output > 0 {
		return s.Limits.Output
	}
	return runtime.DefaultOutputLimit
}

// asked holds what a call knows of the consent that it needs.
type asked struct {
	question consent.Question
	preview  *consent.Preview
	plain    bool   // the preview was made with the arguments as decoded
	grant    string // the grant that answers the question
	id       string // of the request, once there is one
	unasked  bool   // the call was approved, and neither policy nor declaration asks any more
	since    time.Time
	tell     context.CancelFunc
	showing  *callContext // of the preview; guarded by the call
	late     *sched.Event // happens when ConsentWait is over; guarded by the call
}

// shutFence lets no further effects in. It returns the signal that happens when the effects inside
// have ended, nil when there are none. c.mu is held.
func (c *call) shutFence() *sched.Event {
	if c.life.ShutFence() && c.drained == nil {
		c.drained = sched.NewEvent()
	}
	return c.drained
}

// leaveEffect ends an effect under the fence. c.mu is held.
func (c *call) leaveEffect() {
	if c.life.LeaveEffect() && c.drained != nil {
		c.exec.sched.Fire(c.drained)
		c.drained = nil
	}
}
