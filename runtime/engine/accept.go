package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/artifact"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/processes"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// accept makes e, what the handler returned, the outcome of the call. Code that may hang, such as an artifact
// store, runs before progress.Decide, while a deadline still applies.
func (c *call) accept(e *result, late bool) *result {
	if late {
		c.timeOut(lifecycle.Moment{})
		c.recordLate(e)
		return workerDone
	}
	if c.tool.Spec.Artifact != nil {
		c.storeArtifact(e)
	}
	e.cause = lifecycle.ByReturn
	if e.outcome.Kind == runtime.Completed {
		c.reportElsewhere()
		if len(c.exec.participants) > 0 {
			c.commit(e)
		}
	}
	c.finishInTime(e)
	return workerDone
}

var errElsewhere = errors.New("the tool declares transactional: true, and a call of it was completed without touching a participant: " +
	"what it did elsewhere, such as in a transaction of its own, is not rolled back with a call (sqltx.Participant.Tx, runtime.PartOf); this is said once a tool")

// reportElsewhere reports a tool that declares transactional and whose handler has returned without touching a
// participant, once a tool (SEMANTICS 6.8).
func (c *call) reportElsewhere() {
	if c.tool.Spec.Transactional && !c.progress.Scope.HasParts() && !c.exec.elsewhere[c.tool.Index].Swap(true) {
		c.exec.report(c.newFault(runtime.ReasonNone, errElsewhere))
	}
}

// handlerResult sets e to the result that follows from what the handler returned.
func (c *call) handlerResult(e *result) {
	spec := c.tool.Spec
	if err := c.worker.handlerErr; err != nil {
		if aborted := c.stoppedByShutdown(err); aborted != nil {
			*e = *aborted
			return
		}
		if out := c.exec.processes.Refused(c.tool, err); out != nil && c.progress.Life.Attempt() == 1 { // nothing ran
			*e = *denied(*out)
			e.fault = c.newFault(out.Reason, err)
			return
		}
		fault := c.newFault(runtime.ReasonHandlerError, err)
		text, code := c.tool.ErrorText(err, fault.Text)
		c.setFailed(e, cmp.Or(c.redactText(text), fmt.Sprintf("%q failed", c.record.Tool)), fault)
		e.outcome.Detail.Code = code
		if f := processes.FailureOf(err); f != nil {
			f.Complete(&e.outcome, spec.Idempotent && spec.Retry != nil && spec.Retry.OnTimeout)
			if fault.Reason = f.Reason; e.outcome.Kind == runtime.TimedOut {
				e.event, e.to, e.outcome.Detail.Deadline = runtime.EventAborted, runtime.StateAborted, c.deadline()
			}
		}
		return
	}
	if c.values.Outputs == nil {
		c.setFailed(e, "the tool returned no output", c.newFault(runtime.ReasonInvalidOutput,
			errors.New("the handler returned neither an output nor an error")))
		return
	}
	out, violations, err := c.tool.Encode(c.record.Spare(), c.values.Outputs)
	if err != nil {
		c.values.Outputs = nil // it must not be walked again
	}
	switch limit := c.tool.OutputLimit(); {
	case err == wire.ErrTooLarge:
		c.setFailed(e, fmt.Sprintf("the output of %q is larger than %d bytes", spec.Name, limit), c.newFault(runtime.ReasonOutputTooLarge,
			fmt.Errorf("the output is larger than limits.output, %d bytes", limit)))
	case violations != nil:
		c.setFailed(e, "the tool returned an invalid output", c.newFault(runtime.ReasonInvalidOutput,
			fmt.Errorf("the output is invalid: %s", wording.Violations(violations))))
		e.outcome.Violations = wording.WithoutValues(violations)
	default:
		e.event, e.to, e.output = runtime.EventCompleted, runtime.StateCompleted, len(out)
		e.outcome.Kind, e.outcome.Output, e.outcome.Obligations = runtime.Completed, out, c.obligations
		if len(c.obligations) == 0 {
			return
		}
		if e.outcome.Output, err = c.redact(out); err != nil {
			e.fault = c.newFault(runtime.ReasonNone, err)
		}
	}
}

// finishInTime finishes the call with e, unless the deadline is over.
func (c *call) finishInTime(e *result) {
	e.setText(c)
	if !c.progress.Decide() {
		c.timeOut(lifecycle.Moment{})
		c.recordLate(e)
		return
	}
	e.report(c)
	if !c.finish(e) && !c.lateCommit(e) {
		c.recordLate(e)
	}
}

// recordLate records what a handler returned after its call had ended.
func (c *call) recordLate(e *result) {
	text := c.operatorText(&runtime.Outcome{}, e.fault)
	e.report(c)
	c.exec.sched.Wait(c.done(), nil, nil) // the event that ended the call comes first
	now := c.clock()
	c.progress.Lock()
	defer c.progress.Unlock()
	if c.progress.Life.Recorded() {
		c.transition(runtime.EventLateResult, c.progress.State(), &note{At: now, Fault: e.fault, Text: text, Output: e.output})
	}
}

// storeArtifact stores the output of e when it is longer than the artifact declaration
// allows, and replaces it with a reference and a preview. It stores the output before
// the call commits and has its outcome. An output that cannot be stored fails the call,
// and the effects of the call are rolled back where that is possible.
func (c *call) storeArtifact(e *result) {
	if e.outcome.Kind != runtime.Completed || !artifact.Needed(c.tool.Spec.Artifact, e.outcome.Output) || c.progress.Scope.Ended() {
		return
	}
	stored, err := c.store(c.progress.Scope.Context(), c.values.Outputs, e.outcome.Output)
	if err != nil {
		*e = result{output: e.output}
		fault := c.newFault(runtime.ReasonCommitFailed, fmt.Errorf("the output cannot be stored: %w", err))
		c.setFailed(e, fmt.Sprintf("the output of %q is too long to be answered and could not be stored", c.record.Tool), fault)
		return
	}
	e.outcome.Output, e.outcome.Artifact = nil, stored
}

// store stores an output and returns what the outcome holds instead.
func (c *work) store(ctx context.Context, v wire.Value, out wire.Raw) (*runtime.StoredOutput, error) {
	return artifact.Put(ctx, c.exec.artifacts, c.tool.Spec.Artifact, v, out, c.redact)
}

// fullOutput returns the complete output for an undo, which does without the output when it cannot be read.
func (c *ident) fullOutput(ctx context.Context, known wire.Value) wire.Value {
	was := c.record.Outcome()
	v, err := c.tool.FullOutput(ctx, &was, known, c.exec.Artifact)
	if err != nil {
		c.exec.report(c.newFault(runtime.ReasonNone, fmt.Errorf("the undo does without the output: %w", err)))
	}
	return v
}
