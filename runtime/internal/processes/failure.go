package processes

import (
	"context"
	"errors"
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/internal/errmark"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A Failure is why a process did not give an output. Its text has nothing of what the process wrote,
// nor of the host.
type Failure struct {
	Reason     runtime.Reason // ReasonDeadline: the call timed out
	Category   runtime.ExitCategory
	Killed     bool // it may have taken effect before it was ended: the call keeps its idempotency key (SEMANTICS 4.9.7)
	Violations []wire.Violation
	Text       string

	cause error // the end of the context that ended the process; nil: something else did
}

// Error returns the text for the model.
func (f *Failure) Error() string { return f.Text }

// Unwrap returns the end of the context that ended the process. It never is an error of the system,
// which package errmark would take for transient.
func (f *Failure) Unwrap() error { return f.cause }

// FailureOf returns the Failure in an error of Run, nil when there is none.
func FailureOf(err error) *Failure {
	var f *Failure
	errors.As(err, &f)
	return f
}

// failure returns the error of a process that ended in a category.
func (c *Command) failure(ctx context.Context, e *process.Exit, category runtime.ExitCategory, again bool) error {
	f := &Failure{Reason: runtime.ReasonHandlerError, Category: category, Killed: c.mayHaveTakenEffect(e), Text: c.text(e, category)}
	retry := c.tool.Spec.Retry
	switch category {
	case runtime.ExitResourceExhausted:
		f.Reason = runtime.ReasonResourceExhausted
	case runtime.ExitTimeout:
		f.Reason = runtime.ReasonDeadline
		again = again && retry != nil && retry.OnTimeout
	}
	if e.Cause == process.Ended {
		f.cause = context.Cause(ctx)
	}
	return mark(f, again)
}

// mark adds the marks that the engine looks for.
func mark(f *Failure, again bool) error {
	err := error(&errmark.Public{Code: string(f.Category), Err: f})
	if again {
		return &errmark.Transient{Err: err}
	}
	return err
}

// text says how a process ended.
func (c *Command) text(e *process.Exit, category runtime.ExitCategory) string {
	name := c.declared.Program
	switch {
	case e.Cause == process.Ended:
		return fmt.Sprintf("%s was ended before it had finished", name)
	case e.Cause == process.LimitReached:
		return fmt.Sprintf("%s was ended because it reached its limit of %s", name, e.Limit)
	case e.Cause == process.Stale, e.Cause == process.Lost:
		return fmt.Sprintf("%s was ended because what watched it was", name)
	case e.Signal != "":
		return fmt.Sprintf("%s was ended by the signal %s", name, e.Signal)
	}
	return fmt.Sprintf("%s exited with code %d (%s)", name, e.Code, category)
}

// notRun returns the error of a program that did not run.
func (c *Command) notRun(ctx context.Context, err error) error {
	var lack *process.LackError
	switch {
	case errors.Is(err, process.ErrResources):
		return mark(&Failure{
			Reason: runtime.ReasonResourceExhausted, Category: runtime.ExitResourceExhausted,
			Text: fmt.Sprintf("%s could not be started: the host has not what it needs", c.declared.Program),
		}, true)
	case errors.Is(err, process.ErrProgramChanged), errors.Is(err, process.ErrStarted), errors.As(err, &lack):
		return err
	case ctx.Err() != nil:
		return mark(&Failure{
			Reason: runtime.ReasonDeadline, Category: runtime.ExitTimeout, cause: context.Cause(ctx),
			Text: fmt.Sprintf("%s was not started in time", c.declared.Program),
		}, false)
	}
	return mark(&Failure{
		Reason: runtime.ReasonHandlerError, Category: runtime.ExitSystemError,
		Text: fmt.Sprintf("%s could not be started", c.declared.Program),
	}, false)
}

// invalid returns the error of an output that is not what the tool declares.
func (c *Command) invalid(bad []wire.Violation, why string) error {
	if bad != nil {
		why = wording.Violations(bad)
	}
	return &Failure{Reason: runtime.ReasonInvalidOutput, Violations: wording.WithoutValues(bad), Text: "the output is invalid: " + why}
}

// tooLarge returns the error of an output over the limit of the tool.
func (c *Command) tooLarge() error {
	limit := c.tool.OutputLimit()
	return &Failure{Reason: runtime.ReasonOutputTooLarge, Text: fmt.Sprintf("the output is larger than limits.output, %d bytes", limit)}
}
