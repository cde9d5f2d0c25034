package process

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ambit-tools/ambit/runtime"
)

var categories = []runtime.ExitCategory{runtime.ExitOK, runtime.ExitTimeout, runtime.ExitPermissionDenied, runtime.ExitCommandNotFound, runtime.ExitResourceExhausted, runtime.ExitProcessKilled, runtime.ExitSystemError}

// Exits says what the exit codes of a command mean. A code that is not listed is OK when it is 0, and
// a SystemError otherwise.
type Exits map[int]runtime.ExitCategory

// Check says what is wrong with a table of exit codes.
func (x Exits) Check() error {
	var all []error
	for code, c := range x {
		if code < 0 || code > 255 {
			all = append(all, fmt.Errorf("process: an exit code is 0 to 255, and %d is none", code))
		}
		if !slices.Contains(categories, c) {
			all = append(all, fmt.Errorf("process: exit code %d: unknown category %q: want one of %q", code, c, categories[1:]))
		}
	}
	return errors.Join(all...)
}

// Of says what an exit means (SEMANTICS 6.1.9). What ended the process counts before its code: a command that
// catches SIGTERM may exit with 0 although it was ended.
func (x Exits) Of(e *Exit) runtime.ExitCategory {
	switch e.Cause {
	case Ended:
		return runtime.ExitTimeout
	case LimitReached:
		return runtime.ExitResourceExhausted
	case Stale, Lost:
		return runtime.ExitProcessKilled
	}
	if e.Signal != "" {
		return runtime.ExitProcessKilled
	}
	if c, listed := x[e.Code]; listed {
		return c
	}
	if e.Code == 0 {
		return runtime.ExitOK
	}
	return runtime.ExitSystemError
}

// Killed says whether a process was ended before it had done its work: then an effect that it had
// is not known, whatever it was to be.
func (e *Exit) Killed() bool { return e.Cause != Exited || e.Signal != "" }
