package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// A CallKey names the transaction of a call, or that of its undo.
type CallKey struct {
	Session, Call string // the call's id is unique in its session
	Undo          bool   // the transaction is that of the undo handler
}

// A Participant takes part in the transactions of calls: what a handler does
// through it stands when the call completes, and is taken back when it does not
// (SEMANTICS section 6.8). Its methods are safe for concurrent use.
type Participant interface {
	// Begin starts what one call does here. It is called when the handler comes here
	// for the first time, and once per attempt.
	Begin(ctx context.Context, key CallKey) (Part, error)

	// Unsettled returns the calls of which something is left that was neither
	// committed nor rolled back: those of a process that died.
	Unsettled(ctx context.Context) ([]CallKey, error)

	// Settle commits what is left of a call, or rolls it back. It may be called again.
	Settle(ctx context.Context, key CallKey, commit bool) error
}

// A Part is what one call does at one participant. No handler uses it any more
// when the first of these methods is called.
type Part interface {
	// Seal makes sure that Commit can be done, after a crash too, and returns a
	// digest of what will stand; nil when nothing was changed.
	Seal(ctx context.Context) ([]byte, error)

	// Commit makes what was done stand. It is called after it was recorded that it
	// will be.
	Commit(ctx context.Context) error

	// Rollback makes everything as it was. An error says what is not.
	Rollback(ctx context.Context) error
}

// A ForeignPart is a Part in a system with transactions of its own, of which
// nobody knows after a crash whether they were committed. A call has one at most.
type ForeignPart interface {
	Part

	// Foreign does nothing.
	Foreign()
}

// ErrMaybeCommitted is returned by the Commit of a ForeignPart that does not know
// whether it has committed. Any other error says that it has not.
var ErrMaybeCommitted = errors.New("it is not known whether it was committed")

// WithParticipant adds a participant under a name, by which the journal knows it:
// it must be the same ever after.
func WithParticipant(name string, p Participant) Option {
	return func(e *Executor) { e.participants = append(e.participants, participant{name, p}) }
}

// A participant has a name.
type participant struct {
	name string
	Participant
}

// PartOf returns the part of the call that ctx was made for at p, which must be
// one of the executor's. It begins it when it has not begun. Once the call has
// its outcome, or the attempt is over, the error is ErrFenced.
func PartOf(ctx context.Context, p Participant) (Part, error) {
	at := contextOf(ctx)
	if at == nil {
		return nil, ErrNoCall
	}
	return at.call.part(at, p)
}

// ErrReadOnly says that a tool of effect read was about to write.
var ErrReadOnly = errors.New("the tool is declared effect: read: declare effect: write, or read without the transaction of the call")

// WritePartOf is PartOf for what a handler is about to change. In a call, or an undo,
// of a tool whose effect is read the error is ErrReadOnly, and nothing is begun:
// recovery, consent and policies take such a tool at its word (SEMANTICS section 6.7).
func WritePartOf(ctx context.Context, p Participant) (Part, error) {
	at := contextOf(ctx)
	if at == nil {
		return nil, ErrNoCall
	}
	c := at.call
	if c.tool.spec.Effect != SideEffectRead {
		return c.part(at, p)
	}
	who := c.exec.participant(p)
	if who == nil {
		return nil, notParticipant(p)
	}
	return nil, fmt.Errorf("tool %q cannot write through participant %q: %w", c.tool.spec.Name, who.name, ErrReadOnly)
}

// notParticipant is the error of a participant that the executor does not know.
func notParticipant(p Participant) error {
	return fmt.Errorf("%T is no participant of this executor: give it to NewExecutor with WithParticipant", p)
}

// A begun part is what one attempt of a call does at a participant. The mutex of
// its call guards it.
type begun struct {
	at    *participant
	part  Part // nil: it could not begin, or began too late
	err   error
	ready signal // happens when the two above are set
}

// part returns the part of an attempt at p.
func (c *call) part(at *callContext, p Participant) (Part, error) {
	who := c.exec.participant(p)
	if who == nil {
		return nil, notParticipant(p)
	}
	c.mu.Lock()
	if at.attempt != c.attempt || c.fence.closed {
		c.mu.Unlock()
		return nil, c.fenced()
	}
	i := slices.IndexFunc(c.parts, func(b *begun) bool { return b.at == who })
	if i >= 0 {
		b := c.parts[i]
		c.mu.Unlock()
		if c.exec.wait(&b.ready, nil, at.Done()) == sawDone {
			return nil, c.fenced()
		}
		return b.part, b.err
	}
	b := &begun{at: who}
	c.parts = append(c.parts, b)
	c.mu.Unlock()
	return c.beginPart(at, b)
}

// beginPart lets a part begin. When it has begun too late it takes itself back:
// nobody else knows it.
func (c *call) beginPart(at *callContext, b *begun) (Part, error) {
	defer c.exec.fire(&b.ready)
	var part Part
	err := guard(func() (err error) {
		part, err = b.at.Begin(at, c.key())
		return err
	})
	if err != nil {
		err = fmt.Errorf("participant %q: %w", b.at.name, err)
	}
	c.mu.Lock()
	late := at.attempt != c.attempt || c.fence.closed
	if b.err = err; err == nil && !late {
		b.part = part
	}
	c.mu.Unlock()
	switch {
	case err != nil:
		return nil, err
	case late:
		if err := guard(func() error { return part.Rollback(context.WithoutCancel(at)) }); err != nil {
			c.exec.report(c.faulty(ReasonCommitFailed, fmt.Errorf("participant %q, which began too late: %w", b.at.name, err)))
		}
		return nil, c.fenced()
	}
	return part, nil
}

// participant returns the entry of p, nil when there is none.
func (e *Executor) participant(p Participant) *participant {
	for i := range e.participants {
		if e.participants[i].Participant == p {
			return &e.participants[i]
		}
	}
	return nil
}

// key names the call.
func (c *call) key() CallKey {
	return CallKey{Session: c.run.session.id, Call: c.id, Undo: c.undoing}
}

// fenced is the error of what comes after the outcome, or the end of the attempt.
func (c *call) fenced() error { return fmt.Errorf("%s: %w", callName(c.id, c.record.tool), ErrFenced) }
