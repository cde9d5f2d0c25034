package runtime

import (
	"errors"
	"syscall"
)

// Transient marks an error of a handler as that of a resource that is temporarily exhausted. The
// executor retries an idempotent tool that declares retry. If err is nil, Transient returns nil.
func Transient(err error) error {
	if err == nil {
		return nil
	}
	return &transientError{err}
}

// A transientError is an error that Transient marked.
type transientError struct{ error }

// Unwrap returns the error that was marked.
func (e *transientError) Unwrap() error { return e.error }

// isTransient reports whether err is that of an exhausted resource: marked, or an error of the
// system for processes, descriptors, memory or disk space.
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
