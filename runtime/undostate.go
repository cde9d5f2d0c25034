package runtime

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/ambit-tools/ambit/runtime/wire"
)

// What an undo is given is in memory, or, when the call belongs to an earlier
// process, in the journal: the arguments, the state that was prepared, and the
// output. Without the first two nothing is undone.

var (
	errNoState   = errors.New("nothing was prepared for the undo: the call may have been made when the tool declared none")
	errPreparing = errors.New("what the undo needs is still being prepared")
	errNoValue   = errors.New("it was erased")
	errNoTool    = errors.New("the undo cannot be tried any more: the tool is not registered, or declares no undo")
	errNoDecode  = errors.New("the tool has nothing that decodes it: give it WithUndo")
)

// prepareUndo has what the undo of the call will need prepared and stored: once,
// since what a second attempt finds may be what the first one has made.
func (c *call) prepareUndo() error {
	if c.tool.hooks.prepare == nil || c.isPrepared {
		return nil
	}
	return c.prepareState()
}

// prepareState is prepareUndo when there is something to prepare.
func (c *call) prepareState() error {
	state, err := c.tool.hooks.prepare(c.running, c.final)
	if err == nil {
		err = storable(state)
	}
	if err == nil {
		c.prepare(state)
	}
	return err
}

// storable says why a state that was prepared could not be read again: a call
// that could then not be undone does not start. Operators are told the places, and
// no values, which the model may see too.
func storable(state wire.Value) error {
	if state == nil {
		return nil
	}
	_, violations, err := wire.AppendWithin(nil, state, math.MaxInt, maxDepth)
	switch {
	case err != nil:
		return fmt.Errorf("what was prepared for undo cannot be stored: %w", err)
	case violations != nil:
		return fmt.Errorf("what was prepared for undo is invalid: %s", violationList(unvalued(violations)))
	}
	return nil
}

// recallUndo makes known again what the undo of a call is given, or why it cannot
// be undone any more. Values that nobody will need are not decoded.
func (c *call) recallUndo(r *foldedCall) {
	c.isPrepared = r.isPrepared
	if r.attempt == 0 || r.undone {
		return
	}
	if out := r.outcome; out != nil {
		if out.Kind == Failed || c.undoable() && !c.exec.now().Before(r.ended.Add(c.tool.spec.ruleTool().Undo)) {
			return
		}
	}
	if c.record.undo.lost = c.recallState(r); c.record.undo.lost == nil {
		c.recallOutput(r)
	}
}

// undoable reports whether the tool, as it is now, declares undo.
func (c *call) undoable() bool { return c.tool != nil && c.tool.spec.Undo != nil }

// recallState decodes the state that was prepared. The error says why the call
// cannot be undone any more.
func (c *call) recallState(r *foldedCall) (err error) {
	switch {
	case !c.undoable():
		if r.stored {
			return errNoTool
		}
		return nil
	case r.lost != "":
		return fmt.Errorf("the undo needs values that could not be recorded: %s", r.lost)
	case c.final == nil:
		text := r.args
		if r.rewritten {
			text = r.final
		}
		_, err = recallValue(c.tool.decode, text)
		return fmt.Errorf("the undo needs the arguments, which cannot be had any more: %w", err)
	case !r.isPrepared && c.tool.hooks.prepare != nil:
		if r.pin != c.tool.spec.Pin || r.outcome != nil && r.outcome.Kind == Completed {
			return errNoState
		}
		return nil // its handler was not let go
	case !r.stored:
		return nil
	}
	if c.prepared, err = recallValue(c.tool.hooks.decodeState, r.prepared); err != nil {
		return fmt.Errorf("the undo needs the state that was prepared for it, which cannot be had any more: %w", err)
	}
	return nil
}

// recallOutput decodes the output, unless it is not what the handler returned:
// the undo handler can do without. That of a call whose commit was decided is
// known before it has its outcome.
func (c *call) recallOutput(r *foldedCall) {
	out := r.outcome
	if out == nil {
		out = r.decided
	}
	if out == nil || !c.undoable() {
		return
	}
	if redacts(out.Obligations) {
		return
	}
	if v, err := recallValue(c.tool.hooks.decodeOutput, out.Output); err == nil {
		c.outputs = v
	}
}

// redacts reports whether an output was answered otherwise than it was returned.
func redacts(list []Obligation) bool {
	return slices.ContainsFunc(list, func(o Obligation) bool { return o.Code == obligationRedact })
}

// recallValue decodes a value that was recorded. It was valid once; the tool may
// have changed since, and its code may be broken. No text is too large: it was
// checked before it was stored.
func recallValue(decode decodeFunc, text []byte) (v wire.Value, err error) {
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
		return nil, fmt.Errorf("it does not fit the declaration of now: %s", violationList(violations))
	}
	return v, nil
}

// tellLost tells operators why a call cannot be undone any more, if that is what
// why says, and returns a text without values.
func (s *Session) tellLost(r *callRecord, why UndoReason) string {
	if why != UndoNotUndoable || r.undo.lost == nil {
		return ""
	}
	s.exec.report(&CallError{Tool: r.tool, CallID: r.id, SessionID: s.id, RunID: r.run.id, Err: r.undo.lost})
	return "what the undo needs cannot be had any more: the error handler was told why"
}
