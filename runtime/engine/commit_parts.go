package engine

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/redact"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// A transaction is what the participants do for one attempt of a call: sealed, decided and
// committed when its output was accepted, and rolled back otherwise (SEMANTICS section 6.8).

// commitTick is the unit in which the time of a commit is counted. A commit that was decided in
// time may exceed the deadline of its attempt by the grace, but not the turn.
const commitTick = time.Second

var (
	errWriting    = errors.New("an effect under the fence has not ended")
	errCommitting = errors.New("the commit has not ended")
	errForeign    = errors.New("the call has more than one foreign transaction: when one of them fails the other may have been committed")
)

// commitParts commits what the participants did for a call whose output was accepted. It changes
// the result when the commit fails, or when it is not known whether it took effect.
func (c *call) commitParts(e *result) {
	parts, ok := c.closeParts()
	if len(parts) == 0 || !ok {
		if !ok {
			c.commitFailed(e, errWriting)
		}
		return
	}
	defer c.releaseParts()
	seals, err := c.seal(parts)
	switch {
	case err != nil:
		c.commitFailed(e, err)
		return
	case len(seals) == 0: // the parts changed nothing: no decision is needed
		c.commitAll(parts)
		return
	case !c.decideToCommit(e, seals):
		return
	}
	err = c.commitForeign(parts)
	same := c.tool.spec.Effect == runtime.SideEffectRead && errors.Is(err, runtime.ErrMaybeCommitted) // a read, committed or not
	if err != nil && !same {
		c.foreignCommitFailed(e, err)
		return
	}
	c.commitAll(parts)
}

// closeParts shuts the fence and returns the parts that the handler has begun. It
// reports false when an effect has not ended in time. When the call has its outcome
// already it returns no parts: the goroutine that ended the call rolls them back.
func (c *call) closeParts() ([]*attemptPart, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.life.Ended() || len(c.parts) == 0 {
		return nil, true
	}
	c.sealing = sched.NewEvent()
	if drained := c.shutFence(); drained != nil {
		c.mu.Unlock()
		ok := c.exec.sched.WaitFor(drained, grace)
		c.mu.Lock()
		if !ok {
			c.exec.sched.Fire(c.sealing)
			return nil, false
		}
	}
	return slices.DeleteFunc(slices.Clone(c.parts), func(b *attemptPart) bool { return b.part == nil }), true
}

// releaseParts lets another goroutine roll the parts back.
func (c *call) releaseParts() { c.exec.sched.Fire(c.sealing) }

// seal seals all parts and returns the seals of the foreign part and of the parts that
// changed something.
func (c *call) seal(parts []*attemptPart) (seals []journal.Seal, err error) {
	foreign := 0
	for _, b := range parts {
		_, yes := b.part.(runtime.ForeignPart)
		if yes {
			foreign++
		}
		var digest []byte
		err := usercode.Call(func() (err error) {
			digest, err = b.part.Seal(c.running)
			return err
		})
		switch {
		case err != nil:
			return nil, fmt.Errorf("participant %q: %w", b.participant.name, err)
		case foreign > 1:
			return nil, errForeign
		case digest != nil || yes:
			seals = append(seals, journal.Seal{Participant: b.participant.name, Digest: hex.EncodeToString(digest), Foreign: yes})
		}
	}
	return seals, nil
}

// decideToCommit records the decision to commit, with the outcome of the call, and returns when it
// is durable. It reports false when the call has its outcome already, when the decision comes too
// late, or when it cannot be recorded. From here on only the commit ends the call.
func (c *call) decideToCommit(e *result, seals []journal.Seal) bool {
	c.mu.Lock()
	now := c.clock()
	if !c.life.Commit(now, int(grace/commitTick), commitTick, c.budgetEnds()) {
		c.mu.Unlock()
		return false
	}
	due := c.life.Due()
	if c.exec.log.On() {
		c.entry = c.exec.log.Add(c.decision(e, seals))
	}
	c.mu.Unlock()
	c.worker.arm(due)
	err := c.awaitDurable()
	if e.stalled = errors.Is(err, journal.ErrUnavailable); e.stalled {
		err = c.awaitDurableThroughStall()
	}
	if err != nil { // the journal may have the record: recovery finds out and commits or rolls back
		c.parts = nil
		c.setUnknown(e, runtime.ReasonJournalUnavailable, err)
		return false
	}
	return true
}

// decision returns the entry of a decision to commit. c.mu is held.
func (c *call) decision(e *result, seals []journal.Seal) (_ *journal.Record, private []byte) {
	r := &journal.Record{
		Kind: journal.KindCommitting, At: recordTime(c.clock()), Session: c.run.session.id, Run: c.run.id, Call: c.id,
		Tool: c.record.tool, Attempt: c.life.Attempt(), Revision: c.revision, Sealed: seals,
	}
	var p redact.Payloads
	out := e.outcome
	c.completeOutcome(&out, c.clock(), true)
	r.Duration = out.Duration
	return entryOf(r, &p, c.addOutcome(r, &out, &p))
}

// committedLate handles a call whose caller has the outcome unknown because its commit had to wait
// for the journal. It records the outcome and reports whether the call is one of these.
func (c *call) committedLate(e *result) bool {
	c.mu.Lock()
	yes, over := c.life.Committing() && e.stalled && e.outcome.Kind == runtime.Completed, c.done()
	c.mu.Unlock()
	if !yes {
		return false
	}
	c.exec.sched.Wait(over, nil, nil)
	if c.run.session.claimUnknown(c.record) != "" {
		return false
	}
	out := e.outcome
	c.resolveUnknown(&out, runtime.StateCompleted, "")
	return true
}

// commitForeign commits the foreign part, which may still fail, if there is one.
func (c *call) commitForeign(parts []*attemptPart) error {
	for _, b := range parts {
		if _, yes := b.part.(runtime.ForeignPart); yes {
			ctx := context.WithoutCancel(c.running)
			return usercode.Call(func() error { return c.exec.lease.Fence(ctx, func() error { return b.part.Commit(ctx) }) })
		}
	}
	return nil
}

// commitAll commits the parts whose Commit does not fail, which Seal has made sure of. If
// one fails nevertheless, the next recovery commits it.
func (c *call) commitAll(parts []*attemptPart) {
	for _, b := range parts {
		if _, yes := b.part.(runtime.ForeignPart); yes && c.life.Committing() {
			continue
		}
		if err := usercode.Call(func() error { return b.part.Commit(context.WithoutCancel(c.running)) }); err != nil {
			c.exec.report(c.newFault(runtime.ReasonCommitFailed, fmt.Errorf("participant %q: %w", b.participant.name, err)))
		}
	}
	c.mu.Lock()
	c.parts = nil
	c.mu.Unlock()
}

// foreignCommitFailed changes the result of a call whose foreign transaction failed after the
// decision to commit.
func (c *call) foreignCommitFailed(e *result, err error) {
	if !errors.Is(err, runtime.ErrMaybeCommitted) {
		c.commitFailed(e, err)
		return
	}
	c.setUnknown(e, runtime.ReasonCommitFailed, err)
	c.mu.Lock()
	c.parts = nil // whether they stand depends on the foreign part: recovery cannot know either
	c.mu.Unlock()
}

// commitFailed sets e to the result of a call that is rolled back.
func (c *work) commitFailed(e *result, err error) {
	output := e.output
	*e = result{cause: lifecycle.ByReturn}
	c.setFailed(e, "what the call did could not be committed", c.newFault(runtime.ReasonCommitFailed, fmt.Errorf("commit: %w", err)))
	e.output = output
}

// setUnknown sets e to the result of a call whose effect is not known.
func (c *ident) setUnknown(e *result, r runtime.Reason, err error) {
	*e = result{
		cause: lifecycle.ByReturn, event: runtime.EventUnknown, to: runtime.StateExecuting, fault: c.newFault(r, fmt.Errorf("commit: %w", err)),
		outcome: runtime.Outcome{Kind: runtime.Unknown, Reason: r, Message: "it is not known whether the call was committed: it may have taken effect"},
	}
}

// rollback rolls back the parts of the present attempt, the last first. It reports whether nothing
// is left of what the attempt did. No other goroutine ends the call meanwhile.
func (c *call) rollback() bool {
	c.mu.Lock()
	parts, sealing := slices.Clone(c.parts), c.sealing
	c.mu.Unlock()
	if sealing != nil && !c.exec.sched.WaitFor(sealing, grace) {
		c.exec.report(c.newFault(runtime.ReasonCommitFailed, errors.New("rollback: a participant does not return from sealing: it is left open")))
		return false
	}
	ok := true
	for _, b := range slices.Backward(parts) {
		if b.part == nil {
			ok = ok && b.ready.Fired() // a part that still begins rolls itself back later
			continue
		}
		if err := c.exec.runWithTimeout(context.WithoutCancel(c.ctx), grace, c.exec.rollbackOf(b.part)); err != nil {
			ok = false
			c.exec.report(c.newFault(runtime.ReasonCommitFailed, fmt.Errorf("participant %q was not rolled back: %w", b.participant.name, err)))
		}
	}
	return ok
}

// rollbackOf returns the function that rolls a part back. The function does nothing
// when another process owns the journal, because the recovery of that process settles
// what participants hold. It rolls a foreign transaction back in any case.
func (e *Executor) rollbackOf(p runtime.Part) func(context.Context) error {
	if _, yes := p.(runtime.ForeignPart); yes {
		return p.Rollback
	}
	return func(ctx context.Context) error {
		return e.lease.Fence(ctx, func() error { return p.Rollback(ctx) })
	}
}

// runWithTimeout calls f and returns its error. When f does not return within d, its context
// ends and within returns an overdueError.
func (e *Executor) runWithTimeout(ctx context.Context, d time.Duration, f func(context.Context) error) error {
	watch := &callContext{parent: ctx, due: e.sched.Now().Add(d)}
	done := sched.NewEvent()
	result := make(chan error, 1)
	e.sched.Busy(1)
	go func() {
		defer e.sched.Busy(-1)
		defer e.sched.Fire(done)
		result <- usercode.Call(func() error { return f(watch) })
	}()
	if !e.sched.WaitFor(done, d) {
		watch.cancel(causeDeadline)
		return overdueError(d)
	}
	watch.cancel(causeCanceled)
	select {
	case err := <-result:
		return err
	default:
		return usercode.ErrExited
	}
}

// An overdueError says that application code did not return in time.
type overdueError time.Duration

// Error names the time limit.
func (d overdueError) Error() string {
	return fmt.Sprintf("it did not finish within %s", wording.Limit(time.Duration(d)))
}
