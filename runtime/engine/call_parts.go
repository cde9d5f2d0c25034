package engine

import (
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/transaction"
)

var _ transaction.Attempt = (*callContext)(nil)

// Part returns the part of the attempt at p.
func (at *callContext) Part(p runtime.Participant, write bool) (runtime.Part, error) {
	c := at.call
	who := c.exec.participants.Find(p)
	switch {
	case who == nil:
		return nil, fmt.Errorf("%T is no participant of this executor: give it to NewExecutor with WithParticipant", p)
	case write && c.tool.spec.Effect == runtime.SideEffectRead:
		return nil, fmt.Errorf("tool %q cannot write through participant %q: %w", c.tool.spec.Name, who.Name, runtime.ErrReadOnly)
	}
	return c.parts.Part(at, who, c.partsEnv())
}

// WhileOpen calls f under the lock of the call, unless the fence of the attempt is shut.
func (at *callContext) WhileOpen(f func()) bool {
	c := at.call
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.life.FenceOpen(at.attempt) {
		return false
	}
	f()
	return true
}

// Key returns the key of the call's transaction.
func (at *callContext) Key() runtime.CallKey { return at.call.key() }

// Fenced returns the error of an operation after the outcome, or after the end of the attempt.
func (at *callContext) Fenced() error {
	return fmt.Errorf("%s: %w", callName(at.call.id, at.call.record.tool), runtime.ErrFenced)
}

// key returns the key of the call's transaction.
func (c *ident) key() runtime.CallKey {
	return runtime.CallKey{Session: c.run.session.id, Call: c.id, Undo: c.undoing}
}

// partsEnv returns what the transaction of the call needs of the executor.
func (c *ident) partsEnv() *transaction.Env {
	return &transaction.Env{
		Sched: &c.exec.sched, Lease: c.exec.lease, Grace: grace,
		Report: func(err error) { c.exec.report(c.newFault(runtime.ReasonCommitFailed, err)) },
	}
}
