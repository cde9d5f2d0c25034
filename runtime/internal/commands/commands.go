// Package commands executes the commands of other processes, each at most once per nonce.
package commands

import (
	"context"
	"errors"
	"fmt"

	"github.com/ambit-tools/ambit/runtime/internal/commitlog"
	"github.com/ambit-tools/ambit/runtime/internal/entry"
	"github.com/ambit-tools/ambit/runtime/internal/lockorder"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// ErrKnown says that a command was imported before and is not executed again.
var ErrKnown = errors.New("the command was imported before")

// Once has the nonces of the commands that were imported. The zero value has no journal, and keeps the
// nonces only in memory.
type Once struct {
	sched *sched.Scheduler
	log   *commitlog.Writer // nil: there is no journal

	mu    lockorder.Mutex[lockorder.Commands]
	known map[string]bool // by nonce; true: an earlier process began to execute it and recorded no result
}

// Open sets the log in which commands are recorded; nil: there is none.
func (o *Once) Open(s *sched.Scheduler, log *commitlog.Writer) { o.sched, o.log = s, log }

// Restore sets the nonces to those of earlier processes; those of commands without a result are true.
func (o *Once) Restore(known map[string]bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.known = known
}

// Do calls do for a command that was not imported before, on behalf of by. That the command was imported is durable
// before, and its result before Do returns. A command that was imported before is refused with ErrKnown; its result
// is interrupted when a crash ended its execution.
func (o *Once) Do(ctx context.Context, c *journal.Command, by, interrupted string, do func(context.Context) journal.CommandResult) (res journal.CommandResult, err error) {
	if c.Nonce == "" {
		return res, errors.New("a command without a nonce cannot be imported once only")
	}
	if err := o.log.Health(); err != nil {
		return res, fmt.Errorf("the command cannot be recorded: %w", err)
	}
	done := func() error {
		return o.record(journal.KindCommandDone, by, &journal.Command{Nonce: c.Nonce, Kind: c.Kind, Result: &res})
	}
	switch known, crashed := o.begin(c.Nonce); {
	case crashed:
		res.Result = interrupted
		return res, errors.Join(ErrKnown, done())
	case known:
		return res, ErrKnown
	}
	if err := o.record(journal.KindCommandImported, by, c); err != nil {
		return res, err
	}
	res = do(ctx)
	return res, done()
}

// begin adds a nonce. It reports whether it was known, and whether a crash interrupted the command.
func (o *Once) begin(nonce string) (known, crashed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	crashed, known = o.known[nonce]
	if o.known == nil {
		o.known = map[string]bool{}
	}
	o.known[nonce] = false
	return known, crashed
}

// record records that a command is imported, or its result, and returns when that is durable.
func (o *Once) record(kind, by string, c *journal.Command) error {
	if !o.log.On() {
		return nil
	}
	r := &journal.Record{Kind: kind, At: entry.At(o.sched.Now()), By: by, Command: c}
	if err := o.log.FlushThroughStall(o.log.Add(r, nil)); err != nil {
		return fmt.Errorf("the command cannot be recorded: %w", err)
	}
	return nil
}
