package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/outbox"
	"github.com/ambit-tools/ambit/runtime/internal/redact"
)

// WithObserver adds a function that gets the outcome of every call, with the obligations that the
// policy attached, before Execute returns it. f acknowledges the obligations by returning. Execute
// waits for f only until the context of its caller ends; f then continues. The executor holds no
// lock while f runs, so f may call it. The executor reports to the error handler the obligations
// that no observer acknowledged, because there is none or none has returned. Observers never get a
// result that came too late.
func WithObserver(f func(runtime.CallInfo, runtime.Outcome)) Option {
	return func(e *Executor) { e.delivery.Observers = append(e.delivery.Observers, f) }
}

// openDelivery sets up the delivery to sinks, observers and the error handler.
func (e *Executor) openDelivery() error {
	if slices.Contains(e.delivery.Sinks, nil) {
		return errors.New("a sink is nil: leave WithSink out")
	}
	e.delivery.Open(&e.sched, func(f *outbox.Fault) *CallError {
		return &CallError{
			Tool: f.Tool, CallID: f.CallID, SessionID: f.SessionID, RunID: f.RunID, Err: f.Err, Panic: f.Panic, Stack: f.Stack,
		}
	})
	return nil
}

// emitsEvents reports whether there is a sink or a journal for events.
func (e *Executor) emitsEvents() bool { return e.delivery.HasSinks() || e.log.On() }

// Flush returns when sinks, the error handler and observers have taken all that happened before, or
// when ctx ends. In the second case the error says how much they have not taken. Sinks, the error
// handler and observers must not call it.
func (e *Executor) Flush(ctx context.Context) error {
	if e == nil || e.engine == nil {
		return nil
	}
	if err := e.delivery.Flush(orBackground(ctx)); err != nil {
		return fmt.Errorf("flush: %w", err)
	}
	return nil
}

// observe tells the observers how the call ended, and waits for them until done is closed. When
// done is nil it waits until they have returned.
func (c *call) observe(done <-chan struct{}) {
	if len(c.exec.delivery.Observers) > 0 || c.record.obliges() {
		c.exec.delivery.Observe(runtime.CallInfoOf(c.scope.Info()), c.record.outcome(), redact.Obligation, done)
	}
}

// pastDone is a closed channel: the Done of a context that has ended.
var pastDone = func() <-chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}()
