package engine

import (
	"slices"
	"sync/atomic"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// keepRecent is how many calls that have ended stay in memory: their outcomes are the ones most often asked for.
const keepRecent = 16

// An entryPlaces is where the journal has a call, and why its record stays in memory.
type entryPlaces struct {
	opened, outcome uint64 // as in a reference; 0: the journal has no such entry
	input           callDigest
	lost            atomic.Bool // an entry could not take what the call has
	holders         int         // that use the record; guarded by the session, as all that follows
	rests           bool        // it is one of the recent ones
}

// Recorded notes that an entry of the call was added to the journal, at a position. The lock of the call is held, and
// that of its session for an outcome.
func (r *callRecord) Recorded(of *journal.Record, position uint64) {
	switch {
	case of.Mark == journal.MarkOpened:
		r.place.opened, r.place.input = position, callDigestOf(of.InputMAC)
	case of.Mark == journal.MarkEnded, of.Kind == runtime.EventReconciled.String():
		r.place.outcome = position
	}
	if of.Lost != "" {
		r.place.lost.Store(true)
	}
}

// Needs returns the position of the first entry of a call that has an outcome, 0 where none is recorded or an undo does not need
// it, because the call was undone. The lock of the session is held.
func (r *callRecord) Needs() uint64 {
	if r.place.outcome == 0 || r.Undo.Done {
		return 0
	}
	return r.place.opened
}

// Concluded returns the position of the entry with the outcome of a call, 0 where none is recorded. The lock of the session is held.
func (r *callRecord) Concluded() uint64 { return r.place.outcome }

// addEnded adds a call of the journal that has ended.
func (m *memory) addEnded(of *history.Reference) {
	m.number = max(m.number, of.Number)
	c := endedCallOf(&of.EndedCall, of.Number)
	m.made = max(m.made, madeNumber(callPrefix, of.Call))
	run := m.Calls(of.Run)
	run.some = true
	run.Restore(of.Turn, of.Agent)
	m.ended.Put(&c)
}

// Reference returns a call that is held by reference, nil when there is none.
func (m *memory) Reference(id string) *endedCall {
	if c, ok := m.ended.Find(id); ok {
		return &c
	}
	return nil
}

// endedRecord returns the record of a call that is held by reference, as the journal has it: for the caller alone, until
// Hold adds it.
func endedRecord(s *sched.Scheduler, c *endedCall, of *history.Call) *callRecord {
	r := restoredRecord(of)
	r.Number = c.Number
	r.Store(of.Outcome)
	r.RestoreUndo(of)
	r.Undo.Done, r.Undo.Busy = c.Undone || of.Undone, of.Undo != nil
	s.Fire(&r.First)
	return r
}

// RestoreUndo sets of the state of the undo what the journal says of a call with an outcome. Whether the undo is
// possible is for its tool to say: Possible says that the call has something to undo.
func (r *callRecord) RestoreUndo(of *history.Call) {
	r.Undo.Done, r.ran = of.Undone, everRan(of.Outcome.Kind, of.Attempts)
	if r.ran && !of.Undone && !of.Outcome.RolledBack {
		r.Undo.Possible, r.Undo.Ended = true, of.Ended
	}
}

// everRan reports whether the handler of a call with an outcome ran in one of so many attempts. One that was denied in its first attempt could not be
// recorded, or found no room for its program.
func everRan(kind runtime.OutcomeKind, attempts int) bool {
	return attempts > 1 || attempts == 1 && kind != runtime.Denied
}

// Hold holds the record of a call, which stays in memory until LetGo. It adds r, which was read for was, when the
// call is held by reference. nil: the call has changed meanwhile, and is to be read again.
func (m *memory) Hold(r *callRecord, was *endedCall) *callRecord {
	held := m.calls.find(r.ID)
	if held == nil {
		now := m.Reference(r.ID)
		if now == nil || now.Outcome != was.Outcome || now.Undone != was.Undone {
			return nil
		}
		m.ended.Take(r.ID)
		m.calls.putIfAbsent(r)
		m.Calls(was.Run).add(r)
		held = r
	}
	held.place.holders++
	return held
}

// Keep is Hold for a record that Find has returned.
func (m *memory) Keep(r *callRecord) { r.place.holders++ }

// LetGo ends a Hold, or a Keep.
func (m *memory) LetGo(r *callRecord, quiet func(*call) bool) {
	r.place.holders--
	m.Rest(r, quiet)
}

// Has reports whether a record, or the reference that it was read for, is what the session has under its id. nil: no.
func (m *memory) Has(r *callRecord) bool {
	if r == nil {
		return false
	}
	if now := m.calls.find(r.ID); now != nil {
		return now == r
	}
	was := m.Reference(r.ID)
	return was != nil && was.Opened == r.place.opened
}

// Free forgets a call that is Vain, so that its id may be used again, if the session has it still and it is not being undone.
func (m *memory) Free(r *callRecord) {
	switch {
	case !m.Has(r), r.Undo.Busy, r.Undo.Done:
	case m.calls.find(r.ID) == nil:
		m.ended.Take(r.ID)
	default:
		m.calls.remove(r)
		r.run.remove(r)
		m.recent = slices.DeleteFunc(m.recent, func(one *callRecord) bool { return one == r })
	}
}

// Rest says that nothing is being done with the call of r, and that its outcome, if it has one, is durable: it is held by reference as
// soon as others have ended after it. quiet reports whether no code of a call runs any more.
func (m *memory) Rest(r *callRecord, quiet func(*call) bool) {
	if r.place.opened == 0 || r.place.outcome == 0 || r.place.rests || m.calls.find(r.ID) != r {
		return
	}
	r.place.rests = true
	m.recent = append(m.recent, r)
	for tries := 2; tries > 0 && len(m.recent) > keepRecent; tries-- { // two: a record that has to stay is passed over
		first := m.recent[0]
		m.recent[0] = nil
		m.recent = m.recent[1:]
		if !m.refer(first, quiet) {
			m.recent = append(m.recent, first)
		}
	}
}

// refer replaces a record by a reference, unless something is being done with its call, or its outcome is unknown, or the journal does
// not have all of it.
func (m *memory) refer(r *callRecord, quiet func(*call) bool) bool {
	kind := r.Kind()
	if r.place.holders > 0 || r.place.lost.Load() || r.Undo.Busy || kind == runtime.Unknown || !quiet(r.Live) {
		return false
	}
	c := endedCall{
		ID: r.ID, Tool: r.Tool, Run: r.run.run, Number: r.Number, Opened: r.place.opened, Outcome: r.place.outcome, Kind: kind,
		Input: r.place.input, Started: r.Undo.Possible, Undone: r.Undo.Done, Back: r.RolledBack(),
	}
	if a := r.Artifact(); a != nil {
		c.Artifact = &a.ArtifactRef
	}
	m.ended.Put(&c)
	m.calls.remove(r)
	r.run.remove(r)
	r.place.rests = false
	return true
}
