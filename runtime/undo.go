package runtime

import "context"

// An UndoRequest says what is to be undone: one call or all of a run.
type UndoRequest struct {
	CallID string
	RunID  string // when CallID is empty
	By     string
	Reason string
}

// An UndoKind says how an undo ended.
type UndoKind uint8

// The kinds of UndoResult.
const (
	UndoRejected UndoKind = iota // nothing was tried
	UndoOK
	UndoFailed // the undo handler failed
)

var undoKindNames = [...]string{"rejected", "ok", "failed"}

// String returns rejected, ok or failed.
func (k UndoKind) String() string { return nameOf("undo", undoKindNames[:], k) }

// MarshalText returns the name of k.
func (k UndoKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// An UndoReason says why an undo was rejected, or failed.
type UndoReason uint8

// The reasons, in the order in which they are looked for.
const (
	UndoReasonNone UndoReason = iota
	UndoUnknownCall
	UndoAlreadyUndone
	UndoNotUndoable
	UndoNotSuccessful
	UndoExpired
	UndoDrift
	UndoStillRunning
	UndoDenied
	UndoHandlerError
)

var undoReasonNames = [...]string{
	"", "unknown_call", "already_undone", "not_undoable", "not_successful", "expired", "drift", "still_running", "denied",
	"handler_error",
}

// String returns the name of r, such as already_undone; that of UndoReasonNone is empty.
func (r UndoReason) String() string { return nameOf("undo reason", undoReasonNames[:], r) }

// MarshalText returns the name of r.
func (r UndoReason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// An UndoResult says what an undo did. Of a call Kind and Reason are set, of a
// run the lists of call ids, each in the order in which they were tried.
type UndoResult struct {
	Kind        UndoKind
	Reason      UndoReason
	Undone      []string
	Failed      []string
	NotUndoable []string
	Complete    bool // Failed and NotUndoable are empty
}

// Undo takes back the effects of a call, or of all calls of a run that
// succeeded, the last first.
func (s *Session) Undo(ctx context.Context, req UndoRequest) UndoResult {
	_, _ = ctx, req
	return UndoResult{}
}
