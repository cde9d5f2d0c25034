package engine

import (
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/callctx"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/transaction"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
)

// An attemptContext is the context of a handler, in one attempt. Its methods are safe for concurrent use.
type attemptContext struct {
	deadline.Context
	scope  *attemptScope
	number int // of the attempt
}

var (
	_ callctx.Handle[runtime.Participant, runtime.Part] = (*attemptContext)(nil)
	_ callctx.Reporter                                  = (*attemptContext)(nil)
	_ transaction.Attempt                               = (*attemptContext)(nil)
)

// Value returns what the caller's context holds for key, and the attempt for callctx.Key.
func (at *attemptContext) Value(key any) any {
	if _, ok := key.(callctx.Key); ok {
		return at
	}
	return at.Context.Value(key)
}

// Info describes the call of the attempt.
func (at *attemptContext) Info() callctx.Info { return at.scope.Info() }

// Commit runs an effect under the fence of the attempt, and under the ownership of the journal.
func (at *attemptContext) Commit(effect func() error) error {
	s := at.scope
	s.mu.Lock()
	ok := s.life.EnterEffect(at.number)
	s.mu.Unlock()
	if !ok {
		return at.Fenced()
	}
	defer s.leaveEffect()
	return s.env.Lease.Fence(at, effect)
}

// Part returns the part of the attempt at p.
func (at *attemptContext) Part(p runtime.Participant, write bool) (runtime.Part, error) {
	s := at.scope
	spec, who := s.owner.Declaration(), s.env.Participants.Find(p)
	switch {
	case who == nil:
		return nil, fmt.Errorf("%T is no participant of this executor: give it to NewExecutor with WithParticipant", p)
	case write && spec.Effect == runtime.SideEffectRead:
		return nil, fmt.Errorf("tool %q cannot write through participant %q: %w", spec.Name, who.Name, runtime.ErrReadOnly)
	}
	return s.parts.Part(at, who, s.transactionEnv())
}

// WhileOpen calls f under the lock of the owner, unless the fence of the attempt is shut.
func (at *attemptContext) WhileOpen(f func()) bool {
	at.scope.mu.Lock()
	defer at.scope.mu.Unlock()
	if !at.scope.life.FenceOpen(at.number) {
		return false
	}
	f()
	return true
}

// Key returns the key of the transaction.
func (at *attemptContext) Key() runtime.CallKey {
	i := at.scope.Info()
	return runtime.CallKey{Session: i.Session, Call: i.ID, Undo: i.Undo}
}

// Fenced returns the error of an operation after the outcome, or after the end of the attempt.
func (at *attemptContext) Fenced() error {
	i := at.scope.Info()
	return fmt.Errorf("%s: %w", wording.Call(i.ID, i.Tool), runtime.ErrFenced)
}
