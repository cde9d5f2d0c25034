package replay

import (
	"context"
	"slices"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
)

// decide lets the policy of a call answer, and compares what comes of it.
func (sim *simulation) decide(ctx context.Context, s *step) error {
	c := s.call
	var recorded *Verdict
	asked := s.r.Kind == runtime.EventApprovalRequested.String()
	if asked {
		recorded = asks(c.question.Rules())
	} else {
		recorded = c.verdict()
		recorded.Decision = Runs
	}
	if c.repeated {
		if err := sim.judge(ctx, s, recorded); err != nil {
			return err
		}
	}
	sim.open(c.play.decided)
	if err := sim.clock.Rest(); err != nil {
		return err
	}
	if asked {
		sim.mu.Lock()
		c.play.decided = newGate() // it is judged once more when it was approved
		sim.mu.Unlock()
	}
	if !c.repeated {
		now := sim.now(c)
		if recorded.Decision == Runs && sim.saw(c, runtime.EventAuthorized) { // how it ends is not known yet
			now = recorded
		}
		sim.compare(s, recorded, now)
	}
	for _, d := range c.repeats {
		if err := sim.judgeRepeat(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// judgeRepeat lets the policy of a call answer that is recorded as the duplicate of one that is admitted and has not begun: it waited
// for that, and what happened meanwhile was not asked (SEMANTICS 4.8.11).
func (sim *simulation) judgeRepeat(ctx context.Context, c *call) error {
	if c.of == nil || c.play.cancel == nil || !sim.saw(c.of, runtime.EventAuthorized) || sim.saw(c.of, runtime.EventStarted) {
		return nil
	}
	if c.repeated {
		if err := sim.judge(ctx, sim.rec.endOf(c), c.verdict()); err != nil {
			return err
		}
	}
	sim.open(c.play.decided)
	return sim.clock.Rest()
}

// answer gives an answer to the request of a call.
func (sim *simulation) answer(s *step) error {
	c, r := s.call, s.r
	votes, n := sim.rec.votes[r.Request], sim.voted[r.Request]
	if n >= len(votes) {
		return nil
	}
	sim.voted[r.Request]++
	ev := &votes[n]
	if c.play.request == "" || ev.Result == nil {
		return nil // the candidate has not asked: it has diverged
	}
	switch ev.Result.Rejection {
	case consent.EditNotAllowed, consent.InvalidInput, consent.GrantTooWide, consent.UnknownRequest, consent.TermsChanged:
		return nil // what it said is not recorded
	}
	if ev.Result.Rejection == consent.NotPermitted && sim.barred[r.Request] {
		return nil // by the operator policy, which a replay does not ask
	}
	a := action.Answer{By: approver(ev), Approve: ev.Result.Approve, Message: ev.Message}
	if q, ok := sim.exec.Request(c.play.request); ok {
		a.Binding = q.Binding // the approver has seen what the others did before
	}
	if o := ev.Result.Offer; o != nil {
		a.Grant, a.For, a.Cover, a.CoverArgs = o.Lasting, o.For, o.Cover, o.Where
	}
	if r.Final != nil {
		a.Edit = r.Final.Value
	}
	ctx := context.Background()
	if c.repeated {
		ctx = c.with(ctx, repeating)
	}
	_, err := sim.exec.Begin(func() { sim.exec.Decide(ctx, c.play.request, a) })
	return err
}

// undone is the recorded result of an undo that succeeded.
const undone = "ok"

// undo undoes a call.
func (sim *simulation) undo(ctx context.Context, s *step) error {
	c := s.call
	c.play.failUndo = s.r.Kind == runtime.EventUndoFailed.String()
	session := sim.sessions[c.key.Session]
	undo := func(as purpose) (failed, err error) {
		err = sim.exec.Do(ctx, func() {
			_, failed = session.Undo(c.with(ctx, as), action.UndoRequest{CallID: c.key.Call, By: recorded(s.r.By)})
		})
		return failed, err
	}
	as, early := calling, s.r.At.Before(sim.since)
	if early {
		as = repeating
	}
	failed, err := undo(as)
	if err != nil || failed == nil || c.play.failUndo || early {
		return err
	}
	if c.repeated {
		if _, err := undo(repeating); err != nil {
			return err
		}
	}
	result, why := action.ResultOf(failed)
	sim.diverge(s, &Verdict{Decision: Runs, Outcome: undone}, &Verdict{Decision: Refused, Outcome: result, Reason: string(why)})
	return nil
}

// end ends a call as it ended, and compares.
func (sim *simulation) end(ctx context.Context, s *step) error {
	c := s.call
	o, p := c.outcome, &c.play
	if p.cancel == nil {
		return nil
	}
	if c.repeated {
		if err := sim.judge(ctx, s, c.verdict()); err != nil {
			return err
		}
	}
	given := o.Kind == runtime.Cancelled || c.cutClose || o.Reason == runtime.ReasonInterrupted && !c.started ||
		c.repeated && c.admitted && !c.started // a limit of then may have ended it
	closes := o.Reason == runtime.ReasonRunClosed && !c.cutClose
	if closes {
		if err := sim.closeRun(ctx, c.run, c.agent); err != nil {
			return err
		}
	}
	if given && !(closes && sim.ended(c)) { // after a restart a call belongs to its run, and not to a sub-agent
		if err := sim.cancel(ctx, s); err != nil {
			return err
		}
	}
	sim.open(p.decided, p.begins, p.commits)
	if goesOn := given || o.Kind == runtime.TimedOut; !goesOn || c.between {
		sim.open(p.returns)
	}
	if err := sim.clock.Rest(); err != nil {
		return err
	}
	recorded, now := c.verdict(), sim.now(c)
	if c.orphaned && o.Reason == runtime.ReasonInterrupted && now.Outcome == running { // it waited to be run again: what ended the wait is not recorded
		if err := sim.cancel(ctx, s); err != nil {
			return err
		}
		now = sim.now(c)
	}
	if o.Kind == runtime.Duplicate && now.Outcome == running { // earlier versions did not let it wait until the equal call had begun
		if err := sim.cancel(ctx, s); err != nil {
			return err
		}
		now = recorded
	}
	for (now.Outcome == running || now.Decision == Asked) && sim.clock.Next() { // it was ended by what is due now
		now = sim.now(c)
	}
	if err := sim.clock.Rest(); err != nil {
		return err
	}
	if c.repeated {
		sim.follow(s, recorded, now)
		return nil
	}
	closed := runtime.ReasonRunClosed.String()
	switch {
	case c.admitted && !c.started && late(recorded.Reason) && late(now.Reason):
		now = recorded // which of the two it is depends on what else was called at once
	case c.admitted && !c.started && c.question != nil && late(now.Reason):
		now = recorded // how long it may wait depends on whether its caller had been told by then that it was pending
	case recorded.Decision == Duplicate && now.Reason == runtime.ReasonDuplicatePending.String():
		now = recorded // by an earlier version
	case recorded.Decision == Open && recorded.Reason == runtime.ReasonInterrupted.String():
		now = recorded // its process ended before it could say what was decided
	case recorded.Reason == closed && now.Reason == closed:
		now = recorded // whether it got to start depends on who was closed first
	}
	sim.compare(s, recorded, now)
	return nil
}

// cancel cancels the call of a step.
func (sim *simulation) cancel(ctx context.Context, s *step) error {
	key := s.call.key
	return sim.exec.Do(ctx, func() { sim.sessions[key.Session].Cancel(ctx, key.Call, recorded(s.r.By), "") })
}

// late reports whether a reason says that an admitted call did not get to start in
// its turn.
func late(reason string) bool {
	return reason == runtime.ReasonDeadline.String() || reason == runtime.ReasonAtCapacity.String()
}

// running is the outcome of a call that has none.
const running = "running"

// saw reports whether an event of a call has happened.
func (sim *simulation) saw(c *call, kind runtime.EventKind) bool {
	sim.mu.Lock()
	defer sim.mu.Unlock()
	return slices.Contains(c.play.seen, kind)
}

// now returns the present verdict of the candidate about a call.
func (sim *simulation) now(c *call) *Verdict {
	sim.mu.Lock()
	out, request := c.play.outcome, c.play.request
	var started, admitted, waits bool
	for _, kind := range c.play.seen {
		started = started || kind == runtime.EventStarted
		admitted = admitted || kind == runtime.EventAuthorized
		waits = waits && kind != runtime.EventAuthorized || kind == runtime.EventApprovalRequested
	}
	sim.mu.Unlock()
	switch {
	case started && !c.started:
		return &Verdict{Decision: Runs, Outcome: Unrecorded}
	case out != nil && out.Kind != runtime.Pending:
		return verdictOf(out, started)
	case waits:
		var reasons []string
		if r, ok := sim.exec.Request(request); ok {
			reasons = r.Rules()
		}
		return asks(reasons)
	case admitted:
		return &Verdict{Decision: Runs, Outcome: running}
	}
	return &Verdict{Decision: Open, Outcome: running}
}

// verdictOf is the verdict of an outcome of the candidate.
func verdictOf(out *runtime.Outcome, started bool) *Verdict {
	var codes []string
	for _, d := range out.Denials {
		codes = append(codes, d.Code)
	}
	return &Verdict{
		Decision: decisionOf(out.Kind, out.Reason, started), Outcome: out.Kind.String(), Reason: out.Reason.String(),
		AllReasons: names(out.AllReasons), Rules: rulesOf(out.Reason, codes, out.Detail.Rule),
	}
}

// ended reports whether a call has its outcome.
func (sim *simulation) ended(c *call) bool {
	sim.mu.Lock()
	defer sim.mu.Unlock()
	return c.play.outcome != nil && c.play.outcome.Kind != runtime.Pending
}

// compare compares the candidate's verdict about a call with the recorded one.
func (sim *simulation) compare(s *step, recorded, now *Verdict) {
	c := s.call
	switch {
	case c.run.stop != "", c.run.found != nil && !sim.each, c.fate == fateDiverged:
	case c.carried:
		if recorded.Decision != now.Decision {
			c.run.stop = "it comes after a call whose sensitive arguments are not in the recording, and which would have ended otherwise"
		}
	case recorded.same(now):
		if c.fate != fateOtherwise { // what it was asked about stays otherwise
			c.fate = fateUnchanged
		}
	case recorded.alike(now):
		c.fate = fateOtherwise
		c.run.otherwise = append(c.run.otherwise, divergence(s, recorded, now))
	default:
		sim.diverge(s, recorded, now)
	}
}

// diverge notes the first divergence of a run.
func (sim *simulation) diverge(s *step, recorded, now *Verdict) {
	c := s.call
	r := c.run
	if r.stop != "" || r.found != nil && !sim.each {
		return
	}
	d := divergence(s, recorded, now)
	switch earlier := sim.diverged[r.key.session]; {
	case sim.each: // what comes after it is judged on the recorded state
	case earlier != nil:
		r.after = earlier.key.run
	default:
		sim.diverged[r.key.session] = r
	}
	if r.found == nil {
		r.found = d
	} else {
		r.later = append(r.later, d)
	}
	if !d.Undo {
		c.fate = fateDiverged
		r.otherwise = slices.DeleteFunc(r.otherwise, func(d *Divergence) bool { return d.Call == c.key.Call })
	}
}

// divergence says how a candidate decides about the call of a step.
func divergence(s *step, recorded, now *Verdict) *Divergence {
	return &Divergence{
		Seq: s.seq, Call: s.call.key.Call, Tool: s.call.tool, Undo: recorded.Outcome == undone,
		Class: classify(recorded.Decision, now.Decision), Recorded: *recorded, Candidate: *now,
	}
}
