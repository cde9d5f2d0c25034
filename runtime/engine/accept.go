package engine

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/entry"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// accept makes what the handler returned the outcome of the call. Code that may hang, such as the
// text of an error, runs before decideInTime, while the deadline of the call still applies.
func (c *call) accept(late bool) *result {
	var e result
	c.handlerResult(&e)
	if late {
		c.timeOut(lifecycle.Moment{})
		c.recordLate(e.fault, e.output)
		return workerDone
	}
	if c.tool.spec.Artifact != nil {
		c.storeArtifact(&e)
	}
	e.cause = lifecycle.ByReturn
	if e.outcome.Kind == runtime.Completed && len(c.exec.participants) > 0 {
		c.commitParts(&e)
	}
	c.finishInTime(&e)
	return workerDone
}

// finishInTime finishes the call with e, unless the deadline is over.
func (c *call) finishInTime(e *result) {
	e.setText(c)
	if !c.decideInTime() {
		c.timeOut(lifecycle.Moment{})
		c.recordLate(e.fault, e.output)
		return
	}
	if e.fault != nil {
		c.exec.report(e.fault)
	}
	if !c.finish(e) && !c.committedLate(e) {
		c.recordLate(e.fault, e.output)
	}
}

// handlerResult sets e to the result that follows from what the handler returned.
func (c *call) handlerResult(e *result) {
	spec := c.tool.spec
	if err := c.worker.Scratch.err; err != nil {
		if aborted := c.canceledByShutdown(err); aborted != nil {
			*e = *aborted
			return
		}
		fault := c.newFault(runtime.ReasonHandlerError, err)
		message, code := c.handlerMessage(fault)
		c.setFailed(e, message, fault)
		e.outcome.Detail.Code = code
		return
	}
	if c.outputs == nil {
		c.setFailed(e, "the tool returned no output", c.newFault(runtime.ReasonInvalidOutput,
			errors.New("the handler returned neither an output nor an error")))
		return
	}
	limit := outputLimit(spec)
	out, violations, ok := c.encode(limit)
	switch {
	case !ok:
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
		var err error
		if e.outcome.Output, err = c.redact(out); err != nil {
			e.fault = c.newFault(runtime.ReasonNone, err)
		}
	}
}

// recordLate records what a handler returned after its call had ended.
func (c *call) recordLate(fault *CallError, output int) {
	text := c.operatorText(&runtime.Outcome{}, fault)
	if fault != nil {
		c.exec.report(fault)
	}
	c.exec.sched.Wait(c.done(), nil, nil) // the event that ended the call comes first
	now := c.clock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.life.Recorded() {
		c.transition(runtime.EventLateResult, c.state, &note{at: now, fault: fault, text: text, output: output})
	}
}

// encode checks the handler's output and encodes it. It reports false when that exceeds limit.
func (c *work) encode(limit int64) (out wire.Raw, violations []wire.Violation, ok bool) {
	out, violations, err := wire.AppendWithin(c.record.spare(), c.outputs, int(min(limit, math.MaxInt)), entry.MaxDepth)
	if err != nil {
		c.outputs = nil // it must not be walked again
	}
	if err == wire.ErrTooDeep {
		violations = []wire.Violation{{
			Keyword: "depth", Expected: "at most " + strconv.Itoa(entry.MaxDepth) + " nested objects and arrays", Actual: "more",
		}}
	}
	return slices.Clip(out), violations, err != wire.ErrTooLarge
}
