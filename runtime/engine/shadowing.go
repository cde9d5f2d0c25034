package engine

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/facts"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
)

// maxShadowed is how many calls wait for the shadow policy at most.
const maxShadowed = 256

// shadowPause is how long the first waiting call waits for more, unless maxShadowed/2 calls wait
// before.
const shadowPause = time.Millisecond

// A shadow evaluates calls after the policy did. The calls wait for shadowPause, so that not each
// of them wakes the goroutine. The goroutine ends when no calls wait.
type shadow struct {
	exec   *Executor
	policy runtime.Policy
	report func(ShadowDifference)

	mu      sync.Mutex
	waiting []shadowed
	spare   []shadowed
	soon    runtime.Timer // timer that starts the goroutine
	due     bool          // soon is set
	running bool          // the goroutine runs
	closed  bool          // no call is added any more
	over    bool          // no difference is reported any more
	idle    *sched.Event  // fires when the shadow is closed and its goroutine has ended
	stats   ShadowStats

	watch   runtime.Timer // ends evaluations that take too long; it is reused from one evaluation to the next
	watched atomic.Bool
	current atomic.Pointer[shadowEvaluation]
}

// A shadowed is the copy of a call for the shadow policy. Its input is that of the policy, except
// the values that other goroutines may change or memoize in.
type shadowed struct {
	in     runtime.PolicyInput
	tool   *tool
	text   []byte // the arguments; never changed
	agent  string
	active runtime.Decision
	failed string
	facts  *facts.Snapshot
}

// shadowed returns the copy of the call, which the policy has just evaluated, for the shadow
// policy; nil when there is none.
func (c *call) shadowed() *shadowed {
	if c.exec.shadow == nil || c.dry {
		return nil
	}
	return c.forShadow()
}

// forShadow is shadowed when there is a shadow policy.
func (c *call) forShadow() *shadowed {
	w := c.worker
	if w.evaluation.detail.Rule == ruleBreaker { // the policy was not evaluated
		return nil
	}
	if w.shadowed == nil {
		w.shadowed = new(shadowed)
	}
	t := w.shadowed
	*t = shadowed{in: w.input, tool: c.tool, text: c.finalText, agent: c.run.agent, active: w.evaluation.decision, facts: w.view.Facts()}
	t.in.SetFacts(t.facts)
	if w.evaluation.reason == runtime.ReasonPolicyError {
		t.failed = w.evaluation.detail.Rule
	}
	return t
}

// compare queues a call for the shadow policy. t is not nil.
func (s *shadow) compare(t *shadowed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.waiting) >= maxShadowed {
		s.stats.Dropped++
		return
	}
	s.waiting = append(s.waiting, *t)
	switch {
	case s.running:
	case len(s.waiting) > maxShadowed/2:
		s.start()
	case s.due:
	case s.soon == nil:
		s.due = true
		s.soon = s.exec.sched.After(shadowPause, s.wake)
	default:
		s.due = true
		s.soon.Reset(shadowPause)
	}
}

// wake is the function of the timer soon.
func (s *shadow) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.due = false
	if !s.running && len(s.waiting) > 0 {
		s.start()
	}
}

// start starts the goroutine. s.mu is held.
func (s *shadow) start() {
	s.running = true
	s.exec.sched.Busy(1)
	go s.run()
}

// run evaluates calls until none wait. When a policy calls runtime.Goexit, another goroutine
// continues.
func (s *shadow) run() {
	var batch []shadowed
	next, left := 0, true
	defer func() {
		s.mu.Lock()
		if left {
			s.stats.Compared++
			s.stats.Failed++
			s.waiting = slices.Concat(batch[next:], s.waiting)
			s.start()
		}
		s.mu.Unlock()
		s.exec.sched.Busy(-1)
	}()
	for {
		if batch = s.take(batch); batch == nil {
			left = false
			return
		}
		for next = 0; next < len(batch); {
			t := &batch[next]
			next++
			s.judge(t)
		}
		clear(batch)
	}
}

// take returns the waiting calls, in exchange for the slice of the evaluated ones. When none wait
// it returns nil, and the goroutine ends.
func (s *shadow) take(done []shadowed) []shadowed {
	s.mu.Lock()
	defer s.mu.Unlock()
	if done != nil {
		s.spare = done[:0]
	}
	if len(s.waiting) == 0 {
		s.running = false
		if s.closed {
			s.exec.sched.Fire(s.idle)
		}
		return nil
	}
	batch := s.waiting
	s.waiting, s.spare = s.spare, nil
	return batch
}

// A shadowEvaluation is the context of one evaluation, and its age in ticks.
type shadowEvaluation struct {
	callContext
	ticks int // counted by the timer only
}

// evaluation returns the context of the next evaluation. It must be canceled.
func (s *shadow) evaluation() *shadowEvaluation {
	ctx := &shadowEvaluation{callContext: callContext{parent: context.Background()}}
	s.current.Store(ctx)
	if s.watched.CompareAndSwap(false, true) {
		s.arm(s.exec.evaluations.tick)
	}
	return ctx
}

// arm starts the timer that watches evaluations.
func (s *shadow) arm(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.over:
	case s.watch == nil:
		s.watch = s.exec.sched.After(d, s.tickEvaluation)
	default:
		s.watch.Reset(d)
	}
}

// tickEvaluation is the function of the timer watch. It ends an evaluation that has exceeded its
// limit.
func (s *shadow) tickEvaluation() {
	ctx := s.current.Load()
	if ctx.ticks++; ctx.ticks >= s.exec.evaluations.ticks {
		ctx.cancel(whyDeadline)
	}
	s.watched.Store(false)
	if s.current.Load().Err() == nil && s.watched.CompareAndSwap(false, true) {
		s.arm(s.exec.evaluations.tick)
	}
}

// close has the shadow policy evaluate the waiting calls, for at most the time limit of one
// evaluation. Differences that are found later are not recorded.
func (s *shadow) close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.closed = true
	if !s.running && len(s.waiting) > 0 {
		s.start()
	}
	running := s.running
	s.mu.Unlock()
	if running {
		s.exec.evaluations.outlasts(s.exec, s.idle)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	s.stats.Dropped += uint64(len(s.waiting))
	s.waiting = nil
	for _, t := range []runtime.Timer{s.soon, s.watch} {
		if t != nil {
			t.Stop()
		}
	}
}
