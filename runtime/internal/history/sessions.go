package history

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// ReadSessions reads some sessions of j as Load does. It says of them, and of common, which belongs to none, what Read
// says, but for Last and LastAt, and with the calls that have ended by reference. A session without entries is left out.
// An error names the session.
func ReadSessions(ctx context.Context, j journal.Journal, engine *rules.Engine, key []byte, common *Single, sessions []string) (*History, error) {
	h := &History{Sessions: map[string]*Session{}, Books: consent.NewBooks(key), Commands: common.Commands}
	h.Books.PutCommon(common.Book)
	for _, id := range sessions {
		s, err := Load(ctx, j, engine, key, id)
		switch {
		case err != nil:
			return nil, err
		case s == nil:
			continue
		}
		h.Sessions[id] = &s.Session
		h.Books.Put(id, s.Book)
		h.Calls = append(h.Calls, s.Calls...)
	}
	slices.SortFunc(h.Calls, func(a, b *Call) int { return cmp.Compare(a.Opened, b.Opened) })
	return h, nil
}

// Load reads one session of j for memory, from its latest snapshot on: its Calls are those that outlive it, with their numbers, and
// ByReference has its other calls. The result is nil when j never had an entry of it. A session of which all entries are archived has ended.
//
// It reads as many entries as are behind the snapshot, or behind the first call that outlives the session, and the pages.
func Load(ctx context.Context, j journal.Journal, engine *rules.Engine, key []byte, session string) (*Single, error) {
	s, err := readSession(ctx, j, engine, key, session, true)
	if err != nil {
		return nil, fmt.Errorf("session %q cannot be read: %w", session, err)
	}
	if s.Last == 0 {
		return nil, nil
	}
	s.refer()
	return s, nil
}

// refer leaves in Calls those that outlive the session, puts its other calls into ByReference, and numbers all calls.
func (s *Single) refer() {
	refs := s.references(func(id string) bool { return s.calls[id] == nil || !s.calls[id].OutlivesSession() })
	s.Calls = slices.DeleteFunc(s.Calls, func(c *Call) bool { return !c.OutlivesSession() })
	opened := make([]uint64, 0, len(refs)+len(s.Calls))
	for i := range refs {
		opened = append(opened, refs[i].Opened)
	}
	for _, c := range s.Calls {
		opened = append(opened, c.Opened)
	}
	slices.Sort(opened)
	number := func(at uint64) int {
		before, _ := slices.BinarySearch(opened, at)
		return before + 1
	}
	for _, c := range s.Calls {
		c.Number = number(c.Opened)
	}
	for i := range refs {
		s.ByReference = append(s.ByReference, Reference{refs[i], number(refs[i].Opened)})
	}
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
