package runtime

import (
	"context"
	"errors"
)

// A CallKey names the transaction of a call, or that of its undo.
type CallKey struct {
	Session, Call string // the call's id is unique in its session
	Undo          bool   // the transaction is that of the undo handler
}

// A Participant takes part in the transactions of calls: what a handler does through it is
// committed when the call completes, and rolled back when it does not (SEMANTICS section 6.8). Its
// methods are safe for concurrent use.
type Participant interface {
	// Begin starts the part of one attempt of a call. The executor calls it when the handler first
	// uses the participant, once per attempt.
	Begin(ctx context.Context, key CallKey) (Part, error)

	// Unsettled returns the calls with parts that a former process neither committed nor rolled
	// back.
	Unsettled(ctx context.Context) ([]CallKey, error)

	// Settle commits the remaining parts of a call, or rolls them back. It may be called again.
	Settle(ctx context.Context, key CallKey, commit bool) error
}

// A Placed participant says where it keeps its parts: two values of Place are equal when a process with one of them finds the
// parts that a process with the other one has left. The executor records the place when a handler starts. A recovery
// with another place does not know what became of the call (SEMANTICS 6.8.7). An empty place is none.
type Placed interface {
	Participant
	Place() string
}

// A Part is what one attempt of a call does at one participant. When the executor calls the first
// of these methods, no handler uses the Part any more.
type Part interface {
	// Seal guarantees that Commit can succeed, also after a crash. It returns a digest of what will
	// be committed; nil when nothing was changed.
	Seal(ctx context.Context) ([]byte, error)

	// Commit commits the part. The executor calls it after it recorded the decision to commit.
	Commit(ctx context.Context) error

	// Rollback undoes everything that the part did. An error says what it could not undo.
	Rollback(ctx context.Context) error
}

// A ForeignPart is a Part in a system with transactions of its own. After a crash it is not known
// whether such a transaction was committed. A call has one at most.
type ForeignPart interface {
	Part

	// Foreign does nothing.
	Foreign()
}

// ErrMaybeCommitted is the error of a Commit of a ForeignPart that does not know whether it has
// committed. Any other error says that it has not.
var ErrMaybeCommitted = errors.New("it is not known whether it was committed")

// PartOf returns the part at p of the call that ctx was made for, and begins it if necessary. p
// must be a participant of the executor. Once the call has its outcome, or the attempt is over, the
// error is ErrFenced.
func PartOf(ctx context.Context, p Participant) (Part, error) { return partOf(ctx, p, false) }

// ErrReadOnly says that the handler of a tool of effect read tried to write.
var ErrReadOnly = errors.New("the tool is declared effect: read: declare effect: write, or read without the transaction of the call")

// WritePartOf is PartOf for a handler that is about to write. In a call, or an undo, of a tool
// whose effect is read the error is ErrReadOnly, and no part is begun: recovery, consent and
// policies rely on the declared effect (SEMANTICS section 6.7).
func WritePartOf(ctx context.Context, p Participant) (Part, error) { return partOf(ctx, p, true) }

// partOf returns the part at p of the call that ctx was made for.
func partOf(ctx context.Context, p Participant, write bool) (Part, error) {
	h := handleOf(ctx)
	if h == nil {
		return nil, ErrNoCall
	}
	return h.Part(p, write)
}
