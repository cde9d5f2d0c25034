package runtime

import (
	"context"
	"errors"
)

// The errors of Commit.
var (
	// ErrFenced says that the call already has its outcome and may have no further effects.
	ErrFenced = errors.New("the call has ended: it may have no more effects")
	// ErrNoCall says that a context does not belong to a call.
	ErrNoCall = errors.New("the context is not that of a call: pass on the one that the handler got")
)

// Commit runs an effect under the fence of the call, or of the undo handler, that ctx was made for.
// Once the call has its outcome, because its time was up, because it was cancelled or because its
// handler returned, Commit does not call effect and returns ErrFenced.
//
// With a journal that has owners (journal.Fencer, such as that of package sqlite) Commit compares
// the stored epoch with that of this executor before the effect, and no other process can take the
// journal over before the effect has ended. When another process has taken it over, Commit does not
// call effect and returns ErrFenced (SEMANTICS section 6.9). For effects elsewhere CallInfo.Fence
// is that epoch: a system that has seen a greater one should refuse.
//
// The outcome of a call waits up to five seconds for an effect that has begun, and says
// so when the effect did not end. Keep an effect short, such as a rename or a
// transaction's commit, and prepare it outside. An effect must not wait for the call
// itself. Effects of one call may run concurrently.
func Commit(ctx context.Context, effect func() error) error {
	h := handleOf(ctx)
	if h == nil {
		return ErrNoCall
	}
	return h.Commit(effect)
}
