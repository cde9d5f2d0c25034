package crashtest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
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
		if e.Kind != journal.KindSnapshot && e.Kind != journal.KindCalls {
			s.append(t, e)
		}
		s.at = append(s.at, s.next)
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
	session         string
	opened, outcome uint64 // positions
	past            *rules.PastCall
}

// saidIn returns what the records of a history say of each call, as the rules of e know it.
func saidIn(t *testing.T, entries []journal.Entry, e *rules.Engine) map[string]*said {
	calls, states := map[string]*said{}, map[string]*rules.State{}
	for i := range entries {
		r, err := journal.Decode(entries[i].Leaf)
		require.NoError(t, err)
		if c := calls[r.Call]; r.Mark == journal.MarkOpened && c == nil {
			calls[r.Call] = &said{session: r.Session, opened: entries[i].Seq}
		} else if c != nil && r.Outcome != nil && (r.Mark == journal.MarkEnded || r.Kind == runtime.EventReconciled.String()) {
			c.outcome = entries[i].Seq
		}
		state := states[r.Session]
		if state == nil {
			state = e.NewState()
			states[r.Session] = state
		}
		if r.Kind == journal.KindSessionEnded {
			delete(states, r.Session)
			for _, c := range calls {
				if c.session == r.Session {
					c.past = nil
				}
			}
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
func (w *world) withSnapshots(t *testing.T, entries []journal.Entry, rnd *rand.Rand, engines []*rules.Engine) *snapped {
	s := &snapped{Memory: new(journal.Memory), at: []uint64{0}}
	for i := 0; i < len(entries); i++ {
		if k := entries[i].Kind; k == journal.KindSnapshot || k == journal.KindCalls { // of the program: its positions are those of the store
			s.at = append(s.at, s.next)
			continue
		}
		s.at = append(s.at, s.append(t, entries[i]))
		if rnd.IntN(12) == 0 {
			late := entries[i+1 : min(i+1+rnd.IntN(4), len(entries))]
			s.snap(t, engines[rnd.IntN(len(engines))], w.someSession(rnd), 1+rnd.IntN(8), late)
			i += len(late)
		}
	}
	return s
}

// someSession returns the id of a session of w, empty for what belongs to none.
func (w *world) someSession(rnd *rand.Rand) string {
	if list := w.sessions(); rnd.IntN(3) > 0 {
		return list[rnd.IntN(len(list))].ID
	}
	return ""
}

// snapshot writes a snapshot at times, and at times lets the session leave memory, so that the next step loads it.
func (w *world) snapshot() error {
	if w.snaps.IntN(3) == 0 {
		err := w.perform(func() error {
			w.tally["unloads"] += w.hooks.Unload()
			return nil
		})
		if err != nil {
			return err
		}
	}
	if w.snaps.IntN(6) > 0 {
		return nil
	}
	id := w.someSession(w.snaps)
	return w.perform(func() error {
		err := w.hooks.Snapshot(w.ctx, id, 1+w.snaps.IntN(4)) // it fails when the machine dies
		w.say("snapshot of %q: %v", id, err)
		return nil
	})
}

// sessionIDs returns the ids of all sessions, and that of none.
func (w *world) sessionIDs() (list []string) {
	for _, of := range w.sessions() {
		list = append(list, of.ID)
	}
	return append(list, "")
}

// checkSnapshots compares the sessions as they are read from their snapshots with what all entries say.
func (w *world) checkSnapshots() error {
	compiled, err := ruleinput.Compile(specsWith(nil, func(*runtime.Spec) {}), 0)
	if err != nil {
		return err
	}
	e := compiled.Engine
	all, err := w.whole()
	if err != nil {
		return err
	}
	whole, err := history.Read(w.ctx, all, e, bookKey)
	if err != nil {
		return err
	}
	if err := w.checkHoldings(all, e, whole); err != nil {
		return err
	}
	for _, id := range w.sessionIDs() {
		one, err := history.ReadSession(w.ctx, w.shop, e, bookKey, id)
		if err != nil {
			return err
		}
		if len(one.Ended) > 0 {
			w.tally["calls by reference"]++
		}
		if err := agree(w.remembered(whole, seenIn(one)), one, w.low()); err != nil {
			return fmt.Errorf("session %q, read from its snapshot: %w", id, err)
		}
	}
	return nil
}

// agree compares a session as it is read from its snapshot with what all entries say. No request of the battery expires in its time: all
// are retained.
func agree(whole *history.History, one *history.Single, low uint64) error {
	if one.Over && one.Principal == "" { // all of it is archived: nothing is known but that it has ended
		return nil
	}
	if got, want := one.Book.Snapshot(), whole.Books.Of(one.ID).Snapshot(); !reflect.DeepEqual(got, want) {
		return fmt.Errorf("its book is %+v, and not %+v", got, want)
	}
	if one.ID == "" {
		if !maps.Equal(one.Commands, whole.Commands) {
			return fmt.Errorf("the commands are %v, and not %v", one.Commands, whole.Commands)
		}
		return nil
	}
	of := whole.Sessions[one.ID]
	if of == nil {
		return nil
	}
	if got, want := one.State.Snapshot(), of.State.Snapshot(); !reflect.DeepEqual(got, want) {
		return fmt.Errorf("its rules are %+v, and not %+v", got, want)
	}
	got, want := one.Session, *of
	got.State, want.State = nil, nil
	if !reflect.DeepEqual(got, want) {
		return fmt.Errorf("it is %+v, and not %+v", got, want)
	}
	return agreeOnCalls(slices.DeleteFunc(kept(whole, low), func(c *history.Call) bool { return c.Session != one.ID }), one)
}

// agreeOnCalls is agree for the calls.
func agreeOnCalls(whole []*history.Call, one *history.Single) error {
	full := one.Calls
	for _, c := range whole {
		r, ended := one.Ended[c.ID]
		switch {
		case !ended && (len(full) == 0 || !reflect.DeepEqual(c, full[0])):
			return fmt.Errorf("call %s is not as its entries say", c.ID)
		case !ended:
			full = full[1:]
		case c.Outcome == nil || !reflect.DeepEqual(referred(c), plain(r)):
			return fmt.Errorf("call %s is %+v, and not %+v", c.ID, r, c)
		}
	}
	if len(full) > 0 || len(whole) != len(one.Ended)+len(one.Calls) {
		return fmt.Errorf("it has calls twice, or calls that were not made: %d and %d of %d", len(one.Ended), len(one.Calls), len(whole))
	}
	return nil
}

// referred returns what a reference to a call says, but for positions and rules.
func referred(c *history.Call) journal.EndedCall {
	r := journal.EndedCall{
		Call: c.ID, Kind: c.Outcome.Kind.String(), Run: c.Run, Turn: c.Turn, Agent: c.Agent, Tool: c.Tool, InputMAC: c.InputMAC,
		At: c.Ended, Started: c.Attempts > 0, Undone: c.Undone, Back: c.Outcome.RolledBack,
	}
	if a := c.Outcome.Artifact; a != nil && c.Outcome.Kind == runtime.Completed {
		r.Artifact = &a.ArtifactRef
	}
	return r
}

func plain(r journal.EndedCall) journal.EndedCall {
	r.Opened, r.Outcome, r.Past = 0, 0, nil
	return r
}

// compare requires that what is read from snapshots of s is what all entries say.
func (s *snapped) compare(t *testing.T, entries []journal.Entry, e *rules.Engine, sessions []string) {
	whole, err := history.Read(t.Context(), s, e, bookKey)
	require.NoError(t, err)
	for _, id := range sessions {
		one, err := history.ReadSession(t.Context(), s, e, bookKey, id)
		require.NoError(t, err)
		require.NoError(t, agree(whole, one, 0))
		want := saidIn(t, entries, e)
		for _, r := range one.References() {
			require.Equal(t, []uint64{s.at[want[r.Call].opened], s.at[want[r.Call].outcome]}, []uint64{r.Opened, r.Outcome}, r.Call)
			require.Equal(t, want[r.Call].past, r.Past, r.Call)
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
			entries, err := w.readAll()
			require.NoError(t, err)
			s := w.withSnapshots(t, entries, rnd, engines)
			for range 4 {
				s.compare(t, entries, engines[rnd.IntN(len(engines))], w.sessionIDs())
			}
			one, err := history.ReadSession(t.Context(), s, engines[0], bookKey, session.ID)
			require.NoError(t, err)
			pages, revived, referred, past = pages+s.pages, revived+s.revived, referred+len(one.Ended), past+s.past
		}
		require.NoError(t, w.last())
	}
	n := tries(t, 8, 200)
	for seed := range uint64(n) {
		try(seed)
	}
	t.Logf("%d pages, %d calls by reference, %d from their entries, of which %d had ended for the rules", pages, referred, revived, past)
	if n >= 50 {
		assert.Positive(t, pages)
		assert.Positive(t, referred)
	}
	require.NoError(t, w.store.Close())
	require.NoError(t, m.db.Close())
}
