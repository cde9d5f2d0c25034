package transaction

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// A Result is what became of a Commit.
type Result uint8

// The results of Commit.
const (
	Committed Result = iota // or there was nothing to commit
	Failed                  // nothing is committed: the caller rolls the parts back
	Undecided               // the decision to commit was not made or not recorded; the error is that of decide
	Unknown                 // the foreign transaction may have been committed; the parts wait for recovery
)

var errForeign = errors.New("the call has more than one foreign transaction: when one of them fails the other may have been committed")

// BeginSeal says that the calling goroutine is about to commit. Rollback then waits for EndSeal. The
// fence is shut in the same step.
func (t *Transaction) BeginSeal() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sealing = sched.NewEvent()
}

// EndSeal undoes BeginSeal.
func (t *Transaction) EndSeal(s *sched.Scheduler) {
	t.mu.Lock()
	sealing := t.sealing
	t.mu.Unlock()
	s.Fire(sealing)
}

// Commit seals the parts and commits them. If a part has changed something, Commit first calls decide, which
// records the decision to commit with the seals and returns when that is durable; from then on
// recovery commits what Commit does not. ctx is that of the attempt. readOnly says that the result is
// the same whether the foreign transaction was committed or not.
func (t *Transaction) Commit(ctx context.Context, env *Env, readOnly bool, decide func([]journal.Seal) error) (Result, error) {
	parts := t.begun()
	if len(parts) == 0 {
		return Committed, nil
	}
	seals, err := seal(ctx, parts)
	if err != nil {
		return Failed, err
	}
	after := context.WithoutCancel(ctx)
	if len(seals) > 0 { // else the parts changed nothing: no decision is needed
		if err := decide(seals); err != nil {
			return Undecided, err
		}
		err := commitForeign(after, env, parts)
		maybe := errors.Is(err, runtime.ErrMaybeCommitted)
		switch {
		case maybe && !readOnly:
			return Unknown, err
		case err != nil && !maybe:
			return Failed, err
		}
	}
	commitOwn(after, env, parts)
	t.Forget()
	return Committed, nil
}

// seal seals all parts and returns the seals of the foreign part and of the parts that changed
// something (SEMANTICS 6.8).
func seal(ctx context.Context, parts []*part) (seals []journal.Seal, err error) {
	foreign := 0
	for _, b := range parts {
		_, yes := b.part.(runtime.ForeignPart)
		if yes {
			foreign++
		}
		var digest []byte
		err := usercode.Call(func() (err error) {
			digest, err = b.part.Seal(ctx)
			return err
		})
		switch {
		case err != nil:
			return nil, fmt.Errorf("participant %q: %w", b.participant.Name, err)
		case foreign > 1:
			return nil, errForeign
		case digest != nil || yes:
			seals = append(seals, journal.Seal{Participant: b.participant.Name, Digest: hex.EncodeToString(digest), Foreign: yes})
		}
	}
	return seals, nil
}

// commitForeign commits the foreign part, which may still fail, if there is one (SEMANTICS 6.9).
func commitForeign(ctx context.Context, env *Env, parts []*part) error {
	for _, b := range parts {
		if _, yes := b.part.(runtime.ForeignPart); yes {
			return usercode.Call(func() error { return env.Lease.Fence(ctx, func() error { return b.part.Commit(ctx) }) })
		}
	}
	return nil
}

// commitOwn commits the parts whose Commit does not fail, which Seal has made sure of. If one fails
// nevertheless, the next recovery commits it.
func commitOwn(ctx context.Context, env *Env, parts []*part) {
	for _, b := range parts {
		if _, yes := b.part.(runtime.ForeignPart); yes {
			continue
		}
		if err := usercode.Call(func() error { return b.part.Commit(ctx) }); err != nil {
			env.Report(fmt.Errorf("participant %q: %w", b.participant.Name, err))
		}
	}
}
