package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// readEnded reads a call of a session from the journal. The error is a *journal.ArchivedError where its entries are
// archived. Any other error says that they cannot be read, or are not those that c refers to.
func readEnded(ctx context.Context, j journal.Journal, session string, c *endedCall) (*history.Call, error) {
	of, err := history.ReadCall(ctx, j, journal.CallKey{Session: session, Call: c.ID})
	if err == nil {
		err = c.check(of)
	}
	if err == nil {
		return of, nil
	}
	var archived *journal.ArchivedError
	if errors.As(err, &archived) {
		return nil, archived
	}
	// where the journal still has later entries of the call, it has lost its first one
	if _, why := j.Read(ctx, c.Opened-1, 1); errors.As(why, &archived) && archived.Last >= c.Opened {
		return nil, archived
	}
	return nil, fmt.Errorf("call %q of session %q, whose outcome is in entry %d: %w", c.ID, session, c.Outcome, err)
}

// readArchived reads of a call whose entries up to a position are archived how it began and ended, from the segments and, behind them, the
// journal. The error says that the segments do not have that, or not all of its output.
func readArchived(ctx context.Context, j journal.Journal, segments journal.Segments, session string, c *endedCall, last uint64) (*history.Call, error) {
	var entries []journal.Entry
	for _, seq := range slices.Compact([]uint64{c.Opened, c.Outcome}) {
		from := segments.Entries
		if seq > last {
			from = j.Entries
		}
		list, err := from(ctx, seq)
		if err != nil {
			return nil, err
		}
		entries = append(entries, list...)
	}
	of, err := history.CallOf(journal.CallKey{Session: session, Call: c.ID}, entries)
	if err == nil {
		err = c.check(of)
	}
	if err == nil && of.Outcome.Kind == runtime.Completed && of.Outcome.Output == nil && of.Outcome.Artifact == nil {
		err = errors.New("the entry of its outcome has no output, or a sensitive one") // a recovery completed it, or values are private
	}
	if err != nil {
		return nil, fmt.Errorf("call %q of session %q, whose outcome is in the archived entry %d: %w", c.ID, session, c.Outcome, err)
	}
	of.Undone = c.Undone
	return of, nil
}

// check returns an error unless the journal says of c what is known of it (SEMANTICS 1.4).
func (c *endedCall) check(of *history.Call) error {
	switch {
	case of == nil || of.Outcome == nil:
		return errors.New("the journal has no outcome of it")
	case of.Opened != c.Opened || of.Concluded != c.Outcome:
		return fmt.Errorf("the journal has its entries at %d and %d, not at %d and %d", of.Opened, of.Concluded, c.Opened, c.Outcome)
	case of.Outcome.Kind != c.Kind || of.Tool != c.Tool || of.Run != c.Run:
		return errors.New("the journal has another outcome, tool or run of it")
	case callDigestOf(of.InputMAC) != c.Input:
		return errors.New("the journal has another input of it")
	}
	return nil
}
