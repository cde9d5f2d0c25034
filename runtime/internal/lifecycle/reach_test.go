package lifecycle

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// An op is a method of a call with arguments. It reports whether it was carried out.
type op struct {
	name string
	do   step
	pure bool // when it reports false it has changed nothing
}

// ops are all methods that change a call, at three instants.
func ops() (list []op) {
	add := func(name string, do step) { list = append(list, op{name, do, true}) }
	for p := range phases {
		add("enter "+p.String(), enter(p))
	}
	for _, now := range []int{0, 3, 50} {
		at := after(now)
		suffix := fmt.Sprintf(" at %d", now)
		for by := range causes {
			add("end by "+by.String()+suffix, func(c *Call) bool { return c.TryEnd(by, Moment{}, at) })
		}
		add("time out"+suffix, func(c *Call) bool { return c.TryEnd(ByTimer, c.Moment(), at) })
		add("begin"+suffix, func(c *Call) bool { return c.Attempt() < 2 && c.Begin(at.Add(time.Second)) })
		add("evaluate"+suffix, func(c *Call) bool { return c.Evaluate(at, 2, time.Second) })
		add("commit"+suffix, func(c *Call) bool { return c.Commit(at, 2, time.Second, after(4)) })
		add("grace"+suffix, func(c *Call) bool { return c.EnterGrace(c.Moment(), at) })
		for _, again := range []bool{false, true} {
			list = append(list, op{"return" + suffix, func(c *Call) bool { return c.Return(at, after(4), again) }, false})
		}
		list = append(list, op{"decide" + suffix, func(c *Call) bool { return c.Decide(at) }, true})
		list = append(list, op{"fire" + suffix, func(c *Call) bool { return c.Expire(at) != Expiry{} }, false})
	}
	add("prepare", prepare)
	add("restore", func(c *Call) bool { return c.Restore(0, true) })
	add("restore started", func(c *Call) bool { return c.Restore(1, false) })
	add("undo", func(c *Call) bool { return c.Undo(1, after(1)) })
	add("run again", (*Call).Rerun)
	add("reevaluated", (*Call).Reevaluated)
	add("wait on", func(c *Call) bool { return c.RestoreWait(true) })
	add("ask", (*Call).Ask)
	add("detach", (*Call).Detach)
	add("resume", func(c *Call) bool { return c.Resume(after(2)) })
	add("end attempt", (*Call).EndAttempt)
	add("effect", func(c *Call) bool { return c.fence.inside == 0 && c.EnterEffect(c.Attempt()) })
	add("release", release)
	list = append(list, op{"effect ends", (*Call).LeaveEffect, false}, op{"shut", (*Call).ShutFence, false},
		op{"approve", (*Call).Approve, false}, op{"park", (*Call).Park, false}, op{"evaluated", (*Call).Evaluated, false},
		op{"depart", (*Call).HandlerReturned, true}, op{"alone", func(c *Call) bool { c.StartTriggered(); return false }, false},
		op{"abort", func(c *Call) bool { what, _ := c.Abort(); return what != AbortNothing }, true})
	return list
}

// wrong says which guarantee an operation on a call breaks, or the call that it makes.
func wrong(a, b *Call, o *op, did bool) string {
	present := b.handler == ready || b.handler == executing
	switch {
	case o.pure && !did && *a != *b:
		return "what is refused changes the call"
	case a.Ended() && (a.cause != b.cause || a.phase != b.phase || a.attempt != b.attempt || b.released != a.released || b.aborted != a.aborted):
		return "an ended call goes on"
	case b.fence.open && (b.Ended() || b.attempt == 0 || b.phase != Running && b.phase != Finishing && b.phase != Decided):
		return "the fence is open"
	case b.fence.inside > a.fence.inside && !a.fence.open:
		return "an effect passes a shut fence"
	case b.attempt > a.attempt && o.name != "restore started" && o.name != "undo" &&
		(a.aborted || a.fence.inside > 0 || a.handler == ready || a.handler == executing || a.AwaitsConsent() || a.Evaluating()):
		return "an attempt begins too early"
	case b.handler == executing && a.handler != executing && a.handler != ready && o.name != "undo":
		return "a handler runs without an attempt"
	case present && b.attempt == 0:
		return "a handler has no attempt"
	case b.handler == lingering && a.handler != lingering && (!b.Ended() || a.handler == returned):
		return "a handler that has returned lingers"
	case b.phase == Running && a.phase == Waiting, b.phase == Preparing && a.phase == Waiting && !a.approved:
		return "a call goes on without consent"
	case b.phase == Finishing && a.phase != Finishing && a.handler == returned:
		return "a result comes twice"
	case !b.Ended() && !b.May(enderOf(b), Moment{}):
		return "the call can neither go on nor end"
	case b.phase == Deciding && !b.Ended() && b.evaluation == evaluating && b.due.IsZero():
		return "an evaluation has no end"
	case !b.Ended() && b.phase == Grace && b.due.IsZero(), !b.Ended() && b.phase == Finishing && b.due.IsZero():
		return "a phase that a timer ends has no end"
	}
	return ""
}

// TestEveryCallThatCanBe visits every state that any sequence of methods reaches, with legal and
// illegal steps, and holds what is guaranteed over each step.
func TestEveryCallThatCanBe(t *testing.T) {
	all := ops()
	seen := map[Call]bool{{}: true}
	next := []Call{{}}
	for len(next) > 0 {
		a := next[len(next)-1]
		next = next[:len(next)-1]
		for i := range all {
			b := a
			did := all[i].do(&b)
			if bad := wrong(&a, &b, &all[i], did); bad != "" {
				require.Failf(t, bad, "%s: %t\nwas %+v\nis  %+v", all[i].name, did, a, b)
			}
			if !seen[b] {
				seen[b] = true
				next = append(next, b)
			}
		}
	}
	require.Greater(t, len(seen), 1000)
	t.Logf("%d calls", len(seen))
}
