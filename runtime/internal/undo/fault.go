package undo

import "errors"

// A Reason says why an undo handler did not undo its call.
type Reason uint8

// The reasons. The zero value is that of a handler that failed.
const (
	HandlerError       Reason = iota
	Drift                     // the present state is not the one that the call left
	TimedOut                  // the handler ran longer than its deadline
	Cancelled                 // the caller left, or the executor shuts down
	CommitFailed              // nothing is committed
	JournalUnavailable        // the next recovery settles what the handler did
	Unknown                   // the next recovery settles what is not known to be committed
)

// A Fault is why a call was not undone.
type Fault struct {
	Reason        Reason
	Err           error
	NotRolledBack bool // what the handler did through participants was not rolled back
	Pending       bool // a decided commit continues; Recorder.Concluded is called when it ends
}

var (
	errCancelled = errors.New("the context of the undo ended")
	errHalted    = errors.New("the executor was shut down, or lost its journal, while the undo handler ran")
)
