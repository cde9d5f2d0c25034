package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/entry"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/outcomes"
	"github.com/ambit-tools/ambit/runtime/internal/transaction"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// commitTick is the unit in which the time of a commit is counted. A commit that was decided in
// time may exceed the deadline of its attempt by the grace, but not the turn.
const commitTick = time.Second

var errNotDecided = errors.New("the call has its result") // of commit.decide

// commit commits what the participants did for a call whose output was accepted (SEMANTICS
// section 6.8). It changes the result when the commit fails, or when it is not known whether it took
// effect. When the call has its outcome already, the goroutine that ended it rolls the parts back.
func (c *call) commit(e *result) {
	c.progress.Lock()
	if c.progress.Life.Ended() || !c.progress.Scope.HasParts() {
		c.progress.Unlock()
		return
	}
	drained := c.progress.Scope.Seal()
	c.progress.Unlock()
	reads := c.tool.Spec.Effect == runtime.SideEffectRead
	switch what, err := c.progress.Scope.Commit(drained, reads, func(seals []journal.Seal) error {
		if !c.decideCommit(e, seals) {
			return errNotDecided
		}
		return nil
	}); what {
	case transaction.Failed:
		c.commitFailed(e, err)
	case transaction.Unknown: // whether the other parts stand depends on the foreign one: recovery cannot know either
		c.commitUnknown(e, runtime.ReasonCommitFailed, err)
		c.progress.Scope.Forget()
	}
}

// decideCommit records the decision to commit, with the outcome of the call, and returns when it
// is durable. It reports false when the call has its outcome already, when the decision comes too
// late, or when it cannot be recorded. From here on only the commit ends the call.
func (c *call) decideCommit(e *result, seals []journal.Seal) bool {
	c.progress.Lock()
	now := c.clock()
	if !c.progress.Life.Commit(now, int(grace/commitTick), commitTick, c.progress.TurnEnds()) {
		c.progress.Unlock()
		return false
	}
	due := c.progress.Life.Due()
	if c.exec.log.On() {
		c.trail.Add(c.commitDecision(e, seals))
	}
	c.progress.Unlock()
	c.worker.Arm(due)
	err := c.trail.Flush()
	if e.stalled = errors.Is(err, journal.ErrUnavailable); e.stalled {
		err = c.trail.FlushThroughStall()
	}
	if err != nil { // the journal may have the record: recovery finds out and commits or rolls back
		c.progress.Scope.Forget()
		c.commitUnknown(e, runtime.ReasonJournalUnavailable, err)
		return false
	}
	return true
}

// commitDecision returns the entry of a decision to commit. The lock of the call is held.
func (c *call) commitDecision(e *result, seals []journal.Seal) (_ *journal.Record, private []byte) {
	out := e.outcome
	c.completeOutcome(&out, c.clock(), true)
	d := entry.Draft{Record: newRecord(&c.ident, journal.KindCommitting, c.clock())}
	d.Attempt, d.Duration, d.Revision, d.Sealed = c.progress.Life.Attempt(), out.Duration, c.progress.Revision, seals
	c.addOutcome(&d, &out)
	return d.Entry()
}

// lateCommit handles a call whose caller has the outcome unknown because its commit had to wait
// for the journal. It records the outcome and reports whether the call is one of these.
func (c *call) lateCommit(e *result) bool {
	c.progress.Lock()
	yes, over := c.progress.Life.Committing() && e.stalled && e.outcome.Kind == runtime.Completed, c.done()
	c.progress.Unlock()
	if !yes {
		return false
	}
	c.exec.sched.Wait(over, nil, nil)
	if _, why := c.run.session.claim(c.record); why != "" {
		return false
	}
	out := e.outcome
	c.resolve(&out, "")
	return true
}

// commitFailed sets the result to that of a call that is rolled back.
func (c *call) commitFailed(e *result, err error) {
	*e = result{cause: lifecycle.ByReturn, output: e.output}
	c.setFailed(e, "what the call did could not be committed", c.newFault(runtime.ReasonCommitFailed, fmt.Errorf("commit: %w", err)))
}

// commitUnknown sets the result to that of a call whose effect is not known.
func (c *call) commitUnknown(e *result, r runtime.Reason, err error) {
	*e = result{
		cause: lifecycle.ByReturn, event: runtime.EventUnknown, to: runtime.StateExecuting, fault: c.newFault(r, fmt.Errorf("commit: %w", err)),
		outcome: outcomes.CommitUnknown(r),
	}
}
