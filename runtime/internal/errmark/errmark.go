// Package errmark holds the marks that a handler puts on its errors with runtime.Public and
// runtime.Transient. The engine finds them with errors.As; no type of another module can pass for
// one.
package errmark

import (
	"errors"
	"syscall"
)

// Public is an error whose text may reach the model.
type Public struct {
	Code string
	Err  error
}

// Error returns the text of the error that was marked.
func (e *Public) Error() string { return e.Err.Error() }

// Unwrap returns the error that was marked.
func (e *Public) Unwrap() error { return e.Err }

// Transient is an error of a resource that is temporarily exhausted.
type Transient struct{ Err error }

// Error returns the text of the error that was marked.
func (e *Transient) Error() string { return e.Err.Error() }

// Unwrap returns the error that was marked.
func (e *Transient) Unwrap() error { return e.Err }

// PublicOf returns the mark of runtime.Public in err, nil when there is none. The methods of err are
// code of the tool and may hang or panic.
func PublicOf(err error) *Public {
	var marked *Public
	if !errors.As(err, &marked) {
		return nil
	}
	return marked
}

// IsTransient reports whether err is that of an exhausted resource: marked, or an error of the
// system for processes, descriptors, memory or disk space. The methods of err are code of the tool
// and may hang or panic.
func IsTransient(err error) bool {
	var marked *Transient
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
