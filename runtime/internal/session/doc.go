// Package session has what one session remembers between calls: the state of its rules, the records
// of its calls and of the calls of each run, the tree of the parts of a run, and the changes that the
// next entry of the session takes along. It has no lock, clock, goroutine or I/O: the lock of the
// session guards it.
//
// The type parameter C is a call that can still change. The package only stores it.
package session
