// Package errmark holds the marks that a handler puts on its errors with runtime.Public and
// runtime.Transient. The engine finds them with errors.As; no type of another module can pass for
// one.
package errmark

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
