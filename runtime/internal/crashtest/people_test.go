package crashtest

import (
	"errors"
	"fmt"

	"github.com/ambit-tools/ambit/runtime/consent"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
)

// What people do with calls: they answer, cancel, undo, and say what became of them.

// decide answers a request.
func (w *world) decide() error {
	var id, request string
	w.m.note(func(m *model) {
		for _, k := range m.calls {
			if k.request != "" && k.outcome == nil && !k.refused && k.run == m.run {
				id, request = k.id, k.request
				w.slow = w.slow || k.plan.How == oversleep || k.plan.How == drags
				m.takeoff(k)
				break
			}
		}
	})
	if id == "" {
		return w.execute(1)
	}
	if w.rng.IntN(6) == 0 {
		return w.withdraw(id)
	}
	answer := action.Answer{By: runtime.ProgramActor("alice"), Approve: w.rng.IntN(4) > 0}
	if answer.Approve && w.rng.IntN(4) == 0 {
		answer.Grant, answer.Cover = consent.ForSession, runtime.CoverTool
	}
	ctx, cancel := w.ctxFor(w.rng.IntN(2) == 0)
	defer cancel()
	var res action.Resolution
	err := w.perform(func() error {
		res = w.exec.Decide(ctx, request, answer)
		w.m.note(func(m *model) {
			w.aim(3)
			if k := m.call(id); res.Kind == runtime.ResolutionAccepted {
				k.yes, k.no = answer.Approve, !answer.Approve
				if res.Granted != nil {
					m.grants = append(m.grants, res.Granted.ID)
				}
			}
		})
		return nil
	})
	w.say("decide %s: %v: %v %v", id, answer.Approve, res.Kind, res.Reason)
	switch {
	case err != nil:
		return err
	case res.Kind != runtime.ResolutionAccepted && res.Reason.String() == "journal_unavailable":
		w.lost = true
		return nil
	case res.Kind != runtime.ResolutionAccepted && res.Reason.String() == "already_resolved" && w.withdrawn(id): // and was when there was room
		w.m.note(func(m *model) { m.call(id).gone = true })
		return w.ask(id)
	case res.Kind != runtime.ResolutionAccepted:
		return fmt.Errorf("the answer to the request of %s is %v %v", id, res.Kind, res.Reason)
	}
	return w.ask(id)
}

// resolve says what became of an unknown call.
func (w *world) resolve() error {
	var id string
	happened, tried := false, false
	w.m.note(func(m *model) {
		for _, k := range m.present() {
			if k.outcome != nil && k.outcome.Kind == runtime.Unknown {
				id, happened, tried = k.id, k.effects > 0, k.finding != nil
				k.finding = &happened
			}
		}
	})
	if id == "" {
		return w.execute(1)
	}
	var res error
	err := w.perform(func() error {
		res = w.exec.Resolve(w.ctx, w.session().ID, id, action.ResolveRequest{TookEffect: happened, By: runtime.ProgramActor("alice")})
		return nil
	})
	result, code := action.ResultOf(res)
	w.say("resolve %s: %t: %v %v", id, happened, result, code)
	switch {
	case err != nil:
		return err
	case code == action.CodeJournalUnavailable:
		w.lost = true
		return nil
	case tried && code == action.CodeNotUnknown: // an earlier one was told that it was not recorded, and was when there was room
	case res != nil:
		return fmt.Errorf("resolve of call %s: %w", id, res)
	}
	w.m.note(func(m *model) {
		w.aim(3)
		m.call(id).found = true
	})
	return w.ask(id)
}

// withdraw cancels a call that waits for consent.
func (w *world) withdraw(id string) error {
	var res error
	err := w.perform(func() error {
		res = w.exec.Cancel(w.ctx, w.session().ID, id, runtime.ProgramActor("alice"), "")
		return nil
	})
	result, code := action.ResultOf(res)
	w.say("cancel %s: %v %v", id, result, code)
	switch {
	case err != nil:
		return err
	case code == action.CodeJournalUnavailable:
		w.lost = true
		w.m.note(func(m *model) { m.call(id).withdrawn = true })
		return nil
	case res != nil:
		return fmt.Errorf("cancel of call %s: %w", id, res)
	}
	w.tally["cancelled"]++
	w.m.note(func(m *model) {
		w.aim(3)
		m.call(id).gone = true
	})
	return w.ask(id)
}

// withdrawn reports whether a cancel of a call was told that it is not recorded.
func (w *world) withdrawn(id string) (is bool) {
	w.m.note(func(m *model) { is = m.call(id).withdrawn })
	return is
}

// ask asks for the outcome of a call, and has it.
func (w *world) ask(id string) error {
	var out runtime.Outcome
	err := w.perform(func() error {
		out = w.exec.Session(w.session()).Await(w.ctx, id)
		return nil
	})
	if err = errors.Join(err, w.fetch(id, &out)); err != nil {
		return err
	}
	w.m.note(func(m *model) { err = w.hear(m, m.call(id), &out) })
	return err
}

// takeBack undoes a call.
func (w *world) takeBack() error {
	var list []*known
	w.m.note(func(m *model) {
		for _, k := range m.present() {
			if k.kind.name == "put" && !k.mayForget && k.outcome != nil && k.outcome.Kind == runtime.Completed && !k.undone && !k.found {
				list = append(list, k)
			}
		}
	})
	if len(list) == 0 {
		return w.execute(1)
	}
	return w.undoCall(list[w.rng.IntN(len(list))].id)
}

// undoCall undoes a call that has completed.
func (w *world) undoCall(id string) error {
	drifts, again := false, false
	w.m.note(func(m *model) {
		k := m.call(id)
		again = k.undoing
		drifts = !k.undoing && !m.intact(k)
		k.undoing = k.undoing || !drifts
	})
	var res error
	err := w.perform(func() error {
		_, res = w.exec.Session(w.session()).Undo(w.ctx, action.UndoRequest{CallID: id, By: runtime.ProgramActor("alice")})
		return nil
	})
	result, code := action.ResultOf(res)
	w.say("undo %s: %v %v", id, result, code)
	code, bad := w.fate(id, code)
	if err = errors.Join(err, bad); err != nil {
		return err
	}
	w.m.note(func(m *model) {
		w.aim(3)
		k := m.call(id)
		switch {
		case err != nil:
		case code == action.CodeJournalUnavailable:
			w.lost = true
		case !drifts && w.faulty && code == action.CodeUnknown: // it goes on when there is room
			w.lost = true
		case drifts && code == action.CodeDrift:
		case !drifts && !k.undone && (res == nil || again && code == action.CodeAlreadyUndone):
			m.reverted(k)
		case code == action.CodeNotUndoable:
			k.undoing = false
		case w.faulty && (code == action.CodeHandlerError || code == action.CodeCommitFailed):
			w.broken = true
		default:
			err = fmt.Errorf("the undo of %s is %v %v, drift: %t", id, result, code, drifts)
		}
	})
	return err
}
