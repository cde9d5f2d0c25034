package runtime

import (
	"context"
	"errors"
	"fmt"

	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/simhooks"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// recoverStep is how many entries are read at once.
const recoverStep = 1000

// Recover reads the journal (WithJournal) and makes of it again what lasts:
// sessions and runs with what their rules know, grants, requests that people may
// still answer, and the outcomes of calls with what their undo needs. Calls that
// had none are settled: one whose handler was never started has failed
// (interrupted) and done nothing; one whose handler was started is unknown, until
// its tool's reconcile handler, a person or an undo says what became of it.
//
// It is called once, before anything else. Without a journal it only takes back
// what participants still hold of calls.
// An error says that the journal cannot be read, is not one of these tools, or
// belongs to somebody else, or that a participant does not answer; nothing is
// started then, now or later.
func (e *Executor) Recover(ctx context.Context) error {
	switch {
	case e == nil || e.engine == nil:
		return errors.New("only an executor made by NewExecutor can recover")
	case !e.log.on():
		left, err := e.leftovers(orBackground(ctx))
		if err != nil {
			return err
		}
		return e.settleUnknownCalls(orBackground(ctx), left)
	case !errors.Is(e.log.health(), errNotRecovered):
		return errors.New("the journal was recovered before")
	}
	ctx = orBackground(ctx)
	e.simulate(simhooks.From(ctx))
	if err := e.lease.claim(ctx, e.log.journal); err != nil {
		return err
	}
	m, err := e.foldJournal(ctx)
	if err != nil {
		e.lease.unclaim()
		return err
	}
	e.log.begin(m.last)
	e.lease.hold(e)
	e.log.writeOwner(e.now(), &journal.Settings{Reminders: e.engine.Reminders(), MinimumBudget: e.minimum})
	if err = e.restore(ctx, m); err == nil {
		err = e.log.flushAll()
	}
	if err != nil {
		e.log.fail(fmt.Errorf("recovery has failed: %w", err))
		e.lease.release(e)
		return err
	}
	e.reconcile(ctx, m)
	if err = e.log.flushAll(); err != nil {
		e.log.fail(fmt.Errorf("recovery has failed: %w", err))
		e.lease.release(e)
	}
	return err
}

// foldJournal reads the journal.
func (e *Executor) foldJournal(ctx context.Context) (*fold, error) {
	l := &e.log
	e.sessions.mu.Lock()
	defer e.sessions.mu.Unlock()
	if len(e.sessions.byID) > 0 {
		return nil, errors.New("recover before the first session is made")
	}
	if err := l.keys(ctx, &e.approvals); err != nil {
		return nil, err
	}
	m := &fold{exec: e, calls: map[journal.CallKey]*foldedCall{}}
	for {
		entries, err := l.journal.Read(ctx, m.last, recoverStep)
		if err != nil {
			return nil, fmt.Errorf("read the journal after entry %d: %w", m.last, err)
		}
		if len(entries) == 0 {
			return m, nil
		}
		for i := range entries {
			entry := &entries[i]
			if err = m.add(entry); err != nil {
				return nil, fmt.Errorf("entry %d of the journal: %w", entry.Seq, err)
			}
		}
	}
}

// keys gets the keys that are kept apart from the journal, if it keeps any. What
// was asked before cannot be approved without the key that it was bound with.
func (l *commitLog) keys(ctx context.Context, d *approvals) (err error) {
	if owner, ok := l.journal.(journal.Owner); ok {
		l.epoch = owner.Epoch()
	}
	keeper, ok := l.journal.(journal.Keeper)
	if !ok {
		l.key = d.key
		return nil
	}
	if l.key, err = keeper.Key(ctx, "inputs"); err != nil {
		return fmt.Errorf("the key of inputs: %w", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.key, err = keeper.Key(ctx, "consent"); err != nil {
		return fmt.Errorf("the key of requests for consent: %w", err)
	}
	d.book = consent.NewBook(d.key)
	return nil
}
