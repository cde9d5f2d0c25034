package transaction

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/lease"
	"github.com/ambit-tools/ambit/runtime/internal/lockorder"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
)

// An Env is what a Transaction needs of its executor.
type Env struct {
	Sched *sched.Scheduler
	Lease *lease.Lease  // under which effects are carried out; nil: there is no journal
	Grace time.Duration // for a participant that seals while the transaction is rolled back, and for a rollback

	// Report takes a fault of a participant that changes no result. It is called without a lock.
	Report func(error)
}

// A Transaction is what participants do for one attempt. The zero value has no parts.
type Transaction struct {
	mu      lockorder.Mutex[lockorder.Parts]
	parts   []*part      // in the order in which they began
	sealing *sched.Event // fires when no goroutine commits; nil: none has begun to
}

// A part is the part of an attempt at a participant. The lock of the transaction guards it until ready
// fires.
type part struct {
	participant *Participant
	part        runtime.Part // nil: Begin failed, or returned too late
	err         error
	ready       sched.Event // fired when part and err are set
}

// An Attempt is the context in which parts begin. It ends with the attempt.
type Attempt interface {
	context.Context

	// Key is the key of the transaction.
	Key() runtime.CallKey

	// WhileOpen calls f while the fence of the attempt is open and cannot be shut. It reports false,
	// and does not call f, when the fence is shut.
	WhileOpen(f func()) bool

	// Fenced returns the error of an operation after the fence was shut.
	Fenced() error
}

// Part returns the part of an attempt at p, and begins it if necessary. A part that begins too late is
// rolled back at once.
func (t *Transaction) Part(at Attempt, p *Participant, env *Env) (runtime.Part, error) {
	var b *part
	var begins bool
	switch open := at.WhileOpen(func() { b, begins = t.enter(p) }); {
	case !open:
		return nil, at.Fenced()
	case begins:
		return t.begin(at, b, env)
	case env.Sched.Wait(&b.ready, nil, at.Done()) == sched.Done:
		return nil, at.Fenced()
	}
	return b.part, b.err
}

// enter returns the part at p, and whether the caller has to begin it.
func (t *Transaction) enter(p *Participant) (b *part, begins bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := slices.IndexFunc(t.parts, func(b *part) bool { return b.participant == p }); i >= 0 {
		return t.parts[i], false
	}
	b = &part{participant: p}
	t.parts = append(t.parts, b)
	return b, true
}

// begin begins a part.
func (t *Transaction) begin(at Attempt, b *part, env *Env) (runtime.Part, error) {
	defer env.Sched.Fire(&b.ready)
	var began runtime.Part
	err := usercode.Call(func() (err error) {
		began, err = b.participant.Begin(at, at.Key())
		return err
	})
	if err != nil {
		err = fmt.Errorf("participant %q: %w", b.participant.Name, err)
		t.mu.Lock()
		b.err = err
		t.mu.Unlock()
		return nil, err
	}
	if at.WhileOpen(func() { t.set(b, began) }) {
		return began, nil
	}
	if err := usercode.Call(func() error { return began.Rollback(context.WithoutCancel(at)) }); err != nil {
		env.Report(fmt.Errorf("participant %q, which began too late: %w", b.participant.Name, err))
	}
	return nil, at.Fenced()
}

// set makes began a part of the transaction.
func (t *Transaction) set(b *part, began runtime.Part) {
	t.mu.Lock()
	defer t.mu.Unlock()
	b.part = began
}

// Begun reports whether a part has begun, or tried to.
func (t *Transaction) Begun() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.parts) > 0
}

// Forget forgets the parts: they are settled, or another process settles them.
func (t *Transaction) Forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.parts = nil
}

// begun returns the parts that have begun.
func (t *Transaction) begun() []*part {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(t.parts), func(b *part) bool { return b.part == nil })
}

// Rollback rolls the parts back, the last first, and reports whether nothing is left of what the
// attempt did. The fence is shut. A participant that does not return within the grace period is
// reported and left.
func (t *Transaction) Rollback(ctx context.Context, env *Env) bool {
	t.mu.Lock()
	parts, sealing := slices.Clone(t.parts), t.sealing
	t.mu.Unlock()
	if sealing != nil && !env.Sched.WaitFor(sealing, env.Grace) {
		env.Report(errors.New("rollback: a participant does not return from sealing: it is left open"))
		return false
	}
	ok := true
	for _, b := range slices.Backward(parts) {
		if b.part == nil {
			ok = ok && b.ready.Fired() // a part that still begins rolls itself back later
			continue
		}
		if err := deadline.Call(env.Sched, ctx, env.Grace, env.rollbackOf(b.part)); err != nil {
			ok = false
			env.Report(fmt.Errorf("participant %q was not rolled back: %w", b.participant.Name, err))
		}
	}
	return ok
}

// rollbackOf returns the function that rolls a part back. The function does nothing when another
// process owns the journal, because the recovery of that process settles what participants hold. It
// rolls a foreign transaction back in any case (SEMANTICS 6.9).
func (env *Env) rollbackOf(p runtime.Part) func(context.Context) error {
	if _, yes := p.(runtime.ForeignPart); yes {
		return p.Rollback
	}
	return func(ctx context.Context) error {
		return env.Lease.Fence(ctx, func() error { return p.Rollback(ctx) })
	}
}
