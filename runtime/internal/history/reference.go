package history

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// Lives reports whether c is to be read from its entries again: it has no outcome, or is being undone, or processes of
// it may be running.
func (c *Call) Lives() bool {
	return c.Outcome == nil || c.Undo != nil || len(c.Processes) > 0
}

// OutlivesSession reports whether c is kept when its session has ended: its outcome is unknown, or something of it is
// still to be settled.
func (c *Call) OutlivesSession() bool {
	return c.Lives() || c.Outcome.Kind == runtime.Unknown
}

// Reference returns a call that does not live by reference, without what the rules know of it.
func (c *Call) Reference() journal.EndedCall {
	of := journal.EndedCall{
		Call: c.ID, Opened: c.Opened, Outcome: c.Concluded, Kind: c.Outcome.Kind.String(), Run: c.Run, Turn: c.Turn, Agent: c.Agent, Tool: c.Tool,
		InputMAC: c.InputMAC, At: c.Ended, Started: c.Attempts > 0, Undone: c.Undone, Back: c.Outcome.RolledBack,
	}
	if c.Outcome.Artifact != nil && c.Outcome.Kind == runtime.Completed {
		of.Artifact = &c.Outcome.Artifact.ArtifactRef
	}
	return of
}

// ReadCall reads one call from its entries: it says the same of it as Read. The result is nil where j has none.
func ReadCall(ctx context.Context, j journal.Journal, key journal.CallKey) (*Call, error) {
	c, err := readCall(ctx, j, key, math.MaxUint64)
	if c == nil || err != nil || c.Outcome == nil || c.Outcome.Kind != runtime.Duplicate {
		return c, err
	}
	key.Call = c.Outcome.Of
	earlier, err := readCall(ctx, j, key, c.Concluded)
	if errors.As(err, new(*journal.ArchivedError)) {
		return c, nil // the outcome is known, and what it repeats is in a segment
	}
	if err != nil {
		return nil, err
	}
	c.repeat(func(string) *Call { return earlier })
	return c, nil
}

// readCall reads a call from its entries before a position: of several calls with the id, of which all but the last one were forgotten,
// the last one.
func readCall(ctx context.Context, j journal.Journal, key journal.CallKey, before uint64) (c *Call, err error) {
	entries, err := j.Call(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("read call %q: %w", key.Call, err)
	}
	if i := slices.IndexFunc(entries, func(e journal.Entry) bool { return e.Seq >= before }); i >= 0 {
		entries = entries[:i]
	}
	return CallOf(key, entries[max(0, opening(entries)):])
}

// CallOf folds entries of one call, of which the first has begun it. The result is nil where there are none.
func CallOf(key journal.CallKey, entries []journal.Entry) (c *Call, err error) {
	for i := range entries {
		r, err := decode(&entries[i])
		if err != nil {
			return nil, fmt.Errorf("entry %d of the journal: %w", entries[i].Seq, err)
		}
		switch {
		case r.Session != key.Session || r.Call != key.Call:
			return nil, fmt.Errorf("entry %d of the journal is of another call", entries[i].Seq)
		case c == nil && r.Mark == journal.MarkOpened:
			c = open(placed{r, entries[i].Seq})
		case secondUse(r):
			continue
		case c == nil:
			return nil, fmt.Errorf("call %q has no beginning", key.Call)
		}
		if err := c.add(placed{r, entries[i].Seq}); err != nil {
			return nil, fmt.Errorf("entry %d of the journal: %w", entries[i].Seq, err)
		}
	}
	return c, nil
}

// opening returns which of the entries with the id of a call begins the last call with that id; negative: none.
func opening(entries []journal.Entry) int {
	for i := range slices.Backward(entries) {
		if entries[i].Mark == journal.MarkOpened {
			return i
		}
	}
	return -1
}
