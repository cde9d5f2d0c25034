package history

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// A Single is what a journal says of one session, read from its latest snapshot on.
type Single struct {
	Session
	Book     *consent.Book
	Calls    []*Call                      // live, or of entries behind the snapshot; in the order in which they were opened
	Ended    map[string]journal.EndedCall // the other calls of the session, by id
	Commands map[string]bool              // as in a History; of no session
	Last     uint64                       // position of the last entry of the session, also if that is a snapshot or a page
	Tail     int                          // entries behind the snapshot
	Others   *journal.Checkpoint          // as in the snapshot; of no session
	Windows  []journal.Window             // of the owners, the last one last; none: not recorded; of no session

	engine *rules.Engine
	calls  map[string]*folded
	pages  []uint64
	paged  map[string]uint64 // of Ended: the last page with it
	fresh  map[string]bool   // of Ended: not as the pages say

	was      map[string]journal.EndedCall // the calls that had ended and are read from their entries
	archived map[string]bool              // of Ended: later entries are about them, and their own are archived
	forgot   bool                         // there is a snapshot, which may have forgotten calls
}

// A folded is a call that is read from its entries.
type folded struct {
	*Call
	opened uint64          // position of its first entry
	past   *rules.PastCall // nil: nothing that later calls may be held against
}

// ReadSession reads one session of j, empty for what belongs to none, under the rules of engine: its latest snapshot,
// the entries behind that, and those of the calls that these are about. It says the same as Read, but for the calls
// that had ended by then: of those it has references. key is that of the books of requests.
func ReadSession(ctx context.Context, j journal.Journal, engine *rules.Engine, key []byte, session string) (*Single, error) {
	return readSession(ctx, j, engine, key, session, false)
}

// readSession is ReadSession. With unknown it reads the calls whose outcome is unknown from their entries too.
func readSession(ctx context.Context, j journal.Journal, engine *rules.Engine, key []byte, session string, unknown bool) (*Single, error) {
	s := &Single{
		Session: Session{ID: session, Open: map[string]map[string]string{}}, Ended: map[string]journal.EndedCall{}, Commands: map[string]bool{},
		engine: engine, calls: map[string]*folded{}, fresh: map[string]bool{}, paged: map[string]uint64{}, was: map[string]journal.EndedCall{},
	}
	end, err := endOf(ctx, j, session)
	if err != nil {
		return nil, err
	}
	snapshot, tail := end.snapshot, end.tail
	if err := s.begin(ctx, j, key, snapshot); err != nil {
		return nil, fmt.Errorf("the snapshot of session %q: %w", session, err)
	}
	s.Over, s.Last = s.Over || end.over, max(s.Last, end.last)
	if err := s.revive(ctx, j, snapshot, tail, unknown); err != nil {
		return nil, err
	}
	if s.Tail = len(tail); snapshot == nil && s.Tail > 0 {
		s.configure(tail[0].Record)
	}
	for _, r := range tail {
		if err := s.add(r); err != nil {
			return nil, fmt.Errorf("entry %d of the journal: %w", r.seq, err)
		}
	}
	if s.Over {
		s.forget()
	}
	for _, c := range slices.SortedFunc(maps.Values(s.calls), func(a, b *folded) int { return cmp.Compare(a.opened, b.opened) }) {
		s.Calls = append(s.Calls, c.Call)
	}
	return s, nil
}

// A placed is a record with its position.
type placed struct {
	*journal.Record
	seq uint64
}

// An end is the latest entries of a session.
type end struct {
	snapshot *placed  // the latest one; nil: there is none
	tail     []placed // the entries that it does not take in, in their order
	last     uint64   // position of the last entry, which may be a snapshot or a page
	over     bool     // all entries that there were are archived
}

// endOf returns the end of a session.
func endOf(ctx context.Context, j journal.Journal, session string) (*end, error) {
	var snapshot *placed
	var tail []placed
	var last uint64
	err := back(ctx, j, session, math.MaxUint64, nil, func(r placed) bool {
		last = max(last, r.seq)
		switch {
		case r.Kind == journal.KindSnapshot && snapshot == nil && r.Snapshot != nil:
			snapshot = &r
		case snapshot != nil && r.seq <= snapshot.Snapshot.Last:
			return false
		case r.Kind != journal.KindSnapshot && r.Kind != journal.KindCalls:
			tail = append(tail, r)
		}
		return true
	})
	slices.Reverse(tail)
	over, err := readable(err, snapshot)
	return &end{snapshot, tail, max(last, over), over > 0}, err
}

// back calls f with the records of a session before a position, the last one first. It decodes only those that
// wanted reports true for; nil: all.
func back(ctx context.Context, j journal.Journal, session string, before uint64, wanted func(*journal.Entry) bool, f func(placed) bool) (err error) {
	failed := j.Back(ctx, session, before, func(e *journal.Entry) bool {
		if wanted != nil && !wanted(e) {
			return true
		}
		var r *journal.Record
		if r, err = decode(e); err != nil {
			err = fmt.Errorf("entry %d of the journal: %w", e.Seq, err)
			return false
		}
		return f(placed{r, e.Seq})
	})
	return cmp.Or(err, failed)
}

// begin sets s to what a snapshot says, or to a session without entries.
func (s *Single) begin(ctx context.Context, j journal.Journal, key []byte, r *placed) (err error) {
	if r == nil {
		s.State, s.Book = s.engine.NewState(), consent.NewBook(key)
		return nil
	}
	of := r.Snapshot
	if of.Book == nil || (of.Rules == nil) != (s.ID == "") {
		return fmt.Errorf("it has no book, or no rules")
	}
	s.configure(r.Record)
	s.forgot = true
	s.Runs, s.Over, s.pages, s.Last = of.Runs, of.Over, slices.Clone(of.Pages), of.Last
	s.Others, s.Windows = of.Others, slices.Clone(of.Windows)
	for _, run := range of.Open {
		s.Open[run.Run] = run.Metadata
	}
	for _, c := range of.Commands {
		s.Commands[c.Nonce] = c.Open
	}
	if err := s.readPages(ctx, j, of); err != nil {
		return err
	}
	for _, c := range of.Live {
		s.calls[c.Call] = &folded{opened: c.Opened, past: c.Past}
		delete(s.Ended, c.Call) // a page may tell of it: its undo began later
		delete(s.fresh, c.Call)
	}
	if s.Book, err = consent.Restore(key, of.Book); err != nil {
		return err
	}
	if of.Rules != nil {
		s.State, err = s.engine.Restore(of.Rules, s.past)
	}
	return err
}

// readPages reads which calls have ended.
func (s *Single) readPages(ctx context.Context, j journal.Journal, of *journal.Snapshot) error {
	pages, err := j.Entries(ctx, of.Pages...)
	if err != nil {
		return err
	}
	for i := range pages {
		r, err := decode(&pages[i])
		if err != nil {
			return fmt.Errorf("entry %d: %w", pages[i].Seq, err)
		}
		if r.Page == nil || r.Session != s.ID {
			return fmt.Errorf("entry %d is no page of it", pages[i].Seq)
		}
		for _, c := range r.Page.Ended {
			s.Ended[c.Call], s.paged[c.Call] = c, pages[i].Seq
		}
	}
	for _, c := range of.Ended {
		s.Ended[c.Call], s.fresh[c.Call] = c, true
	}
	return nil
}

// past yields what later calls may be held against.
func (s *Single) past(yield func(rules.PastCall) bool) {
	for _, c := range s.Ended {
		if c.Past != nil && !yield(*c.Past) {
			return
		}
	}
	for _, c := range s.calls {
		if c.past != nil && !yield(*c.past) {
			return
		}
	}
}

// revive reads the calls that a snapshot calls live, and those that had ended by then and that later entries are
// about, from their own entries; with unknown also those whose outcome is unknown (SEMANTICS 6.7).
func (s *Single) revive(ctx context.Context, j journal.Journal, snapshot *placed, tail []placed, unknown bool) error {
	if snapshot == nil {
		return nil
	}
	for _, r := range tail {
		s.unfold(r.Call)
		s.unfold(earlierOf(r.Record))
	}
	for id, c := range s.Ended {
		if unknown && c.Kind == runtime.Unknown.String() {
			s.unfold(id)
		}
	}
	entries, err := s.entriesOf(ctx, j, snapshot)
	if s.stay(err) {
		entries, err = s.entriesOf(ctx, j, snapshot)
	}
	if err != nil {
		return err
	}
	for _, r := range slices.Backward(entries) {
		if err := s.call(r); err != nil {
			return fmt.Errorf("entry %d of the journal: %w", r.seq, err)
		}
	}
	for id, c := range s.calls {
		if c.Call == nil {
			return fmt.Errorf("the snapshot of session %q: call %q is not in the journal", s.ID, id)
		}
	}
	return nil
}

// unfold makes of a call that is there by reference one that is to be read from its entries.
func (s *Single) unfold(id string) {
	if c, ended := s.Ended[id]; ended {
		s.calls[id], s.was[id] = &folded{opened: c.Opened, past: c.Past}, c
		delete(s.Ended, id)
	}
}

// entriesOf returns the entries of the calls of s that its snapshot takes in, the last one first.
func (s *Single) entriesOf(ctx context.Context, j journal.Journal, snapshot *placed) (entries []placed, err error) {
	first := uint64(math.MaxUint64)
	for _, c := range s.calls {
		first = min(first, c.opened)
	}
	if first == math.MaxUint64 {
		return nil, nil
	}
	of := func(call string, seq uint64) bool { // not of an earlier call of this id, which was forgotten (SEMANTICS 6.14.10)
		c := s.calls[call]
		return c != nil && seq >= c.opened
	}
	about := func(e *journal.Entry) bool { return e.Seq <= first || of(e.Call, e.Seq) }
	err = back(ctx, j, s.ID, snapshot.Snapshot.Last+1, about, func(r placed) bool {
		if of(r.Call, r.seq) {
			entries = append(entries, r)
		}
		return r.seq > first
	})
	return entries, err
}

// earlierOf returns the call whose outcome a record repeats, empty for none.
func earlierOf(r *journal.Record) string {
	if r.Mark != journal.MarkEnded || !bytes.Contains(r.Outcome, []byte(`"of":`)) {
		return ""
	}
	out, _ := DecodeOutcome(r.Outcome) // add says what is wrong with it
	return out.Of
}

// add folds the next record of s.
func (s *Single) add(r placed) error {
	s.Last = max(s.Last, r.seq)
	for i := range r.Consent {
		if err := s.Book.Continue(&r.Consent[i]); err != nil {
			return err
		}
	}
	if r.Command != nil {
		s.Commands[r.Command.Nonce] = r.Kind == journal.KindCommandImported
	}
	if s.ID == "" {
		s.owner(r.Record)
		return nil
	}
	for i := range r.Rules {
		if err := s.State.Apply(&r.Rules[i]); err != nil {
			return err
		}
		s.keep(&r.Rules[i])
	}
	s.Session.add(r.Record, s.engine)
	if r.Call == "" {
		return nil
	}
	return s.call(r)
}

// undone folds that a call was undone whose own entries are archived.
func (s *Single) undone(r placed) {
	if c, known := s.Ended[r.Call]; known && r.Kind == runtime.EventUndone.String() {
		c.Undone = true
		s.Ended[r.Call], s.fresh[r.Call] = c, true
	}
}

// keep keeps what a change of the rules, which was just applied, says of a call that has ended, or was undone.
func (s *Single) keep(ev *rules.Event) {
	var past *rules.PastCall
	if p, ended := s.State.Ended(); ended {
		past = &p
	} else if ev.Kind != rules.EventUndone {
		return
	}
	if c := s.calls[ev.Call]; c != nil {
		c.past = past
	} else if c, known := s.Ended[ev.Call]; known { // another call's entry has the change
		c.Past = past
		s.Ended[ev.Call], s.fresh[ev.Call] = c, true
	}
}

// call folds a record of a call.
func (s *Single) call(r placed) error {
	c := s.calls[r.Call]
	switch {
	case r.Mark == journal.MarkOpened && (c == nil || c.Call == nil), c != nil && reopens(c.Call, r.Record):
		if c == nil || c.Call != nil {
			c = &folded{}
			s.calls[r.Call] = c
			delete(s.was, r.Call)
			delete(s.Ended, r.Call)
			delete(s.fresh, r.Call)
			delete(s.archived, r.Call)
		}
		c.Call, c.opened = open(r), r.seq
	case (c == nil || c.Call == nil) && (s.Over || s.archived[r.Call]): // late news of a call that the snapshot has not, or has by reference
		s.undone(r)
		return nil
	case secondUse(r.Record):
		return nil
	case (c == nil || c.Call == nil) && s.forgot && news(r.Record): // of a call that the snapshot forgot while its session was in memory
		return nil
	case c == nil || c.Call == nil:
		return fmt.Errorf("call %q has no beginning", r.Call)
	}
	if err := c.add(r); err != nil {
		return err
	}
	c.repeat(func(id string) *Call {
		if earlier := s.calls[id]; earlier != nil {
			return earlier.Call
		}
		return nil
	})
	return nil
}

// forget forgets the calls that do not outlive the session, and the pages that tell of them.
func (s *Single) forget() {
	s.pages = nil
	for id, c := range s.Ended {
		if c.Past = nil; c.Kind == runtime.Unknown.String() {
			s.Ended[id], s.fresh[id] = c, true
		} else {
			delete(s.Ended, id)
		}
	}
	for id, c := range s.calls {
		if c.past = nil; !c.OutlivesSession() {
			delete(s.calls, id)
		}
	}
}

// ended returns c by reference.
func (c *folded) ended() journal.EndedCall {
	of := c.Reference()
	of.Past = c.past
	return of
}
