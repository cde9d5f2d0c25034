package engine

import (
	"context"
	"errors"
	"os"
	ossignal "os/signal"
	"syscall"
	"time"
)

var errGrace = errors.New("the time of grace is over")

// ShutdownOn shuts e down at the first of the signals (SIGINT and SIGTERM when none are given), or
// when ctx ends. Handlers may continue for the grace period. A second signal ends the process at
// once, with the status that a shell gives a process that the signal has ended (130 for SIGINT, 143
// for SIGTERM). The journal is then as after a crash, and recovery settles it.
//
// ShutdownOn catches the signals from the moment at which it returns. wait waits for the end of the
// shutdown and returns its error; several goroutines may call it, or none. The program then closes
// the journal. A goroutine waits for the signals until there was a shutdown: the program ends ctx
// when no signal comes.
//
//	wait := engine.ShutdownOn(ctx, exec, 20*time.Second)
//	serve(exec)           // until its calls are denied shutting_down
//	err := errors.Join(wait(), store.Close())
func ShutdownOn(ctx context.Context, e *Executor, grace time.Duration, signals ...os.Signal) (wait func() error) {
	return shutdownOn(ctx, e, grace, signals, os.Exit)
}

// shutdownOn is ShutdownOn with the function that ends the process.
func shutdownOn(ctx context.Context, e *Executor, grace time.Duration, signals []os.Signal, exit func(code int)) func() error {
	if len(signals) == 0 {
		signals = []os.Signal{os.Interrupt, syscall.SIGTERM}
	}
	came := make(chan os.Signal, 2)
	ossignal.Notify(came, signals...)
	done := make(chan struct{})
	var err error
	go func() {
		defer close(done)
		defer ossignal.Stop(came)
		select {
		case <-orBackground(ctx).Done():
		case <-came:
		}
		err = e.shutdownUnless(orBackground(ctx), grace, came, exit)
	}()
	return func() error {
		<-done
		return err
	}
}

// shutdownUnless shuts e down, unless another signal comes.
func (e *Executor) shutdownUnless(ctx context.Context, grace time.Duration, came <-chan os.Signal, exit func(int)) error {
	ctx, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	t := e.sched.After(grace, func() { stop(errGrace) })
	defer t.Stop()
	result := make(chan error, 1)
	go func() { result <- e.Shutdown(ctx) }()
	select {
	case err := <-result:
		return err
	case again := <-came:
		exit(statusOfSignal(again))
		return <-result // reached only if exit returns, as in a test
	}
}

// statusOfSignal returns the exit status of a process that a signal ends.
func statusOfSignal(s os.Signal) int {
	if number, ok := s.(syscall.Signal); ok {
		return 128 + int(number)
	}
	return 1
}
