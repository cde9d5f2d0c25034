package engine

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// errExited is the error of a fault whose code ended its goroutine.
var errExited = errors.New("the goroutine was left by runtime.Goexit")

// guard calls f and returns its error. A panic becomes an error.
func guard(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	if err = f(); err != nil {
		err = &foreign{errorText(err), err}
	}
	return err
}

// A foreign is an error of code outside of the engine, with its text. The text is read once, in
// guard, because the Error method may hang.
type foreign struct {
	text string
	err  error
}

// Error returns the text of the error.
func (f *foreign) Error() string { return f.text }

// Unwrap returns the original error.
func (f *foreign) Unwrap() error { return f.err }
