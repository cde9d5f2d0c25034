package history

import (
	"context"
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// readStep is how many entries are read at once.
const readStep = 1000

// A History is what a journal says of all sessions.
type History struct {
	Sessions map[string]*Session // by id
	Calls    []*Call             // in the order in which they were opened
	Books    *consent.Books      // of requests and grants
	Commands map[string]bool     // imported, by nonce; true: no result is recorded

	Last   uint64    // position of the last entry, 0 when there is none
	LastAt time.Time // when it was written

	engine *rules.Engine
	calls  map[journal.CallKey]*Call
}

// A Session is what a journal says of one session.
type Session struct {
	ID        string
	Principal string
	Setup     journal.Setup // how it was configured last
	State     *rules.State
	Runs      int                          // that were started
	Open      map[string]map[string]string // the metadata of runs that were not closed, by id
	Over      bool                         // it has ended: its rules know nothing any more

	ByReference []Reference // of Load: calls that do not outlive the session, in the order in which they were opened
}

// A Reference is a call that has ended, by reference.
type Reference struct {
	journal.EndedCall
	Number int // as in a Call
}

// Read folds all entries of j, under the rules of engine. key is that of the books of requests. An
// error names the entry that could not be folded.
func Read(ctx context.Context, j journal.Journal, engine *rules.Engine, key []byte) (*History, error) {
	h := &History{
		Sessions: map[string]*Session{}, Books: consent.NewBooks(key), Commands: map[string]bool{},
		engine: engine, calls: map[journal.CallKey]*Call{},
	}
	for {
		entries, err := j.Read(ctx, h.Last, readStep)
		if err != nil {
			return nil, fmt.Errorf("read the journal after entry %d: %w", h.Last, err)
		}
		if len(entries) == 0 {
			return h, nil
		}
		for i := range entries {
			if err = h.add(&entries[i]); err != nil {
				return nil, fmt.Errorf("entry %d of the journal: %w", entries[i].Seq, err)
			}
		}
	}
}

// add folds the next entry.
func (h *History) add(entry *journal.Entry) error {
	r, err := decode(entry)
	if err != nil {
		return err
	}
	h.Last, h.LastAt = entry.Seq, r.At
	for i := range r.Consent {
		if err := h.Books.Continue(r.Session, &r.Consent[i]); err != nil {
			return err
		}
	}
	if r.Command != nil {
		h.Commands[r.Command.Nonce] = r.Kind == journal.KindCommandImported
	}
	if r.Session == "" {
		return nil
	}
	s := h.session(r)
	for i := range r.Rules {
		if err := s.State.Apply(&r.Rules[i]); err != nil {
			return err
		}
	}
	s.add(r, h.engine)
	if r.Call == "" {
		return nil
	}
	return h.call(placed{r, entry.Seq})
}

// add folds what a record says of s itself.
func (s *Session) add(r *journal.Record, engine *rules.Engine) {
	switch r.Kind {
	case journal.KindSessionEnded:
		clear(s.Open)
		s.Over, s.State = true, engine.NewState()
	case journal.KindSessionOpened:
		s.configure(r)
	case journal.KindRunStarted:
		s.Runs++
		s.Open[r.Run] = r.Metadata
	case journal.KindRunClosed:
		delete(s.Open, r.Run)
	}
}

// decode returns the record of an entry, without payloads whose secrets were erased.
func decode(entry *journal.Entry) (*journal.Record, error) {
	leaf, err := journal.Restore(entry.Leaf, entry.Private)
	if err != nil {
		return nil, err
	}
	r, err := journal.Decode(leaf)
	if err != nil {
		return nil, err
	}
	if field := entry.Disagreement(r); field != "" {
		return nil, fmt.Errorf("its %s is not that of its record", field)
	}
	return r, clearErased(r, entry.Private)
}

// session returns the session of a record, and creates it if the record is its first.
func (h *History) session(r *journal.Record) *Session {
	s := h.Sessions[r.Session]
	if s == nil {
		s = &Session{ID: r.Session, State: h.engine.NewState(), Open: map[string]map[string]string{}}
		s.configure(r)
		h.Sessions[r.Session] = s
	}
	return s
}

// configure sets the configuration of s to that of a record.
func (s *Session) configure(r *journal.Record) {
	s.Principal, s.Setup = r.Principal, journal.Setup{}
	if r.Setup != nil {
		s.Setup = *r.Setup
	}
}

// call folds a record of a call.
func (h *History) call(r placed) error {
	key := journal.CallKey{Session: r.Session, Call: r.Call}
	c := h.calls[key]
	switch {
	case c == nil && r.Mark == journal.MarkOpened, reopens(c, r.Record):
		c = open(r)
		h.calls[key] = c
		h.Calls = append(h.Calls, c)
	case secondUse(r.Record):
		return nil
	case c == nil:
		return fmt.Errorf("call %q has no beginning", r.Call)
	}
	if err := c.add(r); err != nil {
		return err
	}
	c.repeat(func(id string) *Call { return h.calls[journal.CallKey{Session: r.Session, Call: id}] })
	return nil
}

// reopens reports whether a record begins another call that has the id of c, which was forgotten or denied for a reason
// that passes (SEMANTICS 1.4.10, 6.14.10).
func reopens(c *Call, r *journal.Record) bool {
	return c != nil && c.Outcome != nil && r.Mark == journal.MarkOpened
}

// secondUse reports whether a record is of another call that had the same id, and was denied for that.
func secondUse(r *journal.Record) bool {
	return r.Mark == journal.MarkNone && (r.InputMAC != "" || r.Kind == runtime.EventDenied.String())
}

// news reports whether a record is of a call that had ended before, and changes nothing of how it did.
func news(r *journal.Record) bool {
	var from runtime.State
	return r.Mark == journal.MarkNone && (r.From == "" || from.UnmarshalText([]byte(r.From)) == nil && from.Ended())
}

// repeat takes the output of a duplicate from the call that it repeats.
func (c *Call) repeat(find func(id string) *Call) {
	out := c.Outcome
	if out == nil || out.Kind != runtime.Duplicate || out.Output != nil || out.Artifact != nil {
		return
	}
	if earlier := find(out.Of); earlier != nil && earlier.Outcome != nil {
		out.Output, out.Artifact = earlier.Outcome.Output, earlier.Outcome.Artifact
	}
}
