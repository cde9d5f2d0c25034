package crashtest

import (
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// Archives of forgetful worlds forget calls that ended before a time, and later calls have their ids.

// forget returns the time before which the next archive forgets calls, zero for none, and notes which calls these can be. The
// snapshots forget them before the entries are archived, so they may be forgotten although the archive fails.
func (w *world) forget() (before time.Time) {
	if !w.forgetful || w.forgets.IntN(4) == 0 {
		return before
	}
	before = w.clock.Now().Add(-time.Duration(w.forgets.IntN(6)) * time.Minute)
	w.m.note(func(m *model) {
		if before.After(m.forgotten) {
			m.forgotten = before
		}
		for _, k := range m.present() {
			k.mayForget = k.mayForget || (k.outcome != nil || k.request != "") && k.began.Before(before) && k.run != m.run
		}
	})
	return before
}

// freed notes that a call is forgotten. The lock of the machine is held.
func (w *world) freed(k *known) {
	w.tally["forgotten calls"]++
	w.say("%s is forgotten", k.id)
	k.forgot, k.undoing, k.flying = true, false, false
}

// probe asks at times for a call that may be forgotten.
func (w *world) probe() error {
	if !w.forgetful || w.forgets.IntN(2) > 0 {
		return nil
	}
	var list []*known
	w.m.note(func(m *model) {
		for _, k := range m.present() {
			if k.mayForget {
				list = append(list, k)
			}
		}
	})
	if len(list) == 0 {
		return nil
	}
	k := list[w.forgets.IntN(len(list))]
	var out runtime.Outcome
	err := w.perform(func() error {
		out = w.exec.Session(w.session()).Await(w.ctx, k.id)
		return nil
	})
	if err == nil {
		err = w.fetch(k.id, &out)
	}
	if err != nil || w.m.dead() {
		return err
	}
	w.m.note(func(m *model) {
		if out.Message == noCall {
			w.freed(k)
			return
		}
		err = w.hear(m, k, &out)
	})
	if err != nil || w.lost || k.forgot || w.forgets.IntN(2) > 0 {
		return err
	}
	return w.misuse(k)
}

// misuse makes another call with the id of one that its session has in memory, though an archive may have forgotten it.
func (w *world) misuse(k *known) error {
	var out runtime.Outcome
	err := w.perform(func() error {
		out = w.turn.Execute(w.ctx, runtime.Call{ID: k.id, Tool: "send", Input: []byte(`{"text":"another"}`)})
		return nil
	})
	w.say("another call with the id %s: %v %v", k.id, out.Kind, out.Reason)
	switch {
	case err != nil || w.m.dead():
		return err
	case out.Reason == runtime.ReasonJournalUnavailable:
		w.lost = true
	case out.Reason != runtime.ReasonCallIDReused:
		return fmt.Errorf("another call with the id of %s is %v %v", k.id, out.Kind, out.Reason)
	}
	w.tally["ids that are refused to another call"]++
	return nil
}

// noCall is what a program says of an id that no call has.
const noCall = "there is no such call in this session"

// reuse gives a new call at times the id of one that is forgotten. The lock of the machine is held.
func (w *world) reuse(m *model, k *known) {
	if free := m.free(); len(free) > 0 && w.forgets.IntN(3) > 0 {
		k.id = free[w.forgets.IntN(len(free))]
		w.tally["ids of forgotten calls that ran again"]++
	}
}

// free returns the ids of the present session that are forgotten.
func (m *model) free() (list []string) {
	for _, k := range m.calls {
		if k.forgot && !k.over && m.call(k.id) == k {
			list = append(list, k.id)
		}
	}
	return list
}

// forgetfully does at times what makes calls be forgotten and their ids be used again: calls of an open run stay. It reports whether it
// did something.
func (w *world) forgetfully() (done bool, err error) {
	if !w.forgetful || w.forgets.IntN(3) > 0 {
		return false, nil
	}
	again := false
	w.m.note(func(m *model) { again = len(m.free()) > 0 })
	if again {
		return true, w.execute(1)
	}
	return true, w.closeRun()
}

// A sight is a call that a program knows.
type sight struct {
	journal.CallKey
	opened uint64
}

// seenIn returns the calls that a session has.
func seenIn(one *history.Single) map[sight]bool {
	seen := map[sight]bool{}
	for _, c := range one.Calls {
		seen[sight{journal.CallKey{Session: one.ID, Call: c.ID}, c.Opened}] = true
	}
	for id, c := range one.Ended {
		seen[sight{journal.CallKey{Session: one.ID, Call: id}, c.Opened}] = true
	}
	return seen
}

// seenInAll returns the calls that some sessions have.
func seenInAll(some *history.History) map[sight]bool {
	seen := map[sight]bool{}
	for _, c := range some.Calls {
		seen[sight{journal.CallKey{Session: c.Session, Call: c.ID}, c.Opened}] = true
	}
	for id, of := range some.Sessions {
		for _, c := range of.ByReference {
			seen[sight{journal.CallKey{Session: id, Call: c.Call}, c.Opened}] = true
		}
	}
	return seen
}

// remembered returns a history without the calls that no program has seen and that may be forgotten: they ended before the time, and
// their runs are closed.
func (w *world) remembered(whole *history.History, seen map[sight]bool) *history.History {
	var before time.Time
	w.m.note(func(m *model) { before = m.forgotten })
	left := *whole
	left.Calls = nil
	for _, c := range whole.Calls {
		_, open := whole.Sessions[c.Session].Open[c.Run]
		forgotten := c.Outcome != nil && c.Ended.Before(before) && !open && !c.Lives()
		if !forgotten || seen[sight{journal.CallKey{Session: c.Session, Call: c.ID}, c.Opened}] {
			left.Calls = append(left.Calls, c)
		}
	}
	return &left
}
