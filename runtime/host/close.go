package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ambit-tools/ambit/runtime/ossignals"
)

// A host closes within its time of grace and ten seconds. The executor takes at most seven of these (engine.Executor.Shutdown).
// The times below are for what feeds it and for what it has recorded; they leave half a second for a few closers that never return.
const (
	feeding   = 300 * time.Millisecond  // after the grace, for commands, requests and what runs in the background
	recording = 2200 * time.Millisecond // for what is closed after the executor: a time of its own
	forAudit  = 1700 * time.Millisecond // of recording, that webhooks, contents and workspaces leave to the audit log and the store
	forStore  = 700 * time.Millisecond  // of recording, that the audit log leaves to the store
	moment    = 50 * time.Millisecond   // for what is closed when its time is over already
)

// A closer closes one thing that a host has opened.
type closer struct {
	name string
	f    func(context.Context) error
	left time.Duration // of recording, for those that are closed after it
}

// executorName is the name of the executor among the closers.
const executorName = "the executor"

// noGrace is the context of a host that closes at once.
var noGrace = func() context.Context {
	ctx, end := context.WithCancel(context.Background())
	end()
	return ctx
}()

// closing adds what close has to do, before what was added earlier.
func (h *Host) closing(name string, f func(context.Context) error) {
	h.closers = append(h.closers, closer{name, f, forAudit})
}

// background calls f in a goroutine, which the host ends and waits for when it closes.
func (h *Host) background(name string, f func(ctx context.Context)) {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(ctx)
	}()
	h.closing(name, func(context.Context) error {
		stop()
		<-done
		return nil
	})
}

// Run serves until SIGTERM or SIGINT comes, ctx ends or the store is lost to another process or to a fault of the
// disk, lets handlers go on for Config.Grace, and closes the host. It returns at most ten seconds after that grace, also where something does not end: a handler, a
// command, an observer, a webhook, an anchor, the disk. An error says what was not closed in order. A second
// signal ends the process at once, which the next Open recovers from as from a crash.
func (h *Host) Run(ctx context.Context) error {
	grace := h.cfg.Grace
	if grace == 0 {
		grace = defaultGrace
	}
	ctx, stopServing := context.WithCancel(cmp.Or(ctx, context.Background()))
	defer stopServing()
	go func() {
		select {
		case <-h.Executor.Lost():
			stopServing()
		case <-ctx.Done():
		}
	}()
	first := &executorFirst{host: h}
	err := ossignals.ShutdownOn(ctx, first, grace)()
	rest, stop := context.WithDeadline(context.Background(), first.graceEnds)
	defer stop()
	return errors.Join(err, h.close(rest))
}

// An executorFirst shuts the executor of a host down, before anything else is closed: callers are told so at once.
type executorFirst struct {
	host      *Host
	graceEnds time.Time
}

// Shutdown implements ossignals.Executor.
func (e *executorFirst) Shutdown(ctx context.Context) error {
	e.graceEnds, _ = ctx.Deadline()
	return e.host.shutdown(ctx)
}

// Close shuts the executor down and closes what was opened. Handlers may go on until ctx ends. Close returns
// at most ten seconds later, as Run does.
func (h *Host) Close(ctx context.Context) error { return h.close(ctx) }

// shutdown shuts the executor down, unless that was done.
func (h *Host) shutdown(ctx context.Context) (err error) {
	h.down.Do(func() { err = h.Executor.Shutdown(ctx) })
	return err
}

// close closes what was opened, in the reverse order. ctx is the time of grace.
func (h *Host) close(ctx context.Context) error {
	list := h.closers
	at := slices.IndexFunc(list, func(c closer) bool { return c.name == executorName })
	feeders, recorded := list[at+1:], list[:max(at, 0)]
	if at < 0 { // Open has failed before there was one
		feeders, recorded = nil, list
	}
	if h.inbox != nil {
		feeders = append(feeders, closer{name: "the inbox", f: h.inbox.Close})
	}
	h.inbox, h.closers = nil, nil

	soon, stop := context.WithCancel(context.Background())
	defer stop()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(feeding, stop) })()
	var errs []error
	for _, c := range slices.Backward(feeders) {
		errs = append(errs, c.close(ctx, soon.Done()))
	}
	if at >= 0 {
		errs = append(errs, h.shutdown(ctx))
	}
	end := time.Now().Add(recording)
	for _, c := range slices.Backward(recorded) {
		own, stop := context.WithDeadline(context.Background(), end.Add(-c.left))
		errs = append(errs, c.close(own, own.Done()))
		stop()
	}
	return errors.Join(errs...)
}

// close calls f with ctx, and leaves it alone when it has not returned a moment after late is closed.
func (c *closer) close(ctx context.Context, late <-chan struct{}) error {
	done := make(chan error, 1)
	go func() { done <- c.f(ctx) }()
	select {
	case err := <-done:
		return err
	case <-late:
	}
	select {
	case err := <-done:
		return err
	case <-time.After(moment):
		return fmt.Errorf("host: %s has not ended in time, and was left as it is", c.name)
	}
}
