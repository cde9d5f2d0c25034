package crashtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"slices"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/store/audit"
)

var session = engine.SessionConfig{ID: "s", Principal: "agent"}

// sessions returns the sessions of a world: those that have ended, and the present one.
func (w *world) sessions() (list []engine.SessionConfig) {
	w.m.note(func(m *model) {
		for i := range m.ended + 1 {
			of := session
			if i > 0 {
				of.ID = fmt.Sprint(session.ID, i+1)
			}
			list = append(list, of)
		}
	})
	return list
}

// session returns the present session.
func (w *world) session() engine.SessionConfig {
	list := w.sessions()
	return list[len(list)-1]
}

// ctxFor returns a context, which has ended when the caller is not patient.
func (w *world) ctxFor(patient bool) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(w.ctx)
	if !patient {
		cancel()
	}
	return ctx, cancel
}

// check checks the program, which has recovered, against what is known outside.
func (w *world) check() error {
	if err := errors.Join(w.settled(), w.checkProcesses()); err != nil {
		return err
	}
	var all []*known
	w.m.note(func(m *model) { all = m.present() })
	waiting := map[string]string{} // request by call
	for _, r := range w.exec.Requests() {
		waiting[r.CallID] = r.ID
	}
	outs := make([]runtime.Outcome, len(all))
	err := w.perform(func() error {
		for i, k := range all {
			if waiting[k.id] == "" {
				outs[i] = w.exec.Session(w.session()).Await(w.ctx, k.id)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, k := range all {
		if err := w.fetch(k.id, &outs[i]); err != nil {
			return err
		}
		if err := w.checkCall(k, waiting[k.id], &outs[i]); err != nil {
			return fmt.Errorf("call %s of %s: %w", k.id, k.kind.name, err)
		}
	}
	for _, k := range all {
		if (k.undoing || k.undone) && !k.forgot {
			if err := w.checkUndo(k); err != nil {
				return fmt.Errorf("undo of call %s: %w", k.id, err)
			}
		}
	}
	if err := w.begunAgain(); err != nil || w.lost {
		return err
	}
	return errors.Join(w.checkFiles(), w.checkEnded(), w.checkGrants(), w.checkRules(), w.checkAudit(), w.checkSnapshots())
}

// settled requires that nothing is left open at the workspace.
func (w *world) settled() error {
	left, err := w.ws.Unsettled(w.ctx)
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("%v is unsettled after the recovery", left)
	}
	return err
}

// checkCall compares what the program knows of a call with what is known.
func (w *world) checkCall(k *known, request string, out *runtime.Outcome) (err error) {
	if request != "" {
		w.m.note(func(*model) {
			switch {
			case k.outcome != nil || k.yes || k.no || k.gone:
				err = fmt.Errorf("it waits for consent again, after %+v", k)
			case k.request != "" && k.request != request:
				err = fmt.Errorf("it has the request %q, told was %q", request, k.request)
			case k.effects > 0:
				err = errors.New("its handler ran without consent")
			default:
				w.count(k, "waits for consent")
				k.request, k.flying, k.refused = request, false, false
			}
		})
		return err
	}
	if a := out.Artifact; a != nil {
		text, err := w.exec.Artifact(w.ctx, a.ArtifactRef)
		if err != nil || !bytes.Contains(text, []byte(k.plan.Text+" "+k.plan.Text)) {
			return fmt.Errorf("its output is gone: %q, %w", text, err)
		}
	}
	w.m.note(func(m *model) {
		if m.ending && hasEnded(out) {
			w.count(k, "its session has ended")
			return
		}
		if out.Message == noCall {
			switch {
			case k.mayForget:
				w.freed(k)
			case k.outcome != nil || k.request != "":
				err = errors.New("nothing is known of it any more")
			case k.effects > 0:
				err = errors.New("nothing is known of it, and its handler has run")
			default: // it was never made
				w.count(k, "never made")
				k.flying, k.refused = false, false
			}
			return
		}
		if k.no && out.Reason != runtime.ReasonConsentDenied && out.Reason != runtime.ReasonInterrupted && out.Reason != runtime.ReasonRunClosed ||
			k.yes && (out.Reason == runtime.ReasonConsentDenied || out.Reason == runtime.ReasonConsentExpired) {
			err = fmt.Errorf("an answer does not count: %v %v after %+v", out.Kind, out.Reason, k)
			return
		}
		if k.gone && out.Kind != runtime.Cancelled || k.found && out.Kind == runtime.Unknown {
			err = fmt.Errorf("it is %v after %+v", out.Kind, k)
			return
		}
		if k.outcome == nil && !k.flying && !m.closing && !k.yes && !k.no && !k.gone && k.request == "" {
			err = fmt.Errorf("it was never made, and is %v %v", out.Kind, out.Reason)
			return
		}
		w.count(k, fmt.Sprint(out.Kind, " ", out.Reason))
		err = w.hear(m, k, out)
	})
	return err
}

// count counts the outcome of a call for which a caller was waiting.
func (w *world) count(k *known, what string) {
	if k.flying {
		w.tally["in flight: "+what]++
	}
}

// same compares an outcome with the one that was told.
func same(k *known, out *runtime.Outcome) error {
	if !reflect.DeepEqual(out, k.outcome) {
		return fmt.Errorf("the outcome of call %s is\n%+v\nand was told as\n%+v", k.id, *out, *k.outcome)
	}
	return nil
}

// plausible compares an outcome with what the handler did outside.
func (w *world) plausible(k *known, out *runtime.Outcome) error {
	most := 1
	if k.kind.name == "again" {
		most += maxRetry
	}
	ran := out.Kind == runtime.Completed || out.Kind == runtime.Failed && out.Reason != runtime.ReasonInterrupted
	switch {
	case k.effects > most:
		return fmt.Errorf("it has had its effect %d times, %d are allowed", k.effects, most)
	case k.effects > 0 && !started(out):
		return fmt.Errorf("it has had its effect and is %v %v", out.Kind, out.Reason)
	case k.kind.name == "check" && out.Kind == runtime.Unknown && !w.faulty:
		return errors.New("it is unknown, though its tool can tell")
	case k.effects == 0 && k.kind.effect && ran && !w.faulty:
		return fmt.Errorf("it has had no effect and is %v %v", out.Kind, out.Reason)
	case len(k.plan.Paths) > 0 && out.Kind == runtime.Failed && started(out) && !out.RolledBack && !w.faulty:
		return fmt.Errorf("it has failed (%v) and was not rolled back", out.Reason)
	}
	return nil
}

// checkUndo finishes an undo that was in flight, and requires that one that was told
// of is known. An undo is all or nothing: the files are as the call has left them, or
// as they were before it, and the program knows which.
func (w *world) checkUndo(k *known) error {
	files := map[string]string{}
	if err := w.read(".", files); err != nil {
		return err
	}
	var res error
	err := w.perform(func() error {
		_, res = w.exec.Session(w.session()).Undo(w.ctx, action.UndoRequest{CallID: k.id, By: runtime.ProgramActor("alice")})
		return nil
	})
	result, code := action.ResultOf(res)
	w.say("undo %s once more: %v %v", k.id, result, code)
	code, bad := w.fate(k.id, code)
	err = errors.Join(err, bad)
	if err == nil && !k.undone {
		w.tally[fmt.Sprintf("undo in flight: %v %v", result, code)]++
	}
	switch {
	case err != nil:
		return err
	case code == action.CodeJournalUnavailable:
		w.lost = true
	case code == action.CodeExpired && w.ending():
	case code == action.CodeNotUndoable && !k.undone:
		w.m.note(func(*model) { k.undoing = false })
	case code != action.CodeAlreadyUndone && (k.undone || res != nil):
		return fmt.Errorf("it is %v %v", result, code)
	case !k.undone:
		for _, p := range k.plan.Paths {
			want := k.plan.Text
			if code == action.CodeAlreadyUndone {
				want = k.before[p]
			}
			if files[p] != want {
				return fmt.Errorf("it is %v %v, and the file %q was %q and not %q", result, code, p, files[p], want)
			}
		}
		w.m.note(func(m *model) { m.reverted(k) })
	}
	return nil
}

// checkDenied requires that nothing is carried out once the store has lost what it
// was to write. What a full disk refuses is not lost.
func (w *world) checkDenied() error {
	if w.store.Health().Lost == nil {
		return nil
	}
	w.tally["the journal cannot be written"]++
	var out runtime.Outcome
	err := w.perform(func() error {
		out = w.run.Turn(engine.TurnConfig{}).Execute(w.ctx, runtime.Call{ID: "late", Tool: "send", Input: []byte(`{"text":"late"}`)})
		return nil
	})
	refused := out.Reason == runtime.ReasonJournalUnavailable || w.ending() && hasEnded(&out)
	if err == nil && (out.Kind != runtime.Denied || !refused) {
		err = fmt.Errorf("the journal cannot be written, and a call is %v %v", out.Kind, out.Reason)
	}
	return err
}

// checkFence requires that nothing has happened after an outcome was told.
func (w *world) checkFence() (err error) {
	w.m.note(func(m *model) {
		if m.late {
			err = errors.New("a call had an effect after its outcome")
		}
	})
	return err
}

// checkFiles requires exactly the files that have to be there.
func (w *world) checkFiles() (err error) {
	got := map[string]string{}
	if err := w.read(".", got); err != nil {
		return err
	}
	w.m.note(func(m *model) {
		want := maps.Clone(m.files)
		maps.DeleteFunc(want, func(_, text string) bool { return text == "" })
		if !maps.Equal(got, want) {
			err = fmt.Errorf("the files are\n%q\nand not\n%q", got, want)
		}
	})
	return err
}

// read collects the files of a directory of the workspace.
func (w *world) read(dir string, into map[string]string) error {
	root, err := w.m.files.Root().Sub("ws")
	if err != nil {
		return err
	}
	for _, p := range paths {
		f, err := root.Open(p, os.O_RDONLY, 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		text, err := io.ReadAll(f)
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
		into[p] = string(text)
	}
	names, err := root.List()
	if err == nil && slices.ContainsFunc(names, func(n string) bool { return n != "a" && n != "b" && n != "c" }) {
		err = fmt.Errorf("the workspace has %q", names)
	}
	return err
}

// checkGrants requires the grants that an approver was told of.
func (w *world) checkGrants() (err error) {
	var got []string
	for _, g := range w.exec.Grants(action.GrantFilter{Live: true}) {
		got = append(got, g.ID)
	}
	w.m.note(func(m *model) {
		for _, id := range m.grants {
			if !slices.Contains(got, id) {
				err = fmt.Errorf("the grant %q is gone", id)
			}
		}
	})
	return err
}

// checkRules compares what the rules know with what the outcomes say.
func (w *world) checkRules() error {
	var want map[string]int
	refused := map[string]runtime.Reason{}
	w.m.note(func(m *model) {
		want = m.invocations()
		if want["limited"] >= maxCalls {
			refused["limited"] = runtime.ReasonMaxCalls
		}
		if want["claim"] > 0 {
			refused["rival"] = runtime.ReasonExclusiveGroup
		}
		if want["rival"] > 0 {
			refused["claim"] = runtime.ReasonExclusiveGroup
		}
		if !m.opened("put") {
			refused["needs"] = runtime.ReasonPrerequisiteMissing
		}
	})
	if got := w.run.Status().Invocations; !maps.Equal(got, want) {
		return fmt.Errorf("the run has the invocations %v, the outcomes say %v", got, want)
	}
	tool := []string{"limited", "claim", "rival", "needs"}[w.rng.IntN(4)]
	var v engine.Verdict
	err := w.perform(func() error {
		v = w.turn.WhatIf(w.ctx, runtime.Call{Tool: tool, Input: []byte(`{"text":"?"}`)})
		return nil
	})
	if err == nil && (v.Runs != (refused[tool] == runtime.ReasonNone) || v.Outcome.Reason != refused[tool]) {
		err = fmt.Errorf("a call of %s would run: %t (%v), expected was %v", tool, v.Runs, v.Outcome.Reason, refused[tool])
	}
	return err
}

// checkAudit verifies the audit log, with all notes that were anchored.
func (w *world) checkAudit() error {
	var anchors [][]byte
	w.m.note(func(m *model) { anchors = after(m.low, m.anchors) })
	report, err := audit.Verify(w.ctx, audit.NewSource(w.shop, w.shop), w.verifier, anchors)
	switch {
	case err != nil:
		return err
	case report.Bad != nil && (report.Bad.Class != audit.ClassUnsigned || len(anchors) > 0):
		return fmt.Errorf("the audit log: %w", report.Bad)
	}
	distinct := slices.CompactFunc(slices.SortedFunc(slices.Values(anchors), bytes.Compare), bytes.Equal)
	if report.Anchors < len(distinct) {
		return fmt.Errorf("%d of %d anchored notes hold", report.Anchors, len(distinct))
	}
	return nil
}
