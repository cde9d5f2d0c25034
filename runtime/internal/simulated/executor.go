package simulated

import (
	"context"
	"errors"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/internal/simhooks"
)

// An Executor is an executor on a simulated clock, which a simulation controls by hooks.
type Executor struct {
	*engine.Executor
	Clock *Clock
	Hooks *simhooks.Hooks // with what Recover fills in
}

// New makes an executor on a clock, and recovers what its journal has. Its artifacts are kept in memory unless the options say
// otherwise.
func New(ctx context.Context, clock *Clock, hooks *simhooks.Hooks, reg *runtime.Registry, policy runtime.Policy, options ...engine.Option) (*Executor, error) {
	own := []engine.Option{engine.WithClock(clock), engine.WithArtifacts(new(runtime.MemoryArtifacts))}
	exec, err := engine.NewExecutor(reg, policy, append(own, options...)...)
	if err != nil {
		return nil, err
	}
	e := &Executor{exec, clock, hooks}
	var failed error
	err = e.Do(ctx, func() { failed = exec.Recover(simhooks.With(context.Background(), hooks)) })
	return e, errors.Join(err, failed)
}

// Begin runs f, which may take simulated time, in a goroutine of its own. It returns when no goroutine has work to do
// without an advance of the time or something else that the simulation does; done is closed when f has returned.
func (e *Executor) Begin(f func()) (done chan struct{}, err error) {
	done = make(chan struct{})
	e.Clock.Busy(1)
	go func() {
		defer e.Clock.Busy(-1)
		defer close(done)
		f()
	}()
	return done, e.Clock.Rest()
}

// Do is Begin for what takes no simulated time: it returns when f has returned.
func (e *Executor) Do(ctx context.Context, f func()) error {
	done, err := e.Begin(f)
	if err != nil {
		return err
	}
	select {
	case <-done:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return e.Clock.Rest()
}

// End shuts the executor down, with all the simulated time that this takes. It returns what the shutdown did, and why the
// clock is of no more use, if it is not.
func (e *Executor) End() (shutdown, lost error) {
	lost = e.Clock.Perform(func() { shutdown = e.Shutdown(context.Background()) })
	return shutdown, lost
}
