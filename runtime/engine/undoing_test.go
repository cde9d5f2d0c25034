package engine_test

import (
	"errors"

	"github.com/ambit-tools/ambit/runtime/engine"
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
	Reason       engine.Code
	Message, Err string
	Undone       []string
	Failed       []string
	NotUndoable  []string
	Reads        []string
	Calls        []undoneCall
	Complete     bool
}

// An undoneCall is an engine.UndoneCall, as a journal writes it.
type undoneCall struct {
	CallID, Tool string
	Kind         string
	Reason       engine.Code
	Message, Err string
	Later        []engine.LaterCall
}

// undoingOf turns what Undo returned into one value.
func undoingOf(res engine.UndoResult, err error) undoing {
	u := undoing{Undone: res.Undone, Failed: res.Failed, NotUndoable: res.NotUndoable, Reads: res.Reads, Complete: res.Complete}
	u.Kind, u.Reason = engine.ResultOf(err)
	u.Message, u.Err = textsOf(err)
	for _, c := range res.Calls {
		one := undoneCall{CallID: c.CallID, Tool: c.Tool, Later: c.Later}
		one.Kind, one.Reason = engine.ResultOf(c.Err)
		one.Message, one.Err = textsOf(c.Err)
		u.Calls = append(u.Calls, one)
	}
	return u
}

// textsOf returns the two texts of an error of an action.
func textsOf(err error) (message, detail string) {
	if e, ok := errors.AsType[*engine.ActionError](err); ok {
		return e.Message, e.Detail
	}
	return "", ""
}

// codeOf returns the code of an error of an action, empty when there is no error.
func codeOf(err error) engine.Code {
	if e, ok := errors.AsType[*engine.ActionError](err); ok {
		return e.Code
	}
	return ""
}
