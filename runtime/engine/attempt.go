package engine

// An attempt is the code of a tool while it runs for a call: its context, the fence that its effects pass, and its parts at
// participants.
//
// An attemptScope belongs to a call, or to the undo of one. Begin makes the attemptContext of each attempt, which
// runtime.FromContext, runtime.Commit and runtime.PartOf work on. Only the latest attempt has effects, and only while the
// fence of its lifecycle is open. Seal shuts the fence before a commit, ShutFence before a rollback: later effects are
// refused with runtime.ErrFenced.
//
// The lock and the lifecycle are those of the owner, because one step decides who may end the call and which effects are
// let in.

import (
	"context"
	"errors"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/callctx"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/lease"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/live"
	"github.com/ambit-tools/ambit/runtime/internal/lockorder"
	"github.com/ambit-tools/ambit/runtime/internal/redact"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/transaction"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// An attemptEnv is what the scopes of an executor share.
type attemptEnv struct {
	Sched        *sched.Scheduler
	Lease        *lease.Lease // nil: there is no journal
	Participants transaction.Participants
	Grace        time.Duration // for effects, seals and rollbacks that have begun
}

// An attemptOwner is the call, or the undo, that a scope belongs to.
type attemptOwner interface {
	// Info describes the call, without what the scope knows: the attempt, its deadline, the key of
	// its effect, the fence and the clock. The lock of the owner is held.
	Info() callctx.Info

	// Declaration returns the spec of the tool.
	Declaration() *runtime.Spec

	// PartFault takes a fault of a participant that changes no result. No lock is held.
	PartFault(err error)

	// hidden returns the sensitive values that are taken out of the texts of the owner, nil when no text of it
	// may be told. It may run code of the tool: no lock is held.
	hidden() *redact.Secrets

	// publish passes on a piece of its output. The lock of the owner is held: publish does not wait.
	publish(*live.Piece)
}

// Errors of commits that did not end in time.
var (
	errWriting    = errors.New("an effect under the fence has not ended") // before the commit
	errCommitting = errors.New("the commit has not ended")
)

// An attemptScope is what the attempts of one call, or of one undo, do. Open prepares it.
type attemptScope struct {
	owner     attemptOwner
	processes processOwner // nil: it starts none
	env       *attemptEnv
	mu        *lockorder.Mutex[lockorder.Call] // guards all that follows
	life      *lifecycle.Call

	effect  rules.Digest    // key of the effect; zero: none
	first   attemptContext  // of the first attempt
	latest  *attemptContext // nil: no attempt has begun
	parts   transaction.Transaction
	output  *live.Output     // nil: nothing was reported
	process *journal.Process // that has ended, and of which no entry has the end yet; nil: none
	telling runtime.Timer    // of a piece that waits; nil: none does
	drained *sched.Event     // fires when the fence is shut and no effect is inside; nil: no goroutine waits
}

// Open prepares s for an owner, with the lock and the lifecycle of the owner. processes is nil where it starts none.
func (s *attemptScope) Open(owner attemptOwner, processes processOwner, env *attemptEnv, mu *lockorder.Mutex[lockorder.Call], life *lifecycle.Call) {
	s.owner, s.processes, s.env, s.mu, s.life = owner, processes, env, mu, life
}

// SetEffect sets the key of the effect. The lock is held.
func (s *attemptScope) SetEffect(key rules.Digest) { s.effect = key }

// Effect returns the key of the effect, zero when there is none. The lock is held.
func (s *attemptScope) Effect() rules.Digest { return s.effect }

// Begin makes the context of the attempt that has begun in the lifecycle. It ends at due, but only
// when Cancel ends it. The lock is held.
func (s *attemptScope) Begin(parent context.Context, due time.Time) {
	if s.latest == nil {
		s.latest = &s.first
	} else {
		s.latest = new(attemptContext)
	}
	at := s.latest
	at.Parent, at.Due, at.scope, at.number = parent, due, s, s.life.Attempt()
}

// attemptContext returns the context of the latest attempt, nil before the first.
func (s *attemptScope) Context() *attemptContext { return s.latest }

// Due returns when the latest attempt has to end.
func (s *attemptScope) Due() time.Time {
	if s.latest == nil {
		return time.Time{}
	}
	return s.latest.Due
}

// Cancel ends the context of the latest attempt. There is one.
func (s *attemptScope) Cancel(why deadline.Cause) { s.latest.Cancel(why) }

// Info describes the call in its latest attempt (SEMANTICS 6.11).
func (s *attemptScope) Info() callctx.Info {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.owner.Info()
	i.Attempt, i.Deadline, i.Effect = s.life.Attempt(), s.Due(), s.effect
	i.Fence, i.Now = s.env.Lease.Epoch(), s.env.Sched.Clock()
	return i
}

// Ended reports whether the owner has its result.
func (s *attemptScope) Ended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.life.Ended()
}

// Aborted reports whether a shutdown has canceled the attempt.
func (s *attemptScope) Aborted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.life.Aborted()
}

// ShutFence lets no further effects in. It returns the event that fires when the effects inside have
// ended, nil when there are none. The lock is held.
func (s *attemptScope) ShutFence() *sched.Event {
	endReports(s)
	if s.life.ShutFence() && s.drained == nil {
		s.drained = sched.NewEvent()
	}
	return s.drained
}

// leaveEffect ends an effect under the fence.
func (s *attemptScope) leaveEffect() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.life.LeaveEffect() && s.drained != nil {
		s.env.Sched.Fire(s.drained)
		s.drained = nil
	}
}

// Drain waits for the event of ShutFence, at most for the grace period. It reports whether no effect
// is left.
func (s *attemptScope) Drain(drained *sched.Event) bool {
	return drained == nil || s.env.Sched.WaitFor(drained, s.env.Grace)
}

// HasParts reports whether a part at a participant has begun, or tried to.
func (s *attemptScope) HasParts() bool { return s.parts.Begun() }

// Seal shuts the fence for a commit, which the caller begins with Commit. A rollback waits for it.
// The lock is held.
func (s *attemptScope) Seal() *sched.Event {
	s.parts.BeginSeal()
	return s.ShutFence()
}

// Commit commits the parts, after the effects inside have ended. drained is the event of Seal. The
// other parameters and the results are those of Transaction.Commit.
func (s *attemptScope) Commit(drained *sched.Event, readOnly bool, decide func([]journal.Seal) error) (transaction.Result, error) {
	defer s.parts.EndSeal(s.env.Sched)
	if !s.Drain(drained) {
		return transaction.Failed, errWriting
	}
	return s.parts.Commit(s.latest, s.transactionEnv(), readOnly, decide)
}

// Rollback rolls the parts back, and reports whether nothing is left of what the attempt did. The
// fence is shut, and no other goroutine ends the owner meanwhile.
func (s *attemptScope) Rollback(ctx context.Context) bool {
	return s.parts.Rollback(context.WithoutCancel(ctx), s.transactionEnv())
}

// Forget forgets the parts: they are settled, or recovery settles them.
func (s *attemptScope) Forget() { s.parts.Forget() }

// transactionEnv returns what the transaction needs.
func (s *attemptScope) transactionEnv() *transaction.Env {
	return &transaction.Env{Sched: s.env.Sched, Lease: s.env.Lease, Grace: s.env.Grace, Report: s.owner.PartFault}
}
