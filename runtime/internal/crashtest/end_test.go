package crashtest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/engine"
)

// A session ends at times, and the world goes on in another one.

// present returns the calls of the present session that are not forgotten.
func (m *model) present() []*known {
	return slices.DeleteFunc(slices.Clone(m.calls), func(k *known) bool { return k.over || k.forgot })
}

// quiet reports whether each call of the present session has told its outcome, or waits for an answer that was not
// given: what becomes of any other call cannot be asked for once the session has ended.
func (m *model) quiet() bool {
	return !slices.ContainsFunc(m.present(), func(k *known) bool {
		waits := k.request != "" && !k.yes && !k.no && !k.gone
		return k.flying || k.refused || k.undoing || k.finding != nil && !k.found || k.outcome == nil && !waits
	})
}

func (w *world) ending() (is bool) {
	w.m.note(func(m *model) { is = m.ending })
	return is
}

// hasEnded reports whether an outcome says that the session of its call has ended.
func hasEnded(out *runtime.Outcome) bool {
	return out.Reason == runtime.ReasonRunFinished && strings.HasPrefix(out.Message, "the session has ended")
}

// endSession ends the session and goes on in another one.
func (w *world) endSession() error {
	quiet := false
	w.m.note(func(m *model) {
		if quiet = m.ending || m.quiet(); quiet {
			m.closing, m.ending, m.grants = true, true, nil
		}
	})
	if !quiet {
		return w.closeRun()
	}
	of := w.session()
	err := w.perform(func() error { return w.exec.Session(of).End(w.ctx) })
	w.say("end of session %s: %v", of.ID, err)
	if err != nil {
		if w.faulty {
			w.lost, err = true, nil
		}
		return err
	}
	w.tally["ended sessions"]++
	w.m.note(func(m *model) {
		w.aim(2)
		m.run, m.closing, m.ending = "", false, false
		m.ended++
		for _, k := range m.calls {
			k.over = true
		}
	})
	return w.startRun()
}

// begunAgain goes on after a recovery: a session that was to be ended is.
func (w *world) begunAgain() error {
	if !w.ending() {
		return w.startRun()
	}
	w.tally["crash of an end"]++
	return w.endSession()
}

// checkEnded requires that the sessions that have ended refuse everything, and have nothing that can be answered.
func (w *world) checkEnded() error {
	var calls []*known
	var left int
	w.m.note(func(m *model) {
		left = m.ended
		calls = slices.DeleteFunc(slices.Clone(m.calls), func(k *known) bool { return !k.over })
	})
	ended := map[string]bool{}
	for _, of := range w.sessions()[:left] {
		ended[of.ID] = true
		s := w.exec.Session(of)
		if _, err := s.StartRun(w.ctx, engine.RunConfig{}); err == nil || !strings.Contains(err.Error(), "the session has ended") {
			return fmt.Errorf("session %s has ended, and a run of it starts: %w", of.ID, err)
		}
		for _, k := range calls {
			if _, err := s.Undo(w.ctx, action.UndoRequest{CallID: k.id, By: runtime.ProgramActor("alice")}); !isExpired(err) {
				return fmt.Errorf("the session of call %s has ended, and its undo is %w", k.id, err)
			}
			out := s.Await(w.ctx, k.id)
			if unknown := k.outcome != nil && k.outcome.Kind == runtime.Unknown; !hasEnded(&out) && !(unknown && out.Kind == runtime.Unknown) {
				return fmt.Errorf("the session of call %s has ended, and it is %v %v", k.id, out.Kind, out.Reason)
			}
		}
	}
	for _, r := range w.exec.Requests() {
		if ended[r.Session] {
			return fmt.Errorf("session %s has ended, and request %s is open", r.Session, r.ID)
		}
	}
	for _, g := range w.exec.Grants(action.GrantFilter{Live: true}) {
		if ended[g.Session] {
			return fmt.Errorf("session %s has ended, and grant %s lives", g.Session, g.ID)
		}
	}
	return nil
}

func isExpired(err error) bool {
	_, code := action.ResultOf(err)
	return code == action.CodeExpired
}
