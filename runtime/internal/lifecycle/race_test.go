package lifecycle

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
)

// A racer is a goroutine that races for a call: each of its steps is one critical section
// of the executor.
type racer uint8

const (
	timer    racer = iota // fires once, when the time of the phase is up
	caller                // gives up
	operator              // cancels the call, or closes its run
	shutdown
	abandon // gives up waiting for the call
	granted // approves the call
	denied  // denies it, or its request expires
	lease   // is lost
	turn    // of the batch or the slot comes, or the backoff is over: the worker begins an attempt
	returns // returns, in time or late, and what follows from that
	parker  // the worker leaves a call that waits for consent
	effect  // of the handler
	racers
)

var racerNames = [racers]string{
	"timer", "caller", "operator", "shutdown", "abandon", "granted", "denied", "lease", "turn", "return", "parker", "effect",
}

// A tool says what a handler does.
type tool struct {
	parts   bool // the result is committed
	fails   bool // the result is a transient error
	retries bool // transient errors and timeouts are tried again, once
}

// A world is a call, the goroutines that race for it, and what has happened. It is comparable, so
// that equal worlds are visited once.
type world struct {
	call   Call
	now    int // seconds after start
	pc     [racers]uint8
	seen   [racers]Moment
	effect int // the attempt of the effect that is inside; 0: none

	ends, begins, resumes, releases uint8
	inside                          bool // a handler was released and has not returned
	inTime                          bool // the last handler that returned came in time
}

const gone = 99 // the pc of a racer that has nothing left to do

// end is TryEnd, which counts the ends.
func (w *world) end(by Cause, during Moment) bool {
	if !w.call.TryEnd(by, during, after(w.now)) {
		return false
	}
	w.ends++
	return true
}

// step carries out the next step of r. It reports false when r cannot go on in this world.
func (w *world) step(r racer, of tool) bool {
	c, pc := &w.call, &w.pc[r]
	switch {
	case *pc == gone:
		return false
	case r == timer:
		w.fire(pc, of)
		return true
	case r == shutdown:
		w.abort(pc)
		return true
	case r == turn:
		return w.begin(pc)
	case r == returns:
		return w.returned(pc, of)
	case r == parker:
		*pc = gone
		w.resume(c.Park())
		return true
	case r == effect:
		return w.commit(pc)
	}
	*pc++
	causes := [racers][]Cause{
		caller: {ByCaller}, operator: {ByOperator}, abandon: {ByAbandon}, denied: {ByConsent}, lease: {ByLeaseIdle, ByLease},
	}[r]
	if r == granted {
		*pc = gone
		w.resume(c.Approve())
		return true
	}
	if w.end(causes[*pc-1], Moment{}) || int(*pc) == len(causes) {
		*pc = gone
	}
	return true
}

// resume gives an approved call to a worker, which has to wait for a second policy.
func (w *world) resume(yes bool) {
	if yes {
		w.resumes++
		w.call.Resume(after(w.now + 1))
	}
}

// fire is the timer: it looks at the call, and ends the moment that it saw.
func (w *world) fire(pc *uint8, of tool) {
	c := &w.call
	if *pc == 0 {
		if due := c.Due(); after(w.now).Before(due) {
			w.now = int(due.Sub(start) / time.Second)
		}
		x := c.Expire(after(w.now))
		w.seen[timer] = x.Overdue
		switch {
		case x.Overdue != Moment{}:
			*pc = 1
		case x.Again.IsZero() || !x.Again.After(after(w.now)):
			*pc = gone
		}
		return
	}
	during := w.seen[timer]
	if *pc == 1 && during.Phase() == Running && of.retries && c.EnterGrace(during, after(w.now)) {
		*pc = 0 // the timer fires again
		return
	}
	w.end(ByTimer, during)
	*pc = gone
}

// abort is the shutdown, which looks again when the call has moved on.
func (w *world) abort(pc *uint8) {
	if *pc == 1 && w.end(ByShutdown, w.seen[shutdown]) {
		*pc = gone
		return
	}
	what, during := w.call.Abort()
	if w.seen[shutdown] = during; what == AbortEnd {
		*pc = 1
		return
	}
	*pc = gone
}

// begin is the worker that has got its slot: it begins an attempt, and releases the handler once
// the intent is durable.
func (w *world) begin(pc *uint8) bool {
	c := &w.call
	if *pc == 0 {
		if !c.Begin(after(w.now + 1)) {
			*pc = gone
			return true
		}
		w.begins++
		*pc = 1
		return true
	}
	switch c.Release() {
	case Released:
		w.inside, w.releases = true, w.releases+1
	case ReleaseAborted:
		w.end(ByWorker, Moment{})
	}
	*pc = gone
	return true
}

// returned is the worker whose handler returns. It waits while no handler runs.
func (w *world) returned(pc *uint8, of tool) bool {
	c := &w.call
	switch *pc {
	case 0:
		if !w.inside && c.Phase() != Finishing && c.Phase() != Committing && c.Phase() != Decided {
			return false
		}
		if w.inside {
			again := of.retries && c.Attempt() < 2
			w.inTime = !c.Return(after(w.now), time.Time{}, again)
			w.inside = false
		}
		*pc = 1
	case 1: // the result
		switch again := of.retries && c.Attempt() < 2 && !c.Aborted(); {
		case again && (of.fails || !w.inTime) && c.EndAttempt():
			*pc = 3
		case !w.inTime:
			w.end(ByTimer, Moment{})
			*pc = gone
		case of.parts && c.Phase() == Finishing && !c.ShutFence():
			c.Commit(after(w.now), 2, time.Second, after(w.now+9))
			*pc = 2
		default:
			*pc = 2
		}
	case 2: // the outcome
		if c.Decide(after(w.now)) {
			w.end(ByReturn, Moment{})
		} else {
			w.end(ByTimer, Moment{})
		}
		*pc = gone
	default: // the wait is over
		if !w.begin(new(uint8)) || c.Phase() != Running {
			*pc = gone
			return true
		}
		w.pc[turn] = 1 // the worker releases the handler of the next attempt
		*pc = 0
	}
	return true
}

// commit is an effect of the handler under the fence of its attempt.
func (w *world) commit(pc *uint8) bool {
	if *pc == 0 {
		if !w.inside {
			return false
		}
		if *pc = gone; w.call.EnterEffect(w.call.Attempt()) {
			*pc, w.effect = 1, w.call.Attempt()
		}
		return true
	}
	w.call.LeaveEffect()
	*pc, w.effect = gone, 0
	return true
}

// enderOf is a cause that ends a call in each phase, if its owner goes on.
func enderOf(c *Call) Cause {
	if c.Committing() {
		return ByReturn
	}
	return ByOperator
}

// check returns which guarantee a step of r has broken, or the world that it led to breaks.
func check(was, now *world, r racer) string {
	a, b := &was.call, &now.call
	switch {
	case now.ends > 1:
		return "the call has ended twice"
	case b.Ended() != (now.ends == 1):
		return "the call has ended by itself"
	case b.Ended() && b.FenceOpen(b.Attempt()):
		return "the fence of an ended call is open"
	case a.Ended() && (b.Attempt() != a.Attempt() || b.Phase() != a.Phase() || b.Cause() != a.Cause() || now.begins != was.begins):
		return "an ended call goes on"
	case a.Ended() && (now.releases != was.releases || now.effect > was.effect):
		return "a handler has an effect after the end"
	case was.inside && now.releases != was.releases:
		return "two handlers run"
	case now.resumes > 1:
		return "an approval is used twice"
	case a.Committing() && !a.Ended() && b.Ended() && (r == caller || r == operator || r == shutdown || r == lease || r == denied || r == granted):
		return "a decided commit is ended from outside"
	case a.AwaitsConsent() && b.Ended() && (r == caller || r == shutdown || r == lease || r == timer):
		return "a call that waits for consent is ended by " + racerNames[r]
	case !was.inside && was.releases > 0 && a.handler != lingering && b.handler == lingering && now.begins == 0:
		return "a handler that has returned lingers"
	case b.Cause() == ByTimer && b.Phase() == Decided:
		return "a result in time is timed out"
	case r == shutdown && b.Ended() && !a.Ended() && was.inside:
		return "a shutdown ends a handler that runs"
	case b.Aborted() && now.begins > was.begins:
		return "an attempt begins after a shutdown"
	case now.effect != 0 && now.effect != b.Attempt():
		return "an attempt begins while an effect of the former one is inside"
	case !b.Ended() && !b.May(enderOf(b), Moment{}):
		return "the call can neither go on nor end"
	}
	return ""
}

// A race is an enumeration of all orders of the steps of some racers.
type race struct {
	t      *testing.T
	of     tool
	list   []racer
	seen   map[world]bool
	orders []string
}

// run visits every world that w may become.
func (x *race) run(w world) {
	if x.seen[w] {
		return
	}
	x.seen[w] = true
	moved := false
	for _, r := range x.list {
		next := w
		if !next.step(r, x.of) {
			continue
		}
		moved = true
		x.orders = append(x.orders, racerNames[r])
		if broken := check(&w, &next, r); broken != "" {
			require.Failf(x.t, broken, "%s: %+v\nwas %+v\nis  %+v", strings.Join(x.orders, ", "), x.of, w, next)
		}
		x.run(next)
		x.orders = x.orders[:len(x.orders)-1]
	}
	if !moved {
		x.settled(&w)
	}
}

// settled checks a world in which no racer can go on: a call whose handler has returned has ended,
// and so has one that met a cause which ends its phase.
func (x *race) settled(w *world) {
	c := &w.call
	if c.Ended() {
		return
	}
	left := ""
	switch {
	case w.releases > 0 && !w.inside && w.pc[returns] == gone && c.Phase() != Backoff:
		left = "its handler has returned"
	case w.pc[operator] == gone && !c.Committing():
		left = "it was canceled"
	case w.pc[abandon] == gone && w.pc[turn] == 0 && c.Attempt() > 0 && w.releases == 0:
		left = "it was given up"
	}
	require.Empty(x.t, left, "%s: %+v is left without an end: %+v", strings.Join(x.orders, ", "), x.of, w)
}

// TestEveryOrderOfFourEvents lets every set of up to four racers race for a call in every
// phase, in every order of their steps, and holds what is guaranteed after each step.
// SEMANTICS 2.2.2, 6.1.5
func TestEveryOrderOfFourEvents(t *testing.T) {
	tools := map[string]tool{
		"plain": {}, "parts": {parts: true}, "retries": {retries: true}, "fails": {fails: true, retries: true}, "all": {parts: true, retries: true},
	}
	if testing.Short() || battery.Race {
		tools = map[string]tool{"all": tools["all"]}
	}
	worlds := 0
	for name, of := range tools {
		for p := range phases {
			for list := range teams() {
				x := &race{t: t, of: of, list: list, seen: map[world]bool{}}
				c := *at(t, p)
				x.orders = []string{fmt.Sprintf("%s %v", name, p)}
				x.run(world{call: c, inside: c.handler == executing, inTime: c.handler == returned, releases: b(c.released)})
				worlds += len(x.seen)
			}
		}
	}
	require.Greater(t, worlds, 100_000)
	t.Logf("%d worlds", worlds)
}

func b(yes bool) uint8 {
	if yes {
		return 1
	}
	return 0
}

// teams yields every set of four racers, which has all smaller ones in its orders: a racer that has
// not moved yet is one that is not there.
func teams() func(yield func([]racer) bool) {
	return func(yield func([]racer) bool) {
		for i := range racers {
			for j := range i {
				for k := range j {
					for l := range k {
						if !yield([]racer{i, j, k, l}) {
							return
						}
					}
				}
			}
		}
	}
}
