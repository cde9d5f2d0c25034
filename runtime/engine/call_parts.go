package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
)

// Part returns the part of the attempt at p.
func (at *callContext) Part(p runtime.Participant, write bool) (runtime.Part, error) {
	c := at.call
	who := c.exec.participant(p)
	switch {
	case who == nil:
		return nil, fmt.Errorf("%T is no participant of this executor: give it to NewExecutor with WithParticipant", p)
	case write && c.tool.spec.Effect == runtime.SideEffectRead:
		return nil, fmt.Errorf("tool %q cannot write through participant %q: %w", c.tool.spec.Name, who.name, runtime.ErrReadOnly)
	}
	return c.part(at, who)
}

// part returns the part of an attempt at a participant, and begins it if necessary.
func (c *call) part(at *callContext, who *participant) (runtime.Part, error) {
	c.mu.Lock()
	if !c.life.FenceOpen(at.attempt) {
		c.mu.Unlock()
		return nil, c.fencedError()
	}
	i := slices.IndexFunc(c.parts, func(b *attemptPart) bool { return b.participant == who })
	if i >= 0 {
		b := c.parts[i]
		c.mu.Unlock()
		if c.exec.sched.Wait(&b.ready, nil, at.Done()) == sched.Done {
			return nil, c.fencedError()
		}
		return b.part, b.err
	}
	b := &attemptPart{participant: who}
	c.parts = append(c.parts, b)
	c.mu.Unlock()
	return c.beginPart(at, b)
}

// beginPart begins a part. It rolls back a part that has begun too late, because the call does not
// know that part.
func (c *call) beginPart(at *callContext, b *attemptPart) (runtime.Part, error) {
	defer c.exec.sched.Fire(&b.ready)
	var part runtime.Part
	err := usercode.Call(func() (err error) {
		part, err = b.participant.Begin(at, c.key())
		return err
	})
	if err != nil {
		err = fmt.Errorf("participant %q: %w", b.participant.name, err)
	}
	c.mu.Lock()
	late := !c.life.FenceOpen(at.attempt)
	if b.err = err; err == nil && !late {
		b.part = part
	}
	c.mu.Unlock()
	switch {
	case err != nil:
		return nil, err
	case late:
		if err := usercode.Call(func() error { return part.Rollback(context.WithoutCancel(at)) }); err != nil {
			c.exec.report(c.newFault(runtime.ReasonCommitFailed, fmt.Errorf("participant %q, which began too late: %w", b.participant.name, err)))
		}
		return nil, c.fencedError()
	}
	return part, nil
}

// participant returns the entry of p, nil when there is none.
func (e *Executor) participant(p runtime.Participant) *participant {
	for i := range e.participants {
		if e.participants[i].Participant == p {
			return &e.participants[i]
		}
	}
	return nil
}

// key returns the key of the call's transaction.
func (c *ident) key() runtime.CallKey {
	return runtime.CallKey{Session: c.run.session.id, Call: c.id, Undo: c.undoing}
}

// fencedError returns the error of an operation after the outcome, or after the end of the attempt.
func (c *ident) fencedError() error {
	return fmt.Errorf("%s: %w", callName(c.id, c.record.tool), runtime.ErrFenced)
}
