package engine

import (
	"cmp"
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// A reservation says what a call holds in the rule state of its session.
type reservation uint8

const (
	reservedNothing reservation = iota
	reserved
	reservedAndInvoked // its handler was started
)

// What happens to a call after its evaluation.
const (
	nextAgain = iota // evaluate again: the facts have changed, or another call excludes all others
	nextRun          // admitted, and started unless it has to wait
	nextWait         // for consent
	nextEnd
)

// admit checks the call against the rules and reserves what it uses, if the facts that the policy
// saw still hold. The check and the reservation are one step under the session's lock. When the
// call has to be evaluated again, held is the signal to wait for first; nil: no wait.
func (c *call) admit() (next int, held *sched.Event, e *result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.run.session
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case c.life.Ended():
		return nextWait, nil, nil
	case s.holder != c && (s.holder != nil || !c.worker.view.unchanged()):
		return nextAgain, s.held, nil
	case c.run.part.closing:
		return nextEnd, nil, cancellation(runtime.ReasonRunClosed)
	}
	s.endExclusion(c)
	c.giveBackReserved()
	switch j := &c.worker.evaluation; {
	case j.reason != runtime.ReasonNone:
		return nextEnd, nil, c.refused(c.check(&c.worker.rule), &c.worker.rule, j)
	case c.dry:
		return c.admitDry()
	case c.resumed():
		return c.readmit()
	case j.asks:
		return c.admitAsked()
	}
	return c.reserve()
}

// check returns the verdict of the rules about the call. The session's lock is held.
func (c *call) check(rc *rules.Call) rules.Verdict {
	s := c.run.session
	at := c.exec.instant(c.clock())
	if c.resumed() && c.reservation == reserved {
		return s.state.Recheck(at, rc)
	}
	return s.state.Check(at, rc)
}

// giveBackReserved releases the reservation that a call made before a restart and is
// evaluated again. In the same step the call reserves what it needs, or ends.
func (c *call) giveBackReserved() {
	if !c.readmits {
		return
	}
	c.readmits, c.reservation = false, reservedNothing
	s := c.run.session
	if ev, err := s.state.Release(c.exec.instant(c.now), c.id); err == nil {
		s.note(&ev)
	}
}

// reserve admits the call and, when it need not wait for anything, starts it.
func (c *call) reserve() (next int, held *sched.Event, e *result) {
	s := c.run.session
	v, ev := s.state.Admit(c.exec.instant(c.now), &c.worker.rule)
	if !v.Admitted() {
		return nextEnd, nil, c.refused(v, &c.worker.rule, &c.worker.evaluation)
	}
	c.authorized(&ev)
	if c.atOnce() {
		if e = c.commit(c.deadline()); e != nil {
			return nextEnd, nil, e
		}
	}
	return nextRun, nil, nil
}

// atOnce reports whether an admitted call need not wait for anything before it starts.
// Admission and start are then one step.
func (c *call) atOnce() bool {
	return c.batch == nil && c.asked == nil && !c.exec.sched.Counts() && !c.exec.slots[c.index].Limited() &&
		!c.turn.blocks(c.index) && c.exec.workers.stop.Load() == 0
}

// authorized records that the call is admitted, and queues it for a slot of its tool. Both
// are one step: calls get slots in the order of their records, which a replay follows.
func (c *call) authorized(ev *rules.Event) {
	c.effect = c.worker.effect
	c.reservation = reserved
	c.run.session.note(ev)
	c.requestSlot(func() {
		c.transition(runtime.EventAuthorized, runtime.StateAuthorized, &note{at: c.now, session: true})
	})
}

// readmit admits a call that waited for consent, without counting its own reservation.
func (c *call) readmit() (next int, held *sched.Event, e *result) {
	s := c.run.session
	resume := s.state.Resume
	if c.reservation == reservedNothing { // it was admitted before a restart
		resume = s.state.Admit
	}
	v, ev := resume(c.exec.instant(c.now), &c.worker.rule)
	if !v.Admitted() {
		return nextEnd, nil, c.refused(v, &c.worker.rule, &c.worker.evaluation)
	}
	c.asked.unasked = !c.worker.evaluation.asks
	c.authorized(&ev)
	return nextRun, nil, nil
}

// admitDry returns what admit would do.
func (c *call) admitDry() (next int, held *sched.Event, e *result) {
	v := c.check(&c.worker.rule)
	switch asked := c.worker.evaluation.asks; {
	case !v.Admitted():
		return nextEnd, nil, c.refused(v, &c.worker.rule, &c.worker.evaluation)
	case asked && !c.exec.approvals.answers(c):
		if e := cmp.Or(c.noApprover(), c.exec.approvals.overfull(c)); e != nil {
			return nextEnd, nil, e
		}
		return nextEnd, nil, &result{event: runtime.EventAborted, to: runtime.StateAborted, outcome: c.pending()}
	}
	return nextEnd, nil, &result{event: runtime.EventAborted, to: runtime.StateAborted, verdict: &Verdict{Runs: true}}
}

// describe prepares the description of the call that the rules check.
func (c *call) describe() bool {
	var err error
	if c.worker.effect, err = c.describeTo(&c.worker.rule, c.final); err != nil {
		c.policyFault("arguments", fmt.Errorf("the arguments have no canonical form: %w", err))
	}
	return true
}

// endExclusion lets other calls of the session be admitted again, if c is the call that
// excluded them. s.mu is held.
func (s *Session) endExclusion(c *call) {
	if s.holder == c && c != nil {
		s.exec.sched.Fire(s.held)
		s.holder, s.held = nil, nil
	}
}

// settle releases or finishes the reservation of a call that has ended, and sets the
// run status in its outcome. s.mu is held.
func (c *call) settle(out *runtime.Outcome, now time.Time) {
	s := c.run.session
	s.endExclusion(c)
	at := c.exec.instant(now)
	var ev rules.Event
	var err error
	switch c.reservation {
	case reserved:
		ev, err = s.state.Release(at, c.id)
	case reservedAndInvoked:
		if out.Kind == runtime.Denied { // its handler did not start after all
			ev, err = s.state.Release(at, c.id)
		} else {
			ev, err = s.state.Finish(at, c.id, statusOf(out))
		}
	}
	if c.reservation != reservedNothing && err == nil {
		s.note(&ev)
	}
	c.reservation = reservedNothing
	if !c.dry {
		c.fillRunStatus(out)
	}
	if c.position > 0 {
		p := c.run.part
		last := p.active[len(p.active)-1]
		p.active[c.position-1] = last
		last.position = c.position
		p.active[len(p.active)-1] = nil
		p.active = p.active[:len(p.active)-1]
		c.position = 0
	}
}

// statusOf returns the status of an invocation for the rules.
func statusOf(out *runtime.Outcome) rules.Status {
	switch {
	case out.Kind == runtime.Completed:
		return rules.StatusOK
	case out.Kind == runtime.Unknown:
		return rules.StatusUnknown
	case out.RolledBack, out.Kind == runtime.Failed:
		return rules.StatusError
	}
	return rules.StatusTimeout
}

// fillRunStatus sets the status of the run after an outcome. s.mu is held.
func (c *call) fillRunStatus(out *runtime.Outcome) {
	state := c.run.session.state
	result := rules.ResultRefused
	switch {
	case out.Kind == runtime.Pending:
		result = rules.ResultPending
	case out.Kind == runtime.Completed:
		result = rules.ResultSucceeded
	case c.life.Attempt() > 0:
		result = rules.ResultFailed
	}
	out.Loop = runtime.Loop(state.Hint(c.run.id, c.record.tool, result, c.heartbeat))
	out.Run = runState(state.RunState(c.run.id))
	if c.exec.requires {
		out.PendingExit = state.Status(c.run.id).PendingExit
	}
}
