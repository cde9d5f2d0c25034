package crashtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/ambit-tools/ambit/runtime"
)

// often is how many times more the first two kinds come up, which have the most
// to lose.
const often = 4

var paths = []string{"a", "b", "c/d"}

// step does something with the program, and looks at the files.
func (w *world) step() error {
	w.slow = false
	err := w.snapshot()
	if err == nil {
		err = w.archive()
	}
	if err == nil && !w.m.dead() {
		err = w.erase()
	}
	if err == nil && !w.m.dead() {
		err = w.probe()
	}
	if err == nil {
		err = w.act()
	}
	if err == nil && w.slow {
		err = w.clock.Advance(2 * deadline) // for handlers that were given up
	}
	if err == nil && !w.m.dead() && !w.lost && !w.broken {
		err = errors.Join(w.checkFiles(), w.checkFence())
	}
	return err
}

func (w *world) act() error {
	if done, err := w.forgetfully(); done {
		return err
	}
	waits, puzzles := false, false
	w.m.note(func(m *model) {
		puzzles = slices.ContainsFunc(m.present(), func(k *known) bool { return k.outcome != nil && k.outcome.Kind == runtime.Unknown && !k.found })
		waits = slices.ContainsFunc(m.calls, func(k *known) bool { return k.request != "" && k.outcome == nil && !k.refused && k.run == m.run })
	})
	switch n := w.rng.IntN(20); {
	case waits && n < 8:
		return w.decide()
	case puzzles && n < 4:
		return w.resolve()
	case n < 8:
		return w.execute(1)
	case n < 11:
		return w.execute(2 + w.rng.IntN(2))
	case n < 18:
		return w.takeBack()
	case n < 19:
		w.say("time passes")
		return w.clock.Advance(2 * time.Second)
	}
	if w.rng.IntN(2) == 0 {
		return w.endSession()
	}
	return w.closeRun()
}

func pick(n int) int {
	if n < len(kinds) {
		return n
	}
	return (n - len(kinds)) % 2
}

// newCall makes up a call. Those of a batch write different files.
func (w *world) newCall(m *model, i, of int) *known {
	k := &known{kind: kinds[pick(w.rng.IntN(len(kinds)+often))], run: m.run, id: fmt.Sprint("c", len(m.calls)+1)}
	k.began = w.clock.Now()
	if w.forgetful && k.kind.name == "once" { // which holds for the whole session: a host that has such a tool forgets nothing
		k.kind = kinds[2]
	}
	k.plan.Text = fmt.Sprint(k.kind.name, " ", w.seed, " ", len(m.calls)+1)
	if k.kind.name == "once" { // which has equals
		k.plan.Text = "once"
	}
	if k.kind.files {
		for j, p := range paths {
			if j%of == i && w.rng.IntN(3) > 0 {
				k.plan.Paths = append(k.plan.Paths, p)
			}
		}
	}
	hows := []string{works, works, works, works, works, works, fails, panics, oversleep, exhausted}
	if k.kind.effect {
		hows = append(hows, drags)
	}
	k.plan.How, k.plan.Late = hows[w.rng.IntN(len(hows))], w.rng.IntN(2) == 0
	w.slow = w.slow || k.plan.How == oversleep || k.plan.How == drags
	k.input, _ = json.Marshal(k.plan)
	m.calls = append(m.calls, k)
	m.takeoff(k)
	return k
}

// ids returns the names of calls.
func ids(list []*known) (ids []string) {
	for _, k := range list {
		ids = append(ids, k.id+" "+k.kind.name+" "+k.plan.How)
	}
	return ids
}

func (k *known) call() runtime.Call {
	return runtime.Call{ID: k.id, Tool: k.kind.name, Input: k.input}
}

// execute makes calls, or one that was made before.
func (w *world) execute(n int) error {
	var list []string
	var calls []runtime.Call
	w.m.note(func(m *model) {
		if n == 1 && len(m.calls) > 0 && w.rng.IntN(4) == 0 { // once more
			if k := m.calls[w.rng.IntN(len(m.calls))]; k.run == m.run {
				w.slow = true
				list, calls = []string{k.id}, []runtime.Call{k.call()}
				w.say("again %v", ids([]*known{k}))
				if k.outcome == nil && k.request == "" {
					m.takeoff(k)
				}
				return
			}
		}
		for i := range n {
			k := w.newCall(m, i, n)
			w.reuse(m, k)
			list, calls = append(list, k.id), append(calls, k.call())
			w.say("call %v", ids([]*known{k}))
		}
	})
	var outs []runtime.Outcome
	err := w.perform(func() error {
		switch {
		case len(calls) == 1 && calls[0].ID[len(calls[0].ID)-1]%2 == 0:
			if _, err := w.turn.StartCall(calls[0]); err != nil && w.low() == 0 { // the outcome of an archived call is an error, and Execute says which
				return err
			}
			outs = []runtime.Outcome{w.turn.Execute(w.ctx, calls[0])} // which is the same call
		case len(calls) == 1:
			outs = []runtime.Outcome{w.turn.Execute(w.ctx, calls[0])}
		default:
			outs = w.turn.ExecuteBatch(w.ctx, calls, engine.Parallel)
		}
		return nil
	})
	for i := range outs {
		err = errors.Join(err, w.fetch(list[i], &outs[i]))
	}
	if err != nil {
		return err
	}
	w.m.note(func(m *model) {
		w.aim(8)
		for i := range outs {
			if err == nil {
				err = w.hear(m, m.call(list[i]), &outs[i])
			}
		}
	})
	return err
}

// hear notes the outcome that a caller receives for a call. It must be the one that
// the caller received before.
func (w *world) hear(m *model, k *known, out *runtime.Outcome) error {
	w.say("  %s: %v %v %s", k.id, out.Kind, out.Reason, out.Message)
	if out.Reason == runtime.ReasonJournalUnavailable || out.Reason == runtime.ReasonLeaseLost {
		w.lost = true
		k.refused = true
		return nil // it says nothing of the call
	}
	k.refused = false
	switch {
	case out.Kind == runtime.Pending:
		if k.outcome != nil || k.yes || k.no || k.gone {
			return fmt.Errorf("call %s waits for consent, and was %+v", k.id, k)
		}
		k.request, k.flying = out.RequestID, false
		return nil
	case k.outcome != nil && k.finding != nil && out.Kind != runtime.Unknown:
		if (out.Kind == runtime.Completed) != *k.finding {
			return fmt.Errorf("a person said %t of call %s, which is %v", *k.finding, k.id, out.Kind)
		}
		w.tally["resolved by a person"]++
		k.found = true
		m.told(k, out)
		return nil
	case k.outcome != nil:
		return same(k, out)
	}
	if err := w.plausible(k, out); err != nil {
		return err
	}
	w.broken = w.broken || w.faulty && len(k.plan.Paths) > 0 && started(out) && out.Kind != runtime.Completed
	m.told(k, out)
	return nil
}

// closeRun closes the run and starts another one.
func (w *world) closeRun() error {
	w.m.note(func(m *model) { m.closing = true })
	err := w.perform(func() error { return w.run.Close(w.ctx) })
	w.say("close: %v", err)
	if err != nil {
		if w.faulty {
			w.lost, err = true, nil
		}
		return err
	}
	w.m.note(func(m *model) { m.run, m.closing = "", false })
	return w.startRun()
}

// startRun goes on with the run that is open, or starts one.
func (w *world) startRun() error {
	var id string
	w.m.note(func(m *model) { id = m.run })
	s := w.exec.Session(w.session())
	run, open := s.Run(id)
	if !open {
		var err error
		w.m.note(func(m *model) {
			m.runs++
			id = fmt.Sprint("r", m.runs)
			if m.run != "" && !m.closing && slices.ContainsFunc(m.calls, func(k *known) bool { return k.run == m.run && k.outcome != nil }) {
				err = fmt.Errorf("the run %s is gone", m.run)
			}
		})
		if err != nil {
			return err
		}
		if run, err = s.StartRun(w.ctx, engine.RunConfig{ID: id}); err != nil {
			if w.lost {
				return nil
			}
			return err
		}
		w.m.note(func(m *model) { m.run, m.closing = id, false })
	}
	w.run, w.turn = run, run.Turn(engine.TurnConfig{})
	return nil
}
