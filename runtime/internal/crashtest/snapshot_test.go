package crashtest

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/internal/ruleinput"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// A snapped is a history into which snapshots and pages were put.
type snapped struct {
	*journal.Memory
	next    uint64
	at      []uint64 // by position in the history, from 1: the position here
	pages   int
	revived int // calls that were read from their entries
	past    int // live calls in snapshots that the rules held against later ones by then
}

func (s *snapped) append(t *testing.T, e journal.Entry) uint64 {
	s.next++
	e.Seq = s.next
	require.NoError(t, s.Append(t.Context(), []journal.Entry{e}))
	return e.Seq
}

// snap puts a snapshot of a session behind the history so far, and sometimes a page before it. Entries that are
// appended between the reading and the writing lie between: late says how many.
func (s *snapped) snap(t *testing.T, e *rules.Engine, id string, least int, late []journal.Entry) {
	of, err := history.ReadSession(t.Context(), s, e, bookKey, id)
	require.NoError(t, err)
	s.revived += len(of.Calls)
	for _, e := range late {
		s.at = append(s.at, s.append(t, e))
	}
	var page uint64
	if r := of.Page(time.Unix(1, 0).UTC(), least); r != nil && id != "" {
		s.pages++
		page = s.record(t, r)
	}
	r := of.Snapshot(time.Unix(1, 0).UTC(), page)
	for _, c := range r.Snapshot.Live {
		if c.Past != nil {
			s.past++
		}
	}
	s.record(t, r)
}

// A said is what the records of a call say of it.
type said struct {
	opened, outcome uint64 // positions
	past            *rules.PastCall
}

// saidIn returns what the records of a history say of each call, as the rules of e know it.
func saidIn(t *testing.T, entries []journal.Entry, e *rules.Engine) map[string]*said {
	calls, state := map[string]*said{}, e.NewState()
	for i := range entries {
		r, err := journal.Decode(entries[i].Leaf)
		require.NoError(t, err)
		if c := calls[r.Call]; r.Mark == journal.MarkOpened && c == nil {
			calls[r.Call] = &said{opened: entries[i].Seq}
		} else if c != nil && r.Outcome != nil && (r.Mark == journal.MarkEnded || r.Kind == runtime.EventReconciled.String()) {
			c.outcome = entries[i].Seq
		}
		for k := range r.Rules {
			ev := &r.Rules[k]
			require.NoError(t, state.Apply(ev))
			if past, ended := state.Ended(); ended {
				calls[ev.Call].past = &past
			} else if ev.Kind == rules.EventUndone {
				calls[ev.Call].past = nil
			}
		}
	}
	return calls
}

func (s *snapped) record(t *testing.T, r *journal.Record) uint64 {
	e, err := journal.NewEntry(s.next+1, r, nil)
	require.NoError(t, err)
	return s.append(t, e)
}

var bookKey = []byte("a key")

// rulesUnder returns the rules of the tools with one of them, or all, changed.
func rulesUnder(t *testing.T, of *kind, change func(*runtime.Spec)) *rules.Engine {
	specs := specsWith(of, change)
	compiled, err := ruleinput.Compile(specs, 0)
	require.NoError(t, err)
	return compiled.Engine
}

// withSnapshots returns a history with snapshots at random positions, each made under random declarations.
func withSnapshots(t *testing.T, entries []journal.Entry, rnd *rand.Rand, engines []*rules.Engine) *snapped {
	s := &snapped{Memory: new(journal.Memory), at: []uint64{0}}
	for i := 0; i < len(entries); i++ {
		s.at = append(s.at, s.append(t, entries[i]))
		if rnd.IntN(12) == 0 {
			late := entries[i+1 : min(i+1+rnd.IntN(4), len(entries))]
			s.snap(t, engines[rnd.IntN(len(engines))], []string{session.ID, session.ID, ""}[rnd.IntN(3)], 1+rnd.IntN(8), late)
			i += len(late)
		}
	}
	return s
}

// compare requires that what is read from snapshots of s is what all entries say.
func (s *snapped) compare(t *testing.T, entries []journal.Entry, e *rules.Engine) {
	whole, err := history.Read(t.Context(), s, e, bookKey)
	require.NoError(t, err)
	for _, id := range []string{session.ID, ""} {
		one, err := history.ReadSession(t.Context(), s, e, bookKey, id)
		require.NoError(t, err)
		require.Equal(t, whole.Books.Of(id).Snapshot(), one.Book.Snapshot())
		if id == "" {
			require.Equal(t, whole.Commands, one.Commands)
			continue
		}
		want := saidIn(t, entries, e)
		for _, r := range one.References() {
			require.Equal(t, []uint64{s.at[want[r.Call].opened], s.at[want[r.Call].outcome]}, []uint64{r.Opened, r.Outcome}, r.Call)
			require.Equal(t, want[r.Call].past, r.Past, r.Call)
		}
		of := whole.Sessions[id]
		if of == nil {
			require.Zero(t, one.Last)
			continue
		}
		require.Equal(t, of.State.Snapshot(), one.State.Snapshot())
		of.State, one.State = nil, nil
		require.Equal(t, of, &one.Session)
		calls := map[string]*history.Call{}
		for _, c := range whole.Calls {
			calls[c.ID] = c
		}
		require.True(t, slices.IsSortedFunc(one.Calls, func(a, b *history.Call) int {
			return slices.Index(whole.Calls, calls[a.ID]) - slices.Index(whole.Calls, calls[b.ID])
		}))
		for _, c := range one.Calls {
			require.Equal(t, calls[c.ID], c)
			delete(calls, c.ID)
		}
		require.ElementsMatch(t, slices.Collect(maps.Keys(one.Ended)), slices.Collect(maps.Keys(calls)))
		for id, c := range calls {
			require.NotNil(t, c.Outcome, id)
			r := one.Ended[id]
			require.Equal(t, []any{c.Outcome.Kind.String(), c.Undone, c.Run, c.Turn, c.Agent, c.Tool, c.InputMAC, c.Ended, c.Attempts > 0, c.Outcome.RolledBack},
				[]any{r.Kind, r.Undone, r.Run, r.Turn, r.Agent, r.Tool, r.InputMAC, r.At, r.Started, r.Back}, id)
		}
	}
}

// TestASnapshotAndItsTailAreTheFold: histories of the battery are read from snapshots that were made at random
// positions under random declarations, under every change of a declaration.
func TestASnapshotAndItsTailAreTheFold(t *testing.T) {
	m, err := newMachine()
	require.NoError(t, err)
	w, err := newWorld(t.Context(), m)
	require.NoError(t, err)
	var engines []*rules.Engine
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		for _, k := range append([]*kind{nil}, kinds...) {
			engines = append(engines, rulesUnder(t, k, changes[name]))
		}
	}
	pages, revived, referred, past := 0, 0, 0, 0
	try := func(seed uint64) {
		defer func() {
			if t.Failed() {
				t.Logf("seed %d: a snapshot and what follows it are not the fold", seed)
			}
		}()
		rnd := rand.New(rand.NewPCG(seed, 9))
		require.NoError(t, w.fresh(seed))
		for range crashes {
			require.NoError(t, w.life())
			w.m.restart()
			entries, err := w.store.Read(t.Context(), 0, 1<<20)
			require.NoError(t, err)
			s := withSnapshots(t, entries, rnd, engines)
			for range 4 {
				s.compare(t, entries, engines[rnd.IntN(len(engines))])
			}
			one, err := history.ReadSession(t.Context(), s, engines[0], bookKey, session.ID)
			require.NoError(t, err)
			pages, revived, referred, past = pages+s.pages, revived+s.revived, referred+len(one.Ended), past+s.past
		}
		require.NoError(t, w.last())
	}
	for seed := range uint64(tries(t, 8, 200)) {
		try(seed)
	}
	t.Logf("%d pages, %d calls by reference, %d from their entries, of which %d had ended for the rules", pages, referred, revived, past)
	assert.Positive(t, pages)
	assert.Positive(t, referred)
	require.NoError(t, w.store.Close())
	require.NoError(t, m.db.Close())
}
