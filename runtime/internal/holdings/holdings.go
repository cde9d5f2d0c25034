// Package holdings keeps what sessions have that must be found without reading them: the ids of their requests
// and grants, the calls whose outcome is unknown, and processes without a recorded end. It is made from the entries
// of a journal, one after the other. A checkpoint of it is in the snapshots of what belongs to no session, so that
// a start reads the entries behind that only.
package holdings

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/internal/lockorder"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// readStep is how many entries are read at once.
const readStep = 1000

// A Ledger is the holdings of all sessions by the entries up to a position. It is safe for concurrent use.
type Ledger struct {
	mu       lockorder.Mutex[lockorder.Holdings]
	last     uint64
	lastAt   time.Time
	saved    uint64 // position of the latest checkpoint
	sessions map[string]*held
	byID     map[string]string // the session of a request or a grant
}

// A held is the holdings of one session.
type held struct {
	asked     map[string]asked // requests, and the grants that came of them
	unknown   map[string]bool  // calls
	processes map[runtime.ProcessID]bool
}

// An asked says until when a request is retained, and the grant that came of it.
type asked struct {
	request, grant time.Time
	lasts          bool // the grant ends with its session
}

// New returns the Ledger of a journal without entries.
func New() *Ledger { return &Ledger{sessions: map[string]*held{}, byID: map[string]string{}} }

// Read continues l, from a checkpoint that of may have, with the entries of j behind it.
func (l *Ledger) Read(ctx context.Context, j journal.Journal, of *journal.Checkpoint) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begin(of)
	for {
		entries, err := j.Read(ctx, l.last, readStep)
		if err != nil {
			return fmt.Errorf("read the journal after entry %d: %w", l.last, err)
		}
		if len(entries) == 0 {
			return nil
		}
		if err := l.add(entries); err != nil {
			return err
		}
	}
}

// begin sets l to a checkpoint; nil: to no entries.
func (l *Ledger) begin(of *journal.Checkpoint) {
	if of == nil {
		return
	}
	l.last, l.saved = of.Last, of.Last
	for i := range of.Held {
		h := &of.Held[i]
		s := l.session(h.Session)
		for _, r := range h.Asked {
			s.asked[r.ID] = asked{request: r.Until, grant: r.Grant, lasts: r.Lasts}
			l.byID[r.ID] = h.Session
		}
		for _, call := range h.Unknown {
			s.unknown[call] = true
		}
		for _, p := range h.Processes {
			s.processes[p] = true
		}
	}
}

// Add takes in the next entries of the journal.
func (l *Ledger) Add(entries []journal.Entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.add(entries)
}

func (l *Ledger) add(entries []journal.Entry) error {
	for i := range entries {
		e := &entries[i]
		if e.Seq <= l.last {
			return fmt.Errorf("entry %d comes after entry %d", e.Seq, l.last)
		}
		if err := l.entry(e); err != nil {
			return fmt.Errorf("entry %d of the journal: %w", e.Seq, err)
		}
		l.last, l.lastAt = e.Seq, e.At
	}
	return nil
}

// The members of a record that l reads.
var (
	consentMember = []byte(`"consent":[`)
	processMember = []byte(`"process":{`)
)

// entry takes in one entry. It decodes those only that are about consent or a process.
func (l *Ledger) entry(e *journal.Entry) error {
	if e.Session == "" || e.Kind == journal.KindSnapshot || e.Kind == journal.KindCalls {
		return nil
	}
	switch e.Kind {
	case runtime.EventUnknown.String():
		l.session(e.Session).unknown[e.Call] = true
	case runtime.EventReconciled.String(), runtime.EventUndone.String():
		delete(l.session(e.Session).unknown, e.Call)
	}
	if bytes.Contains(e.Leaf, consentMember) || bytes.Contains(e.Leaf, processMember) {
		r, err := journal.Decode(e.Leaf)
		if err != nil {
			return err
		}
		l.record(r)
	}
	l.trim(e.Session)
	return nil
}

// record takes in a record about consent or a process.
func (l *Ledger) record(r *journal.Record) {
	s := l.session(r.Session)
	for i := range r.Consent {
		ev := &r.Consent[i]
		id := cmp.Or(ev.Request, ev.Grant)
		x, known := s.asked[id]
		if x.change(ev, known) {
			s.asked[id] = x
			l.byID[id] = r.Session
		}
	}
	switch p := r.Process; {
	case p == nil:
	case r.Kind == journal.KindProcessStarted:
		s.processes[p.ID] = true
	case p.Exit != nil:
		delete(s.processes, p.ID)
	}
}

// change takes in a change of the request or the grant, which is known or not, and reports whether it is one that l
// keeps in mind.
func (x *asked) change(ev *consent.Event, known bool) bool {
	switch {
	case ev.Kind == consent.EventAsked && ev.Asked != nil:
		x.request = ev.Asked.Expires.Add(history.Retained)
	case !known:
		return false
	case ev.Result != nil && ev.Result.Granted != nil:
		x.grant, x.lasts = ev.Result.Granted.Expires.Add(history.Retained), ev.Result.Granted.Expires.IsZero()
	case ev.Kind == consent.EventRevoked && ev.Result != nil && ev.Result.Resolution == runtime.ResolutionAccepted:
		x.grant, x.lasts = ev.At.Add(history.Retained), false
	}
	return true
}

// until returns until when the request or the grant is kept in mind, zero for as long as its session lasts.
func (x asked) until() time.Time {
	switch {
	case x.lasts:
		return time.Time{}
	case x.grant.After(x.request):
		return x.grant
	}
	return x.request
}

// session returns the holdings of a session.
func (l *Ledger) session(id string) *held {
	s := l.sessions[id]
	if s == nil {
		s = &held{asked: map[string]asked{}, unknown: map[string]bool{}, processes: map[runtime.ProcessID]bool{}}
		l.sessions[id] = s
	}
	return s
}

// trim forgets a session that holds nothing.
func (l *Ledger) trim(id string) {
	if s := l.sessions[id]; s != nil && len(s.asked)+len(s.unknown)+len(s.processes) == 0 {
		delete(l.sessions, id)
	}
}

// Last returns the position and the time of the last entry.
func (l *Ledger) Last() (uint64, time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last, l.lastAt
}

// Unsettled returns the sessions with a call whose outcome is unknown, or with a process without a recorded end,
// sorted.
func (l *Ledger) Unsettled() (list []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, s := range l.sessions {
		if len(s.unknown)+len(s.processes) > 0 {
			list = append(list, id)
		}
	}
	slices.Sort(list)
	return list
}

// SessionOf returns the session of a request or a grant, empty when l, which may be nil, has none.
func (l *Ledger) SessionOf(id string) string {
	if l == nil {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.byID[id]
}

// Asked returns the sessions with requests or grants that are kept in mind at an instant and of which has says that
// they are elsewhere, sorted. It forgets the requests and grants whose time is over. l may be nil.
func (l *Ledger) Asked(now time.Time, has func(session string) bool) []string {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	l.forget(now)
	var list []string
	for id, s := range l.sessions {
		if len(s.asked) > 0 {
			list = append(list, id)
		}
	}
	l.mu.Unlock()
	slices.Sort(list)
	return slices.DeleteFunc(list, has)
}

// forget forgets the requests and grants whose time is over.
func (l *Ledger) forget(now time.Time) {
	for session, s := range l.sessions {
		for id, x := range s.asked {
			if until := x.until(); !until.IsZero() && now.After(until) {
				delete(s.asked, id)
				delete(l.byID, id)
			}
		}
		l.trim(session)
	}
}

// Behind returns how many entries are behind the latest checkpoint.
func (l *Ledger) Behind() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last - l.saved
}

// Checkpoint returns what l holds at an instant.
func (l *Ledger) Checkpoint(now time.Time) *journal.Checkpoint {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget(now)
	of := &journal.Checkpoint{Last: l.last}
	for _, id := range slices.Sorted(maps.Keys(l.sessions)) {
		s := l.sessions[id]
		h := journal.Holding{Session: id, Unknown: slices.Sorted(maps.Keys(s.unknown))}
		for _, request := range slices.Sorted(maps.Keys(s.asked)) {
			x := s.asked[request]
			h.Asked = append(h.Asked, journal.HeldUntil{ID: request, Until: x.request, Grant: x.grant, Lasts: x.lasts})
		}
		h.Processes = slices.SortedFunc(maps.Keys(s.processes), func(a, b runtime.ProcessID) int {
			return cmp.Or(cmp.Compare(a.PID, b.PID), cmp.Compare(a.Start, b.Start), cmp.Compare(a.Mark, b.Mark))
		})
		of.Held = append(of.Held, h)
	}
	return of
}

// Saved notes that a checkpoint is durable.
func (l *Ledger) Saved(of *journal.Checkpoint) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.saved = max(l.saved, of.Last)
}
