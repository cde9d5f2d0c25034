package action

import (
	"errors"
	"time"

	"github.com/ambit-tools/ambit/runtime"
)

// An UndoRequest says what is to be undone: one call or all calls of a run.
type UndoRequest struct {
	CallID string
	RunID  string // when CallID is empty
	By     runtime.Actor
	Reason string
	DryRun bool // only report what would be undone, and which later calls share something with it
}

// An UndoResult says what became of the calls of a run, each list in the order of the attempts. For
// one call only Calls of a dry run is set.
type UndoResult struct {
	Undone      []string // ids of calls
	Failed      []string
	NotUndoable []string
	Reads       []string     // calls of tools that only read and declare no undo: there is nothing to undo
	Calls       []UndoneCall // all calls
	Complete    bool         // Failed and NotUndoable are empty
}

// An UndoneCall is the result for one call of the undo of a run, or of a dry run.
type UndoneCall struct {
	CallID, Tool string
	Err          error       // an *Error; nil: undone. A call that only reads has CodeNothingToUndo
	Later        []LaterCall // of a dry run: in the order in which they were made
	Until        time.Time   // of a dry run: the first instant that is too late; zero if Err is set
}

// A LaterCall was made in the same session after a call that may be undone, may have changed
// something, and shares arguments or groups with the earlier call. An undo of the earlier call may
// reverse, or break, what the later call did.
type LaterCall struct {
	CallID, Tool string
	Shares       []string // JSON Pointers of its arguments that the earlier call also had, and "group NAME" of exclusive groups
}

// Add adds the result for one call: to Calls, and its id to the list that its error says (SEMANTICS 4.20).
func (r *UndoResult) Add(c UndoneCall) {
	r.Calls = append(r.Calls, c)
	list := &r.Failed
	if c.Err == nil {
		list = &r.Undone
	} else if e, ok := errors.AsType[*Error](c.Err); ok {
		switch e.Code {
		case CodeNothingToUndo:
			list = &r.Reads
		case CodeNotUndoable, CodeExpired:
			list = &r.NotUndoable
		}
	}
	*list = append(*list, c.CallID)
	r.Complete = len(r.Failed)+len(r.NotUndoable) == 0
}

// A ResolveRequest says what an operator has found out about an unknown call.
type ResolveRequest struct {
	TookEffect bool // the call took effect
	By         runtime.Actor
	Reason     string // for the model, too; may be empty
}
