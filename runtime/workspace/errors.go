package workspace

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ambit-tools/ambit/runtime"
)

// The errors of a Workspace, to be found with errors.Is; besides them those of
// io/fs, runtime.ErrNoCall, runtime.ErrFenced and runtime.ErrDrift.
var (
	// ErrPath says that a path is not one that may be used.
	ErrPath = errors.New("the path may not be used")
	// ErrSpecial says that a path stands for what is neither a file nor a directory.
	ErrSpecial = errors.New("it is neither a file nor a directory")
	// ErrBusy says that another call that has not ended wrote the path.
	ErrBusy = errors.New("another call that has not ended wrote it: try again when it has")
	// ErrTooLarge says that a file is larger than the workspace keeps pre-images of.
	ErrTooLarge = errors.New("it is larger than a tool may change: raise the limit with MaxFile")
	// ErrEnded says that a transaction takes no writes any more.
	ErrEnded = errors.New("the transaction of the call has ended")
	// ErrBroken says that a write to the disk was lost, so that nothing can be
	// promised any more until the workspace is opened anew and settled.
	ErrBroken = errors.New("a write to the disk was lost: look at the disk, then open the workspace anew and settle its calls")
	// ErrUnsettled says that an earlier attempt of the call has left an undo log.
	ErrUnsettled = errors.New("what the call wrote before is neither committed nor rolled back: settle it")
	// ErrCorrupt says that an undo log cannot be read, so that nothing was done.
	ErrCorrupt = errors.New("the undo log is damaged: nothing was restored, look at the files that it names")
)

// A DriftError names the files that were left alone because another writer has
// changed them since: their content is neither what was before nor what the
// call has written. It is a runtime.ErrDrift.
type DriftError struct {
	Paths []string // in the order of the alphabet
}

// Error names the files.
func (e *DriftError) Error() string {
	quoted := make([]string, len(e.Paths))
	for i, p := range e.Paths {
		quoted[i] = fmt.Sprintf("%q", p)
	}
	return fmt.Sprintf("%s: %v: left as found, put right by hand", strings.Join(quoted, ", "), runtime.ErrDrift)
}

// Unwrap returns runtime.ErrDrift.
func (e *DriftError) Unwrap() error { return runtime.ErrDrift }
