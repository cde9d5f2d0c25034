package process

import (
	"errors"
	"fmt"
	"slices"
)

// A Category says what kind of failure an exit is. The zero value is none: the command did what it
// was to do.
type Category string

// The categories of failures.
const (
	OK                Category = ""
	Timeout           Category = "timeout"
	PermissionDenied  Category = "permission_denied"
	CommandNotFound   Category = "command_not_found"
	ResourceExhausted Category = "resource_exhausted"
	ProcessKilled     Category = "process_killed"
	SystemError       Category = "system_error"
)

var categories = []Category{OK, Timeout, PermissionDenied, CommandNotFound, ResourceExhausted, ProcessKilled, SystemError}

// Exits says what the exit codes of a command mean. A code that is not listed is OK when it is 0, and
// a SystemError otherwise.
type Exits map[int]Category

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
func (x Exits) Of(e *Exit) Category {
	switch e.Cause {
	case Ended:
		return Timeout
	case LimitReached:
		return ResourceExhausted
	case Stale, Lost:
		return ProcessKilled
	}
	if e.Signal != "" {
		return ProcessKilled
	}
	if c, listed := x[e.Code]; listed {
		return c
	}
	if e.Code == 0 {
		return OK
	}
	return SystemError
}

// Killed says whether a process was ended before it had done its work: then an effect that it had
// is not known, whatever it was to be.
func (e *Exit) Killed() bool { return e.Cause != Exited || e.Signal != "" }
