// Package usercode calls code of the application: handlers, policies, participants, sinks. That code
// may panic, hang or call runtime.Goexit, and so may the methods of its errors.
package usercode

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
)

// ErrExited is the error of code that ended its goroutine with runtime.Goexit.
var ErrExited = errors.New("the goroutine was left by runtime.Goexit")

// Call calls f and returns its error. A panic becomes an error. The text of the error is read here,
// once: its Error method may hang.
func Call(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = Panic(v)
		}
	}()
	if err = Bound(f()); err != nil {
		err = &Error{ErrorText(err), err}
	}
	return err
}

// maxChain is how many errors one error may wrap.
const maxChain = 1000

// Bound returns err, or an error with its text where err wraps so many errors, or itself, that errors.Is and errors.As would
// not end.
func Bound(err error) error {
	if err == nil {
		return nil
	}
	if left := maxChain; !chainEnds(err, &left) {
		return errors.New(ErrorText(err) + " (an error that wraps more than " + strconv.Itoa(maxChain) + " errors, or itself)")
	}
	return err
}

// chainEnds reports whether err wraps at most left errors. A panic in a method of an error counts as an end: who unwraps it
// recovers.
func chainEnds(err error, left *int) (ends bool) {
	defer func() {
		if recover() != nil {
			ends = true
		}
	}()
	for err != nil {
		if *left--; *left < 0 {
			return false
		}
		switch e := err.(type) {
		case interface{ Unwrap() error }:
			err = e.Unwrap()
		case interface{ Unwrap() []error }:
			for _, one := range e.Unwrap() {
				if !chainEnds(one, left) {
					return false
				}
			}
			return true
		default:
			return true
		}
	}
	return true
}

// A Panicked is a recovered panic, with the stack that panicked.
type Panicked struct {
	Value any
	Stack []byte
}

// Catch recovers a panic and stores it. It is called by defer.
func Catch(p **Panicked) {
	if v := recover(); v != nil {
		*p = Recovered(v)
	}
}

// Recovered returns the panic of a recovered value. The deferred function that recovered v calls it,
// while the panicking stack is still in place.
func Recovered(v any) *Panicked { return &Panicked{v, debug.Stack()} }

// Error returns the value of the panic. The stack is apart: it belongs on no line that a person reads.
func (p *Panicked) Error() string { return fmt.Sprintf("panic: %v", p.Value) }

// Panic returns the error for the panic value v, with the stack of the panic. The deferred function
// that recovered v calls it.
func Panic(v any) error { return Recovered(v) }

// An Error is an error that user code returned, with its text.
type Error struct {
	text string
	err  error
}

// Error returns the text of the error.
func (e *Error) Error() string { return e.text }

// Unwrap returns the error that was returned.
func (e *Error) Unwrap() error { return e.err }

// ErrorText returns the text of err, whose Error method may panic.
func ErrorText(err error) (text string) {
	defer func() {
		if v := recover(); v != nil {
			text = fmt.Sprintf("%T, whose Error method panics", err)
		}
	}()
	return err.Error()
}
