package engine_test

import (
	"errors"

	"github.com/ambit-tools/ambit/runtime/action"
)

// The results of an undo, as a journal writes them.
const (
	undoRejected = "rejected"
	undoOK       = "ok"
	undoFailed   = "failed"
)

// An undoing is what Undo returned, as a journal writes it.
type undoing struct {
	Kind         string
	Reason       action.Code
	Message, Err string
	Undone       []string
	Failed       []string
	NotUndoable  []string
	Reads        []string
	Calls        []undoneCall
	Complete     bool
}

// An undoneCall is an action.UndoneCall, as a journal writes it.
type undoneCall struct {
	CallID, Tool string
	Kind         string
	Reason       action.Code
	Message, Err string
	Later        []action.LaterCall
}

// undoingOf turns what Undo returned into one value.
func undoingOf(res action.UndoResult, err error) undoing {
	u := undoing{Undone: res.Undone, Failed: res.Failed, NotUndoable: res.NotUndoable, Reads: res.Reads, Complete: res.Complete}
	u.Kind, u.Reason = action.ResultOf(err)
	u.Message, u.Err = textsOf(err)
	for _, c := range res.Calls {
		one := undoneCall{CallID: c.CallID, Tool: c.Tool, Later: c.Later}
		one.Kind, one.Reason = action.ResultOf(c.Err)
		one.Message, one.Err = textsOf(c.Err)
		u.Calls = append(u.Calls, one)
	}
	return u
}

// textsOf returns the two texts of an error of an action.
func textsOf(err error) (message, detail string) {
	if e, ok := errors.AsType[*action.Error](err); ok {
		return e.Message, e.Detail
	}
	return "", ""
}

// codeOf returns the code of an error of an action, empty when there is no error.
func codeOf(err error) action.Code {
	if e, ok := errors.AsType[*action.Error](err); ok {
		return e.Code
	}
	return ""
}
