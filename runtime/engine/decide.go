package engine

import (
	"cmp"
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/facts"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/outcomes"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/tally"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// maxTries is how often a call is evaluated when other calls change the facts
// meanwhile. During the last evaluation no other call of the session is admitted.
const maxTries = 3

// An admission is the result of admit. The zero value admits the call.
type admission struct {
	again bool         // evaluate again: the facts have changed, or another call excludes all others
	wait  *sched.Event // for which to wait before; nil: none
	of    *call        // the equal call that wait is of; nil: it is of none
	ends  *result      // of a call that is not admitted; workerDone: it waits for consent, or has ended
}

// notAdmitted returns the admission of a call that is not admitted.
func notAdmitted(e *result) admission { return admission{ends: e} }

// decide asks the policy, checks the rules and, when nothing refuses the call, admits it or lets it
// wait for consent. The facts of the evaluation still hold at that moment, and the call is counted
// in them. A call that need not wait for anything is started in the same step. A call that was
// approved passes through decide again.
func (c *call) decide() *result {
	for try := 1; ; try++ {
		if try == maxTries && !c.excludeOtherCalls() {
			return workerDone
		}
		if !c.snapshot() {
			return aborted(outcomes.RunClosed())
		}
		if !c.evaluatePolicy() {
			return workerDone
		}
		var err error
		if c.worker.effect, err = c.fillRulesCall(&c.worker.rulesCall, c.values.Final); err != nil {
			c.failPolicy("arguments", fmt.Errorf("the arguments have no canonical form: %w", err))
		}
		j := &c.worker.evaluation
		if j.Reason == runtime.ReasonNone && (j.Asks || c.approved()) && !c.prepareQuestion() {
			return workerDone
		}
		adm := c.admit()
		switch {
		case adm.of != nil:
			if r := c.awaitEqual(&adm); r != nil {
				return r
			}
			try = 0
			continue
		case adm.again:
			if !c.waitFor(adm.wait) {
				return workerDone
			}
			continue
		case adm.ends == nil && c.progress.Life.Attempt() > 0:
			c.worker.Arm(c.progress.Scope.Due())
		case adm.ends != nil && adm.ends != workerDone && c.dry:
			c.keepVerdict(adm.ends)
		}
		return adm.ends
	}
}

// excludeOtherCalls excludes the other calls of the session from admission until the
// call is admitted or ends. It holds no lock: the goroutine that ends the call ends the
// exclusion, even while the policy hangs.
func (c *call) excludeOtherCalls() bool {
	s := c.run.session
	for {
		c.progress.Lock()
		s.mu.Lock()
		held := s.admittingDone
		if held == nil && !c.progress.Life.Ended() {
			s.admitting, s.admittingDone = c, sched.NewEvent()
		}
		mine := s.admitting == c
		s.mu.Unlock()
		c.progress.Unlock()
		if mine || !c.waitFor(held) {
			return mine
		}
	}
}

// ReadFacts reads the facts for the policy. It does not see the slot that the call has itself.
func (c *call) ReadFacts(v *facts.View) *facts.Snapshot {
	s := c.run.session
	s.mu.Lock()
	defer s.mu.Unlock()
	own := -1
	if c.approved() || c.progress.Life.Attempt() > 0 || c.needsReadmission {
		own = c.tool.Index
	}
	return v.Read(c.run.currentFacts(), own)
}

// snapshot opens the view of the facts for an evaluation and, the first time, adds the
// call to the active calls of its run. It reports false when the run is being closed.
func (c *call) snapshot() bool {
	s := c.run.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.run.node.Closing() {
		return false
	}
	if c.position == 0 && !c.dry {
		c.position = c.run.node.Enter(c)
	}
	c.worker.view.Open(c)
	return true
}

// admit checks the call against the rules and reserves what it uses, if the facts that the policy
// saw still hold. The check and the reservation are one step under the session's lock.
func (c *call) admit() admission {
	c.progress.Lock()
	defer c.progress.Unlock()
	s := c.run.session
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case c.progress.Life.Ended():
		return notAdmitted(workerDone)
	case s.admitting != c && (s.admitting != nil || !c.worker.view.Unchanged(c.run.currentFacts)):
		return admission{again: true, wait: s.admittingDone}
	case c.run.node.Closing():
		return notAdmitted(aborted(outcomes.RunClosed()))
	}
	s.endExclusion(c)
	c.releaseRestored()
	switch j := &c.worker.evaluation; {
	case j.Reason != runtime.ReasonNone:
		return c.refuse(c.checkRules(&c.worker.rulesCall), &c.worker.rulesCall, j)
	case c.dry:
		return c.admitDry()
	case c.approved():
		return c.admitApproved()
	case j.Asks:
		return c.admitAsked()
	}
	return c.reserve()
}

// refuse returns the admission of a call that the rules, the policy or both refuse, or that repeats an earlier one. One that
// repeats a call that may still be refused has to wait (SEMANTICS 4.8.11). The locks of the call and of its session are held.
func (c *call) refuse(v rules.Verdict, rc *rules.Call, j *evaluation) admission {
	if of := c.run.session.unsettled(&v); of != nil && !c.dry {
		if of.settled == nil {
			of.settled = sched.NewEvent()
		}
		return admission{again: true, wait: of.settled, of: of}
	}
	return notAdmitted(c.denialBy(v, rc, j))
}

// unsettled returns the call that another one repeats, if it may still be refused; nil: it may not. s.mu is held.
func (s *Session) unsettled(v *rules.Verdict) *call {
	if v.Answer != rules.Duplicate {
		return nil
	}
	if of := s.memory.Live(v.Of); of != nil && !of.isSettled {
		return of
	}
	return nil
}

// settle lets the calls go on that wait because they are equal to c. s.mu is held.
func (c *call) settle() {
	c.isSettled = true
	if c.settled != nil {
		c.exec.sched.Fire(c.settled)
		c.settled = nil
	}
}

// begin settles a call whose handler, or program, is about to run.
func (c *call) begin() {
	if w := &c.exec.wants[c.tool.Index]; !w.Args && !w.Key {
		return // it has no equal calls
	}
	c.run.session.mu.Lock()
	defer c.run.session.mu.Unlock()
	c.begun = true
	c.settle()
}

// awaitEqual waits until the equal call is settled. It returns the answer when that has begun, and nil when it has ended without
// that: c is judged again. It holds no slot meanwhile, and lets its batch go on. As for a slot, it waits until the turn's budget is
// used up; in a turn without a budget, for the deadline of the tool, in all.
func (c *call) awaitEqual(adm *admission) *result {
	c.progress.Lock()
	c.repeats = adm.of.id
	c.progress.Unlock()
	if b := c.batch; b != nil { // the equal call may be of the batch
		c.exec.sched.Fire(&b.admitted)
		if !c.waitRepeating(b.open, c.progress.TurnEnds()) {
			return workerDone
		}
	}
	due := c.progress.TurnEnds()
	if due.IsZero() {
		if c.equalUntil.IsZero() {
			c.equalUntil = c.clock().Add(c.deadline())
		}
		due = c.equalUntil
	}
	if !c.waitRepeating(adm.wait, due) {
		return workerDone
	}
	s := c.run.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if !adm.of.begun {
		return nil
	}
	e := denied(runtime.Outcome{})
	s.memory.FillDuplicate(&e.outcome, adm.of.id)
	return e
}

// waitRepeating waits for an event until due, and reports false when the call has ended.
func (c *call) waitRepeating(of *sched.Event, due time.Time) bool {
	if !c.progress.Enter(lifecycle.Repeating, due, c.now) || c.exec.sched.Wait(of, c.done(), nil) == sched.Second {
		return false
	}
	c.now = c.clock()
	return c.progress.Enter(lifecycle.Admitting, c.progress.TurnEnds(), c.now)
}

// admitAsked admits the call if a grant gives its consent or asking is suspended. Otherwise it
// reserves what the call needs and makes the request. The locks of the call and of its session are
// held.
func (c *call) admitAsked() admission {
	asking := c.exec.approvals.Begin(c.now, &c.consent.Question)
	defer asking.End()
	grant, yes := asking.Answered()
	declared := c.tool.Spec.Consent
	switch c.consent.Grant = grant; {
	case yes:
		return c.reserve()
	case c.noApprover() != nil:
	case c.tool.Hooks.Preview != nil && declared != nil && declared.Preview && c.consent.Preview == nil:
		return admission{again: true} // the grant, or the suspension of asking, has ended meanwhile
	}
	s := c.run.session
	rc := &c.worker.rulesCall
	if e := cmp.Or(c.noApprover(), c.checkOpenLimit(asking.Full())); e != nil {
		if v := c.checkRules(rc); !v.Admitted() {
			return c.refuse(v, rc, &c.worker.evaluation)
		}
		return notAdmitted(e)
	}
	if err := asking.Prepare(); err != nil {
		e := denied(outcomes.Unaskable())
		e.fault = c.newFault(runtime.ReasonPolicyError, err)
		return notAdmitted(e)
	}
	if v := s.memory.Ask(c.exec.instant(c.now), rc, c.record); !v.Admitted() {
		return c.refuse(v, rc, &c.worker.evaluation)
	}
	c.consent.Request, c.consent.Since = asking.Add(c), c.now
	c.progress.Life.Ask()
	c.progress.Watch.Enter(tally.Consent, c.now)
	c.record.Final, c.record.Live = sched.NewEvent(), c
	c.transition(runtime.EventApprovalRequested, runtime.StateValidated, &note{At: c.now, Session: true})
	return notAdmitted(workerDone)
}

// admitDry returns what admit would do.
func (c *call) admitDry() admission {
	v := c.checkRules(&c.worker.rulesCall)
	switch asked := c.worker.evaluation.Asks; {
	case !v.Admitted():
		return c.refuse(v, &c.worker.rulesCall, &c.worker.evaluation)
	case asked && !c.exec.approvals.Answered(c.now, &c.consent.Question):
		if e := cmp.Or(c.noApprover(), c.checkOpenLimit(c.exec.approvals.Full(c.run.session.id))); e != nil {
			return notAdmitted(e)
		}
		return notAdmitted(aborted(c.pending()))
	}
	return notAdmitted(&result{event: runtime.EventAborted, to: runtime.StateAborted, verdict: &Verdict{Runs: true}})
}

// admitApproved admits a call that waited for consent, without counting its own reservation.
func (c *call) admitApproved() admission {
	v := c.run.session.memory.Resume(c.exec.instant(c.now), &c.worker.rulesCall, c.record)
	if !v.Admitted() {
		return c.refuse(v, &c.worker.rulesCall, &c.worker.evaluation)
	}
	c.consent.NoLongerAsked = !c.worker.evaluation.Asks
	c.recordAuthorized()
	return admission{}
}

// releaseRestored releases the reservation of a call that was admitted before a restart and is
// evaluated again. In the same step the call reserves again, or ends.
func (c *call) releaseRestored() {
	if !c.needsReadmission {
		return
	}
	c.needsReadmission = false
	c.run.session.memory.Release(c.exec.instant(c.now), c.record)
}

// reserve admits the call and, when it need not wait for anything, starts it.
func (c *call) reserve() admission {
	v := c.run.session.memory.Admit(c.exec.instant(c.now), &c.worker.rulesCall, c.record)
	if !v.Admitted() {
		return c.refuse(v, &c.worker.rulesCall, &c.worker.evaluation)
	}
	c.recordAuthorized()
	if c.startsNow() {
		return notAdmitted(c.recordStart(c.deadline()))
	}
	return admission{}
}

// startsNow reports whether an admitted call need not wait for anything before it starts.
// Admission and start are then one step.
func (c *call) startsNow() bool {
	return c.batch == nil && c.consent == nil && !c.exec.sched.Counts() && !c.place.Limited() &&
		!c.turn.blocked.Has(c.tool.Index) && c.exec.workers.Halted() == 0
}

// recordAuthorized records that the call is admitted, and queues it for a slot of its tool. Both
// are one step: calls get slots in the order of their records, which a replay follows.
func (c *call) recordAuthorized() {
	c.progress.Scope.SetEffect(c.worker.effect)
	c.place.RequestSlot(func() {
		c.transition(runtime.EventAuthorized, runtime.StateAuthorized, &note{At: c.now, Session: true})
	})
}

// keepVerdict copies the decision and the arguments of a dry call into e, because the worker may
// still use them when another goroutine ends the call.
func (c *work) keepVerdict(e *result) {
	if e.verdict == nil {
		e.verdict = &Verdict{}
	}
	e.verdict.Decision = c.worker.evaluation.Decision
	e.verdict.Input = tools.JSON(c.values.Final)
}

// checkBlocked refuses a tool that timed out in this turn and may not be retried.
func (c *ident) checkBlocked() *result {
	if !c.turn.blocked.Has(c.tool.Index) {
		return nil
	}
	return denied(outcomes.Blocked(c.record.Tool))
}

// awaitTurn waits until the rest of the batch is admitted, and then for a slot of the tool. It
// waits until the turn's budget is used up; in a turn without a budget, for the deadline of the
// tool. The call holds the slot until its handler has returned, even when the call has ended
// before.
func (c *call) awaitTurn() *result {
	if b := c.batch; b != nil {
		c.exec.sched.Fire(&b.admitted)
		if !c.progress.Enter(lifecycle.Held, c.progress.TurnEnds(), c.now) || c.exec.sched.Wait(b.open, c.done(), nil) == sched.Second {
			return workerDone
		}
		c.now = c.clock()
	}
	for granted := c.place.Granted(); granted != nil; granted = c.place.Granted() {
		due := c.progress.TurnEnds()
		if due.IsZero() {
			due = c.clock().Add(c.deadline())
		}
		if !c.progress.Enter(lifecycle.Queued, due, c.now) || c.exec.sched.Wait(granted, c.done(), nil) == sched.Second {
			return workerDone
		}
		c.place.Take()
		c.now = c.clock()
	}
	return c.checkBlocked()
}

// waitFor waits for an event, if there is one, and reports false when the call has ended.
func (c *ident) waitFor(held *sched.Event) bool {
	if held == nil {
		return !c.done().Fired()
	}
	return c.exec.sched.Wait(held, c.done(), nil) == sched.First
}
