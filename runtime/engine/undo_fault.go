package engine

import (
	"errors"
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
)

// A undoFault is why a call was not undone. After the codes journal_unavailable and unknown the next recovery
// settles what the handler did.
type undoFault struct {
	Code          action.Code
	Err           error
	NotRolledBack bool // what the handler did through participants was not rolled back
	Pending       bool // a decided commit continues; Recorder.Concluded is called when it ends
	ByPolicy      bool // a policy has decided so: it is no fault of the program
}

// judgeUndo returns why the policy of calls does not let a call be undone, nil when it does (SEMANTICS 4.20). d and err are its
// answer.
func judgeUndo(d runtime.Decision, err error) *undoFault {
	denied := &undoFault{Code: action.CodeDenied, Err: err}
	switch {
	case err != nil:
	case len(d.Denials) > 0:
		denied.ByPolicy, denied.Err = true, fmt.Errorf("the policy denies the undo: %s", d.Denials[0].Code)
	case d.Effect == runtime.EffectDeny:
		denied.ByPolicy, denied.Err = true, errors.New("no policy allows the undo")
	default:
		return nil
	}
	return denied
}

var (
	errCancelled = errors.New("the context of the undo ended")
	errHalted    = errors.New("the executor was shut down, or lost its journal, while the undo handler ran")
)

// Told returns what the operator who wanted the undo is told, and what a model may read of it. safe says
// that the tool has safe_errors. hide takes the sensitive values of the call out of a text. Told runs code of
// the tool: the caller holds no lock (SEMANTICS 6.4).
func (f *undoFault) Told(tool string, safe bool, hide func(string) string) *action.Error {
	e := &action.Error{
		Code: f.Code, Attempted: f.Code != action.CodeDenied && f.Code != action.CodeDrift, Err: f.Err,
		Detail: hide(usercode.ErrorText(f.Err)),
	}
	if f.NotRolledBack {
		e.Detail += "; what the undo did was not taken back"
	}
	e.Message = f.message(tool, safe, e.Detail, hide)
	return e
}

// message returns what a model may read; detail is the text for operators (SEMANTICS 6.4).
func (f *undoFault) message(tool string, safe bool, detail string, hide func(string) string) string {
	if f.Code == action.CodeHandlerError || f.Code == action.CodeDrift {
		if text, _ := tools.PublicError(f.Err); text != "" {
			return hide(text)
		}
	}
	switch {
	case f.Code == action.CodeHandlerError && safe, f.ByPolicy:
		return detail
	case f.Code == action.CodeDrift:
		return fmt.Sprintf("%q cannot be undone: %v", tool, runtime.ErrDrift)
	}
	return fmt.Sprintf("%q was not undone (%v)", tool, f.Code)
}
