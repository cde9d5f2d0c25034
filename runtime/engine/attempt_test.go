package engine

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/internal/callctx"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/live"
	"github.com/ambit-tools/ambit/runtime/internal/lockorder"
	"github.com/ambit-tools/ambit/runtime/internal/redact"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/transaction"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// A silent owner reports nothing and starts no process.
type silent struct{}

func (silent) hidden() *redact.Secrets                      { return nil }
func (silent) publish(*live.Piece)                          {}
func (silent) processStarted(*journal.Process) error        { return nil }
func (silent) processEnded(*journal.Process, *process.Exit) {}
func (silent) processStale()                                {}

// An attemptCall owns a scope, and is a participant that notes what it does.
type attemptCall struct {
	silent
	attemptScope
	mu    lockorder.Mutex[lockorder.Call]
	life  lifecycle.Call
	sched sched.Scheduler
	spec  runtime.Spec
	did   []string
}

func attemptNewCall() *attemptCall {
	c := &attemptCall{spec: runtime.Spec{Name: "put", Effect: runtime.SideEffectWrite}}
	env := &attemptEnv{Sched: &c.sched, Participants: transaction.Participants{{Name: "here", Participant: c}}, Grace: time.Second}
	c.Open(c, nil, env, &c.mu, &c.life)
	return c
}

func (c *attemptCall) Info() callctx.Info {
	return callctx.Info{ID: "c1", Tool: "put", Session: "s", Undo: true, Attempt: 99}
}

func (c *attemptCall) Declaration() *runtime.Spec { return &c.spec }

func (c *attemptCall) PartFault(err error) { c.did = append(c.did, err.Error()) }

func (c *attemptCall) Begin(_ context.Context, key runtime.CallKey) (runtime.Part, error) {
	if key != (runtime.CallKey{Session: "s", Call: "c1", Undo: true}) {
		return nil, errors.New("another key")
	}
	c.did = append(c.did, "begin")
	return part{c}, nil
}

func (c *attemptCall) Unsettled(context.Context) ([]runtime.CallKey, error) { return nil, nil }

func (c *attemptCall) Settle(context.Context, runtime.CallKey, bool) error { return nil }

// A part is one of a call.
type part struct{ *attemptCall }

func (p part) Seal(context.Context) ([]byte, error) {
	p.did = append(p.did, "seal")
	return []byte{1}, nil
}

func (p part) Commit(context.Context) error {
	p.did = append(p.did, "commit")
	return nil
}

func (p part) Rollback(ctx context.Context) error {
	p.did = append(p.did, "rollback")
	if due, ok := ctx.Deadline(); !ok || !time.Now().Before(due) {
		return errors.New("there is no time left")
	}
	return ctx.Err()
}

// begin begins an attempt.
func (c *attemptCall) begin(t *testing.T, number int) *attemptContext {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.life = lifecycle.Call{}
	due := time.Now().Add(time.Minute)
	require.True(t, c.life.Undo(number, due))
	c.attemptScope.Begin(t.Context(), due)
	assert.Equal(t, due, c.Due())
	return c.Context()
}

// locked calls f under the lock of the call.
func (c *attemptCall) locked(f func() *sched.Event) *sched.Event {
	c.mu.Lock()
	defer c.mu.Unlock()
	return f()
}

// effect returns what an effect of an attempt comes to.
func effect(at *attemptContext) error {
	return at.Commit(func() error { return nil })
}

// TestOnlyTheLatestAttemptHasEffects: the effects of an earlier one are refused, and so are all when
// the fence is shut. The context of an attempt describes the call, and ends alone.
func TestOnlyTheLatestAttemptHasEffects(t *testing.T) {
	c := attemptNewCall()
	assert.True(t, c.Due().IsZero())
	assert.Nil(t, c.Context())
	first := c.begin(t, 1)
	require.NoError(t, effect(first))
	c.Cancel(deadline.Exceeded)
	second := c.begin(t, 2)
	require.ErrorIs(t, effect(first), runtime.ErrFenced)
	require.EqualError(t, effect(first), `call "c1" of "put": `+runtime.ErrFenced.Error())
	_, err := first.Part(c, true)
	require.ErrorIs(t, err, runtime.ErrFenced)
	require.NoError(t, effect(second))
	require.ErrorIs(t, first.Err(), context.DeadlineExceeded)
	require.NoError(t, second.Err())

	c.SetEffect(rules.Digest{7})
	assert.Same(t, second, second.Value(callctx.Key{}))
	assert.Equal(t, callctx.Info{
		ID: "c1", Tool: "put", Session: "s", Undo: true, Attempt: 2, Effect: rules.Digest{7}, Deadline: c.Due(),
	}, second.Value(callctx.Key{}).(*attemptContext).Info())

	assert.Nil(t, c.locked(c.ShutFence))
	require.ErrorIs(t, effect(second), runtime.ErrFenced)
	assert.False(t, second.WhileOpen(func() { t.Error("the fence is shut") }))
	assert.False(t, c.Ended())
	assert.False(t, c.Aborted())
}

// TestFenceIsHeldOverTheEffect: a fence that is shut waits for the effect inside, for the grace period.
func TestFenceIsHeldOverTheEffect(t *testing.T) {
	for name, lasts := range map[string]time.Duration{"in time": time.Second / 2, "too long": time.Minute} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := attemptNewCall()
				at := c.begin(t, 1)
				errWrite := errors.New("the disk is full")
				go func() {
					assert.ErrorIs(t, at.Commit(func() error { time.Sleep(lasts); return errWrite }), errWrite)
				}()
				synctest.Wait()
				drained := c.locked(c.ShutFence)
				require.NotNil(t, drained)
				assert.Same(t, drained, c.locked(c.ShutFence))
				start := time.Now()
				assert.Equal(t, lasts < time.Second, c.Drain(drained))
				assert.Equal(t, min(lasts, time.Second), time.Since(start))
				time.Sleep(time.Minute) // the effect ends
			})
		})
	}
}

// TestCommit: nothing passes the fence between the seal and the commit, and a commit does not begin
// while an effect runs.
func TestCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := attemptNewCall()
		at := c.begin(t, 1)
		assert.False(t, c.HasParts())
		_, err := at.Part(c, true)
		require.NoError(t, err)
		assert.True(t, c.HasParts())
		drained := c.locked(c.Seal)
		require.ErrorIs(t, effect(at), runtime.ErrFenced)
		what, err := c.attemptScope.Commit(drained, false, func([]journal.Seal) error {
			c.did = append(c.did, "decide")
			return nil
		})
		require.NoError(t, err)
		assert.Equal(t, transaction.Committed, what)
		assert.Equal(t, []string{"begin", "seal", "decide", "commit"}, c.did)
		assert.True(t, c.Rollback(t.Context()), "the commit has ended")
		assert.Len(t, c.did, 4, "nothing is left to roll back")

		at = c.begin(t, 2)
		_, err = at.Part(c, true)
		require.NoError(t, err)
		go func() { _ = at.Commit(func() error { time.Sleep(time.Hour); return nil }) }()
		synctest.Wait()
		what, err = c.attemptScope.Commit(c.locked(c.Seal), false, nil)
		require.ErrorIs(t, err, errWriting)
		assert.Equal(t, transaction.Failed, what)
		ctx, cancel := context.WithDeadline(t.Context(), time.Now())
		defer cancel()
		assert.True(t, c.Rollback(ctx), "a rollback does not end with the call")
		assert.Equal(t, []string{"begin", "rollback"}, c.did[4:])
		time.Sleep(time.Hour) // the effect ends
	})
}

// TestPartIsRefused to a tool that only reads, and at a participant that the executor does not know.
func TestPartIsRefused(t *testing.T) {
	c := attemptNewCall()
	at := c.begin(t, 1)
	_, err := at.Part(&attemptCall{}, false)
	require.ErrorContains(t, err, "is no participant of this executor")
	c.spec.Effect = runtime.SideEffectRead
	_, err = at.Part(c, true)
	require.ErrorIs(t, err, runtime.ErrReadOnly)
	require.ErrorContains(t, err, `tool "put" cannot write through participant "here"`)
	_, err = at.Part(c, false)
	require.NoError(t, err)
	c.Forget()
	assert.False(t, c.HasParts())
}
