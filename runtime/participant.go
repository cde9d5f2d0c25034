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

// WithParticipant adds a participant under a name. The journal identifies the participant by the
// name, which must therefore never change.
func WithParticipant(name string, p Participant) Option {
	return func(e *Executor) { e.participants = append(e.participants, participant{name, p}) }
}

// A participant is a Participant with its name.
type participant struct {
	name string
	Participant
}

// PartOf returns the part at p of the call that ctx was made for, and begins it if necessary. p
// must be a participant of the executor. Once the call has its outcome, or the attempt is over, the
// error is ErrFenced.
func PartOf(ctx context.Context, p Participant) (Part, error) {
	at := contextOf(ctx)
	if at == nil {
		return nil, ErrNoCall
	}
	return at.call.part(at, p)
}

// ErrReadOnly says that the handler of a tool of effect read tried to write.
var ErrReadOnly = errors.New("the tool is declared effect: read: declare effect: write, or read without the transaction of the call")

// WritePartOf is PartOf for a handler that is about to write. In a call, or an undo, of a tool
// whose effect is read the error is ErrReadOnly, and no part is begun: recovery, consent and
// policies rely on the declared effect (SEMANTICS section 6.7).
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

// notParticipant returns the error for a participant that was not given to the executor.
func notParticipant(p Participant) error {
	return fmt.Errorf("%T is no participant of this executor: give it to NewExecutor with WithParticipant", p)
}

// A begun is the part of one attempt of a call at a participant. The mutex of its call guards it.
type begun struct {
	at    *participant
	part  Part // nil: Begin failed, or returned too late
	err   error
	ready signal // fired when part and err are set
}

// part returns the part of an attempt at p.
func (c *call) part(at *callContext, p Participant) (Part, error) {
	who := c.exec.participant(p)
	if who == nil {
		return nil, notParticipant(p)
	}
	c.mu.Lock()
	if !agree(c, "part", at.attempt == c.attempt && !c.fence.closed, c.life.Passes(at.attempt)) {
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

// beginPart begins a part. It rolls back a part that has begun too late, because the call does not
// know that part.
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
	late := !agree(c, "part has begun", at.attempt == c.attempt && !c.fence.closed, c.life.Passes(at.attempt))
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

// key returns the key of the call's transaction.
func (c *call) key() CallKey {
	return CallKey{Session: c.run.session.id, Call: c.id, Undo: c.undoing}
}

// fenced returns the error of an operation after the outcome, or after the end of the attempt.
func (c *call) fenced() error { return fmt.Errorf("%s: %w", callName(c.id, c.record.tool), ErrFenced) }
