package engine

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/bind"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/internal/redact"
	"github.com/ambit-tools/ambit/runtime/internal/ruleinput"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// The arguments of an undo handler (the arguments of the call, the prepared state and the output)
// are in memory, or in the journal when the call belongs to an earlier process. Without the first
// two the call cannot be undone.

var (
	errNoState   = errors.New("nothing was prepared for the undo: the call may have been made when the tool declared none")
	errPreparing = errors.New("what the undo needs is still being prepared")
	errNoValue   = errors.New("it was erased")
	errNoTool    = errors.New("the undo cannot be tried any more: the tool is not registered, or declares no undo")
	errNoDecode  = errors.New("the tool has nothing that decodes it: give it WithUndo")
)

// prepareState is prepareUndo for a tool with a prepare handler.
func (c *call) prepareState() error {
	state, err := c.tool.hooks.Prepare(c.running, c.final)
	if err == nil {
		err = checkStorable(state)
	}
	if err == nil {
		c.recordPrepared(state)
	}
	return err
}

// checkStorable returns an error when a prepared state could not be decoded again. Such a call does
// not start, because it could not be undone. The error names the places and no values, because the
// model may see it too.
func checkStorable(state wire.Value) error {
	if state == nil {
		return nil
	}
	_, violations, err := wire.AppendWithin(nil, state, math.MaxInt, maxDepth)
	switch {
	case err != nil:
		return fmt.Errorf("what was prepared for undo cannot be stored: %w", err)
	case violations != nil:
		return fmt.Errorf("what was prepared for undo is invalid: %s", wording.Violations(wording.WithoutValues(violations)))
	}
	return nil
}

// restoreUndo restores the arguments of an undo of the call, or the reason why the call cannot be
// undone any more. It decodes no values that no undo will need.
func (c *call) restoreUndo(r *history.Call) {
	c.isPrepared = r.Prepared
	if r.Attempts == 0 || r.Undone {
		return
	}
	if out := r.Outcome; out != nil {
		if out.Kind == runtime.Failed || c.undoable() && !c.exec.sched.Now().Before(r.Ended.Add(ruleinput.UndoTTL(c.tool.spec))) {
			return
		}
	}
	if c.record.undo.lost = c.restoreState(r); c.record.undo.lost == nil {
		c.restoreOutput(r)
	}
}

// undoable reports whether the present declaration of the tool has undo.
func (c *ident) undoable() bool { return c.tool != nil && c.tool.spec.Undo != nil }

// restoreState decodes the state that was prepared. The error says why the call cannot be undone any
// more.
func (c *call) restoreState(r *history.Call) (err error) {
	switch {
	case !c.undoable():
		if r.Stored {
			return errNoTool
		}
		return nil
	case r.Lost != "":
		return fmt.Errorf("the undo needs values that could not be recorded: %s", r.Lost)
	case c.final == nil:
		text := r.Args
		if r.Rewritten {
			text = r.Final
		}
		_, err = decodeRecorded(c.tool.hooks.Decode, text)
		return fmt.Errorf("the undo needs the arguments, which cannot be had any more: %w", err)
	case !r.Prepared && c.tool.hooks.Prepare != nil:
		if r.Pin != c.tool.spec.Pin || r.Outcome != nil && r.Outcome.Kind == runtime.Completed {
			return errNoState
		}
		return nil // its handler was not released
	case !r.Stored:
		return nil
	}
	if c.prepared, err = decodeRecorded(c.tool.hooks.DecodeState, r.PreparedState); err != nil {
		return fmt.Errorf("the undo needs the state that was prepared for it, which cannot be had any more: %w", err)
	}
	return nil
}

// restoreOutput decodes the output, unless it differs from what the handler returned: the undo
// handler works without it. The output of a call whose commit was decided is known before the call
// has its outcome.
func (c *work) restoreOutput(r *history.Call) {
	out := r.Outcome
	if out == nil {
		out = r.Decided
	}
	if out == nil || !c.undoable() {
		return
	}
	if redacts(out.Obligations) {
		return
	}
	if v, err := decodeRecorded(c.tool.hooks.DecodeOutput, out.Output); err == nil {
		c.outputs = v
	}
}

// redacts reports whether an answered output differs from the one that the handler returned.
func redacts(list []runtime.Obligation) bool {
	return slices.ContainsFunc(list, func(o runtime.Obligation) bool { return o.Code == redact.Obligation })
}

// decodeRecorded decodes a recorded value. The value was valid when it was recorded, but the tool
// may have changed since, and its code may panic. No text is too large: its size was checked before
// it was stored.
func decodeRecorded(decode bind.Decoder, text []byte) (v wire.Value, err error) {
	switch {
	case text == nil:
		return nil, errNoValue
	case decode == nil:
		return nil, errNoDecode
	}
	defer func() {
		if p := recover(); p != nil {
			v, err = nil, fmt.Errorf("panic: %v", p)
		}
	}()
	v, violations := decode(text, wire.Limits{Size: max(len(text), 1), Depth: maxDepth, Number: max(len(text), 1), AnyNumber: true})
	if violations != nil {
		return nil, fmt.Errorf("it does not fit the declaration of now: %s", wording.Violations(violations))
	}
	return v, nil
}

// reportLost reports to the error handler why a call cannot be undone any more, if why is
// CodeNotUndoable for that reason. It returns a text without values.
func (s *Session) reportLost(r *callRecord, why Code) string {
	if why != CodeNotUndoable || r.undo.lost == nil {
		return ""
	}
	s.exec.report(&CallError{Tool: r.tool, CallID: r.id, SessionID: s.id, RunID: r.run.id, Err: r.undo.lost})
	return "what the undo needs cannot be had any more: the error handler was told why"
}
