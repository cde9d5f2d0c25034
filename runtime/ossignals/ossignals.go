// Package ossignals shuts an executor down when the process receives a signal.
//
//	wait := ossignals.ShutdownOn(ctx, exec, 20*time.Second)
//	serve(exec)           // until its calls are denied shutting_down
//	err := errors.Join(wait(), store.Close())
package ossignals

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"
)

var errGrace = errors.New("the time of grace is over")

// An Executor can be shut down, as an *engine.Executor can.
type Executor interface {
	Shutdown(ctx context.Context) error
}

// ShutdownOn shuts e down at the first of the signals (SIGINT and SIGTERM when none are given), or
// when ctx ends. Handlers may continue for the grace period. A second signal ends the process at
// once, with the status that a shell gives a process that the signal has ended (130 for SIGINT, 143
// for SIGTERM). The journal is then as after a crash, and recovery settles it.
//
// ShutdownOn catches the signals from the moment at which it returns. wait waits for the end of the
// shutdown and returns its error; several goroutines may call it, or none. The program then closes
// the journal. A goroutine waits for the signals until there was a shutdown: the program ends ctx
// when no signal comes.
func ShutdownOn(ctx context.Context, e Executor, grace time.Duration, signals ...os.Signal) (wait func() error) {
	if ctx == nil {
		ctx = context.Background()
	}
	if len(signals) == 0 {
		signals = []os.Signal{os.Interrupt, syscall.SIGTERM}
	}
	came := make(chan os.Signal, 2)
	signal.Notify(came, signals...)
	done := make(chan struct{})
	var err error
	go func() {
		defer close(done)
		defer signal.Stop(came)
		select {
		case <-ctx.Done():
		case <-came:
		}
		err = shutdownUnless(context.WithoutCancel(ctx), e, grace, came)
	}()
	return func() error {
		<-done
		return err
	}
}

// shutdownUnless shuts e down. If another signal comes meanwhile, it ends the process.
func shutdownUnless(ctx context.Context, e Executor, grace time.Duration, came <-chan os.Signal) error {
	ctx, stop := context.WithTimeoutCause(ctx, grace, errGrace)
	defer stop()
	result := make(chan error, 1)
	go func() { result <- e.Shutdown(ctx) }()
	select {
	case err := <-result:
		return err
	case again := <-came:
		os.Exit(statusOf(again))
		return nil
	}
}

// statusOf returns the exit status of a process that a signal ends.
func statusOf(s os.Signal) int {
	if number, ok := s.(syscall.Signal); ok {
		return 128 + int(number)
	}
	return 1
}
