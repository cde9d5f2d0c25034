package history

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// References returns all calls of s that have an outcome and are not live, by reference, in the order in which they
// were opened.
func (s *Single) References() []journal.EndedCall { return s.references(nil) }

// references is References for the calls that only reports true for; nil: all.
func (s *Single) references(only func(id string) bool) (list []journal.EndedCall) {
	for id, c := range s.Ended {
		if only == nil || only(id) {
			list = append(list, c)
		}
	}
	for id, c := range s.calls {
		if !c.Lives() && (only == nil || only(id)) {
			list = append(list, c.ended())
		}
	}
	slices.SortFunc(list, func(a, b journal.EndedCall) int { return cmp.Compare(a.Opened, b.Opened) })
	return list
}

// unpaged returns the ended calls of which no page tells, or another thing.
func (s *Single) unpaged() []journal.EndedCall {
	return s.references(func(id string) bool { return s.fresh[id] || s.calls[id] != nil })
}

// Page returns the record of a page with the ended calls that are on none, nil when these are fewer than least.
func (s *Single) Page(at time.Time, least int) *journal.Record {
	list := s.unpaged()
	if len(list) < max(least, 1) {
		return nil
	}
	return &journal.Record{Kind: journal.KindCalls, At: at, Session: s.ID, Page: &journal.CallPage{Ended: list}}
}

// Retained is for how long a request or a grant that has ended is kept in mind, so that a late answer gets the result.
const Retained = 24 * time.Hour

// Snapshot returns the record of a snapshot of s, without requests and grants that have ended and are not retained any more. One of a
// session that has ended has no call but those whose outcome is not known or which processes outlive (SEMANTICS 6.14). page is the
// position of the page that was just made, 0 for none. What belongs to no session has the windows of the owners, whose entries may be archived (SEMANTICS 6.14).
func (s *Single) Snapshot(at time.Time, page uint64) *journal.Record {
	s.Book.Prune(at.Add(-Retained), math.MaxInt)
	of := &journal.Snapshot{Last: s.Last, Book: s.Book.Snapshot(), Runs: s.Runs, Over: s.Over, Pages: s.pages, Windows: s.Windows}
	for _, run := range slices.Sorted(maps.Keys(s.Open)) {
		of.Open = append(of.Open, journal.OpenRun{Run: run, Metadata: s.Open[run]})
	}
	for _, nonce := range slices.Sorted(maps.Keys(s.Commands)) {
		of.Commands = append(of.Commands, journal.KnownCommand{Nonce: nonce, Open: s.Commands[nonce]})
	}
	r := &journal.Record{Kind: journal.KindSnapshot, At: at, Session: s.ID, Snapshot: of}
	if s.ID == "" {
		return r
	}
	setup := s.Setup
	r.Principal, r.Setup, of.Rules = s.Principal, &setup, s.State.Snapshot()
	for _, c := range s.calls {
		if c.Lives() {
			of.Live = append(of.Live, journal.LiveCall{Call: c.ID, Opened: c.opened, Past: c.past})
		}
	}
	slices.SortFunc(of.Live, func(a, b journal.LiveCall) int { return cmp.Compare(a.Opened, b.Opened) })
	if page != 0 {
		of.Pages = append(slices.Clone(s.pages), page)
	} else {
		of.Ended = s.unpaged()
	}
	return r
}
