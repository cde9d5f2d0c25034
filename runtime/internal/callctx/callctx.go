// Package callctx connects the context that a handler gets with the attempt that it runs in.
//
// The engine puts a Handle into the context under Key. Package runtime takes it out again: it is
// what FromContext, Commit and PartOf work on. The types of package runtime are type parameters
// here, because package runtime imports this one.
package callctx

import (
	"crypto/sha256"
	"time"
)

// Key is the key of the Handle in the context of an attempt.
type Key struct{}

// A Handle is one attempt of a call, or of its undo. Its methods are safe for concurrent use.
type Handle[Participant, Part any] interface {
	// Info describes the call.
	Info() Info

	// Commit runs effect under the fence of the attempt.
	Commit(effect func() error) error

	// Part returns the part of the attempt at p. write says that the handler is about to write.
	Part(p Participant, write bool) (Part, error)
}

// A Reporter is a Handle that takes what the handler reports while it runs. Its method is safe for
// concurrent use.
type Reporter interface {
	Report(done, total int64, text string) error
}

// Info describes an attempt to its handler. runtime.CallInfo has the same fields with their
// meaning.
type Info struct {
	ID, Tool, Session, Run     string
	Agent, Principal, Behavior string
	Attempt                    int
	Undo                       bool
	Fence                      uint64
	Metadata                   map[string]string
	Turn                       int
	ClientRequest              string
	Capabilities               []string
	Request, Grant             string
	ApprovedBy                 []string

	Effect   [sha256.Size]byte // of the members that the tool declares; zero: it declares none
	Deadline time.Time
	Now      func() time.Time // tells the time of the deadline; nil: time.Now
}
