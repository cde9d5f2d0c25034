package history

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// ReadSessions reads some sessions of j, each from its latest snapshot on. It says of them, and of common, which belongs to
// none, what Read says, but for Last and LastAt. A session without entries is left out. An error names the session.
func ReadSessions(ctx context.Context, j journal.Journal, engine *rules.Engine, key []byte, common *Single, sessions []string) (*History, error) {
	h := &History{Sessions: map[string]*Session{}, Books: consent.NewBooks(key), Commands: common.Commands}
	h.Books.PutCommon(common.Book)
	opened := map[*Call]uint64{}
	for _, id := range sessions {
		s, err := ReadWhole(ctx, j, engine, key, id)
		switch {
		case err != nil:
			return nil, err
		case s == nil:
			continue
		}
		h.Sessions[id] = &s.Session
		h.Books.Put(id, s.Book)
		for _, c := range s.Calls {
			opened[c] = s.calls[c.ID].opened
			h.Calls = append(h.Calls, c)
		}
	}
	slices.SortFunc(h.Calls, func(a, b *Call) int { return cmp.Compare(opened[a], opened[b]) })
	return h, nil
}

// ReadWhole reads one session of j with all of its calls, nil when j never had an entry of it. One of which all entries are archived has ended.
func ReadWhole(ctx context.Context, j journal.Journal, engine *rules.Engine, key []byte, session string) (*Single, error) {
	s, err := readSession(ctx, j, engine, key, session, true)
	if err != nil {
		return nil, fmt.Errorf("session %q cannot be read: %w", session, err)
	}
	if s.Last == 0 {
		return nil, nil
	}
	byOpened := func(a, b journal.EndedCall) int { return cmp.Compare(a.Opened, b.Opened) }
	if len(s.Ended) > 0 { // without whole entries
		s.Archived = slices.SortedFunc(maps.Values(s.Ended), byOpened)
	}
	return s, nil
}

// Settled returns an error when s has a call, or an undo, that has begun and not ended.
func (s *Single) Settled() error {
	for _, c := range s.Calls {
		if c.Outcome == nil || c.Undo != nil {
			return fmt.Errorf("call %q of session %q has not ended, and no recovery has settled it: the journal has changed", c.ID, s.ID)
		}
	}
	return nil
}
