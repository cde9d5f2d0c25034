package runtime

import (
	"errors"
	"syscall"
)

// Transient marks an error of a handler as one of a resource that is exhausted for
// the moment: an idempotent tool that declares retry is tried again. A nil err
// stays nil.
func Transient(err error) error {
	if err == nil {
		return nil
	}
	return &transientError{err}
}

// A transientError is an error of a resource.
type transientError struct{ error }

// Unwrap returns the error that was marked.
func (e *transientError) Unwrap() error { return e.error }

// isTransient reports whether err is one of a resource: marked, or the system's own
// for processes, descriptors, memory and disks that are used up.
func isTransient(err error) bool {
	var marked *transientError
	if errors.As(err, &marked) {
		return true
	}
	for _, no := range []syscall.Errno{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, syscall.ENOSPC} {
		if errors.Is(err, no) {
			return true
		}
	}
	return false
}
