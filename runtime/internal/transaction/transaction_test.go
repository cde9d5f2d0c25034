package transaction_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/transaction"
	"github.com/ambit-tools/ambit/runtime/journal"
)

var errFails = errors.New("it fails")

// A rig is a transaction over participants, and what they did.
type rig struct {
	transaction.Transaction
	sched sched.Scheduler
	env   transaction.Env
	list  transaction.Participants

	mu      sync.Mutex
	shut    bool // the fence
	did     []string
	reports []string
}

func newRig(of ...*participant) *rig {
	r := &rig{}
	r.env = transaction.Env{Sched: &r.sched, Grace: time.Second, Report: func(err error) { r.reports = append(r.reports, err.Error()) }}
	for _, p := range of {
		p.rig = r
		r.list = append(r.list, transaction.Participant{Name: p.name, Participant: p})
	}
	return r
}

func (r *rig) note(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.did = append(r.did, what)
}

// An attempt is an attempt of the rig.
type attempt struct {
	context.Context
	*rig
}

func (a attempt) Key() runtime.CallKey { return runtime.CallKey{Session: "s", Call: "c1"} }

func (a attempt) WhileOpen(f func()) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.shut {
		f()
	}
	return !a.shut
}

func (a attempt) Fenced() error { return runtime.ErrFenced }

func (r *rig) shutFence() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shut = true
}

// begin begins the parts of all participants.
func (r *rig) begin(t *testing.T) {
	t.Helper()
	for i := range r.list {
		_, err := r.Part(attempt{t.Context(), r}, &r.list[i], &r.env)
		require.NoError(t, err)
	}
}

// A participant is one that fails where the test says so.
type participant struct {
	name    string
	rig     *rig
	foreign bool
	idle    bool             // nothing is changed: there is no digest
	fails   map[string]error // by step
	hangs   map[string]chan struct{}
	left    []runtime.CallKey
}

func (p *participant) step(name string) error {
	p.rig.note(p.name + " " + name)
	if hang := p.hangs[name]; hang != nil {
		<-hang
	}
	return p.fails[name]
}

func (p *participant) Begin(_ context.Context, key runtime.CallKey) (runtime.Part, error) {
	if err := p.step("begin"); err != nil {
		return nil, err
	}
	if p.foreign {
		return foreignPart{part{p}}, nil
	}
	return part{p}, nil
}

func (p *participant) Unsettled(context.Context) ([]runtime.CallKey, error) {
	return p.left, p.fails["unsettled"]
}

func (p *participant) Settle(_ context.Context, key runtime.CallKey, commit bool) error {
	if commit {
		return p.step("settled " + key.Call)
	}
	return p.step("taken back " + key.Call)
}

type part struct{ p *participant }

func (b part) Seal(context.Context) ([]byte, error) {
	if b.p.idle {
		return nil, b.p.step("seal")
	}
	return []byte{1}, b.p.step("seal")
}

func (b part) Commit(ctx context.Context) error {
	if ctx.Done() != nil {
		return errors.New("a commit cannot be canceled")
	}
	return b.p.step("commit")
}
func (b part) Rollback(context.Context) error { return b.p.step("rollback") }

type foreignPart struct{ part }

func (foreignPart) Foreign() {}

// TestCommit: the parts are sealed, the decision is made, the foreign part commits first.
func TestCommit(t *testing.T) {
	r := newRig(&participant{name: "a"}, &participant{name: "idle", idle: true}, &participant{name: "f", foreign: true, idle: true})
	assert.False(t, r.Begun())
	r.begin(t)
	assert.True(t, r.Begun())
	r.BeginSeal()
	what, err := r.Commit(t.Context(), &r.env, false, func(seals []journal.Seal) error {
		assert.Equal(t, []journal.Seal{{Participant: "a", Digest: "01"}, {Participant: "f", Foreign: true}}, seals)
		r.note("decide")
		return nil
	})
	r.EndSeal(&r.sched)
	require.NoError(t, err)
	assert.Equal(t, transaction.Committed, what)
	assert.Equal(t, []string{
		"a begin", "idle begin", "f begin", "a seal", "idle seal", "f seal", "decide", "f commit", "a commit", "idle commit",
	}, r.did)
	assert.False(t, r.Begun())
	assert.Empty(t, r.reports)
}

// A failingCommit is a commit that fails at a step, and what is done then.
type failingCommit struct {
	of     []*participant
	decide error
	reads  bool
	want   transaction.Result
	begun  bool
	err    string
	did    []string // after the parts began
	report []string
}

func own(fails map[string]error) *participant { return &participant{name: "a", fails: fails} }

func foreign(name string, err error) *participant {
	return &participant{name: name, foreign: true, fails: map[string]error{"commit": err}}
}

var failingCommits = map[string]failingCommit{
	"a seal": {
		of: []*participant{own(map[string]error{"seal": errFails}), foreign("f", nil)}, want: transaction.Failed, begun: true,
		err: `participant "a": it fails`, did: []string{"a seal"},
	},
	"two foreign parts": {
		of: []*participant{foreign("f", nil), foreign("g", nil)}, want: transaction.Failed, begun: true,
		err: "the call has more than one foreign transaction: when one of them fails the other may have been committed",
		did: []string{"f seal", "g seal"},
	},
	"the decision": {
		of: []*participant{own(nil)}, decide: errFails, want: transaction.Undecided, begun: true, err: "it fails", did: []string{"a seal"},
	},
	"the foreign part": {
		of: []*participant{own(nil), foreign("f", errFails)}, want: transaction.Failed, begun: true, err: "it fails",
		did: []string{"a seal", "f seal", "f commit"},
	},
	"the foreign part, perhaps": {
		of: []*participant{own(nil), foreign("f", runtime.ErrMaybeCommitted)}, want: transaction.Unknown, begun: true,
		err: runtime.ErrMaybeCommitted.Error(), did: []string{"a seal", "f seal", "f commit"},
	},
	"the foreign part of a call that reads, perhaps": {
		of: []*participant{own(nil), foreign("f", runtime.ErrMaybeCommitted)}, reads: true,
		did: []string{"a seal", "f seal", "f commit", "a commit"},
	},
	"the foreign part of a call that reads": {
		of: []*participant{foreign("f", errFails)}, reads: true, want: transaction.Failed, begun: true, err: "it fails",
		did: []string{"f seal", "f commit"},
	},
	"a part that promised not to": {
		of: []*participant{own(map[string]error{"commit": errFails}), {name: "b"}}, did: []string{"a seal", "b seal", "a commit", "b commit"},
		report: []string{`participant "a": it fails`},
	},
	"nothing, since nothing has begun": {},
}

// TestCommitThatFails says what became of a commit that fails at a step, and what is done then.
func TestCommitThatFails(t *testing.T) {
	for name, row := range failingCommits {
		t.Run(name, func(t *testing.T) {
			r := newRig(row.of...)
			r.begin(t)
			r.did = nil
			what, err := r.Commit(t.Context(), &r.env, row.reads, func([]journal.Seal) error { return row.decide })
			assert.Equal(t, row.want, what)
			if row.err == "" {
				require.NoError(t, err)
			} else {
				require.EqualError(t, err, row.err)
			}
			assert.Equal(t, row.did, r.did)
			assert.Equal(t, row.begun, r.Begun())
			assert.Equal(t, row.report, r.reports)
		})
	}
}

// TestNothingChanged: without a change there is nothing to decide.
func TestNothingChanged(t *testing.T) {
	r := newRig(&participant{name: "a", idle: true})
	r.begin(t)
	what, err := r.Commit(t.Context(), &r.env, false, func([]journal.Seal) error {
		t.Error("there is a decision")
		return nil
	})
	require.NoError(t, err)
	assert.Equal(t, transaction.Committed, what)
	assert.Equal(t, []string{"a begin", "a seal", "a commit"}, r.did)
}

// TestRollback rolls the parts back, the last first, past one that fails and one that hangs.
func TestRollback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		r := newRig(&participant{name: "a"}, &participant{name: "b", fails: map[string]error{"rollback": errFails}},
			&participant{name: "c", hangs: map[string]chan struct{}{"rollback": hang}})
		r.begin(t)
		r.did = nil
		assert.False(t, r.Rollback(t.Context(), &r.env))
		assert.Equal(t, []string{"c rollback", "b rollback", "a rollback"}, r.did)
		assert.Equal(t, []string{`participant "c" was not rolled back: it did not finish within 1s`, `participant "b" was not rolled back: it fails`}, r.reports)
		close(hang)

		r = newRig(&participant{name: "a"})
		r.begin(t)
		assert.True(t, r.Rollback(t.Context(), &r.env))
		r.Forget()
		assert.False(t, r.Begun())
		assert.True(t, r.Rollback(t.Context(), &r.env), "there is nothing")
	})
}

// TestRollbackWaitsForSeal: a part is not rolled back while a goroutine seals it, unless that hangs.
func TestRollbackWaitsForSeal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		r := newRig(&participant{name: "a", hangs: map[string]chan struct{}{"seal": hang}})
		r.begin(t)
		r.BeginSeal()
		go func() {
			defer r.EndSeal(&r.sched)
			_, _ = r.Commit(t.Context(), &r.env, false, func([]journal.Seal) error { return errFails })
		}()
		synctest.Wait()
		assert.False(t, r.Rollback(t.Context(), &r.env))
		assert.Equal(t, []string{"rollback: a participant does not return from sealing: it is left open"}, r.reports)
		time.AfterFunc(time.Second/2, func() { close(hang) })
		assert.True(t, r.Rollback(t.Context(), &r.env))
		assert.Equal(t, []string{"a begin", "a seal", "a rollback"}, r.did)
	})
}

// TestPart: a part begins once, also for goroutines that ask for it at the same time.
func TestPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		r := newRig(&participant{name: "a", hangs: map[string]chan struct{}{"begin": hang}})
		ctx, cancel := context.WithCancel(t.Context())
		at := attempt{ctx, r}
		var parts sync.WaitGroup
		for range 2 {
			parts.Go(func() {
				p, err := r.Part(at, &r.list[0], &r.env)
				assert.NoError(t, err)
				assert.NotNil(t, p)
			})
		}
		synctest.Wait()
		close(hang)
		parts.Wait()
		assert.Equal(t, []string{"a begin"}, r.did)
		cancel()
		r.shutFence()
		_, err := r.Part(at, &r.list[0], &r.env)
		require.ErrorIs(t, err, runtime.ErrFenced)
	})
}

// TestPartThatFails: every goroutine that asks for the part gets the error, and there is nothing to
// roll back.
func TestPartThatFails(t *testing.T) {
	r := newRig(&participant{name: "a", fails: map[string]error{"begin": errFails}})
	for range 2 {
		_, err := r.Part(attempt{t.Context(), r}, &r.list[0], &r.env)
		require.EqualError(t, err, `participant "a": it fails`)
	}
	assert.True(t, r.Begun())
	r.shutFence()
	assert.True(t, r.Rollback(t.Context(), &r.env))
	what, err := r.Commit(t.Context(), &r.env, false, nil)
	require.NoError(t, err)
	assert.Equal(t, transaction.Committed, what)
	assert.Equal(t, []string{"a begin"}, r.did)
}

// TestPartThatBeginsTooLate is rolled back by the goroutine that began it, and a goroutine that waits for
// it leaves with its context.
func TestPartThatBeginsTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		r := newRig(&participant{name: "a", hangs: map[string]chan struct{}{"begin": hang}, fails: map[string]error{"rollback": errFails}})
		ctx, cancel := context.WithCancel(t.Context())
		var parts sync.WaitGroup
		for range 2 {
			parts.Go(func() {
				_, err := r.Part(attempt{ctx, r}, &r.list[0], &r.env)
				assert.ErrorIs(t, err, runtime.ErrFenced)
			})
		}
		synctest.Wait()
		r.shutFence()
		cancel()
		synctest.Wait()
		assert.False(t, r.Rollback(t.Context(), &r.env), "it still begins")
		close(hang)
		parts.Wait()
		assert.Equal(t, []string{"a begin", "a rollback"}, r.did)
		assert.Equal(t, []string{`participant "a", which began too late: it fails`}, r.reports)
		assert.True(t, r.Rollback(t.Context(), &r.env))
		assert.Len(t, r.did, 2, "it is not rolled back twice")
	})
}

// TestSettle: what an earlier process has left is found by its key, and settled.
func TestSettle(t *testing.T) {
	one, two := runtime.CallKey{Session: "s", Call: "c1"}, runtime.CallKey{Session: "s", Call: "c2"}
	a, b := &participant{name: "a", left: []runtime.CallKey{one, two}}, &participant{name: "b", left: []runtime.CallKey{one}}
	r := newRig(a, b)
	assert.Same(t, &r.list[1], r.list.Find(b))
	assert.Nil(t, r.list.Find(&participant{}))
	left, err := r.list.Unsettled(t.Context())
	require.NoError(t, err)
	assert.Equal(t, map[runtime.CallKey][]*transaction.Participant{one: {&r.list[0], &r.list[1]}, two: {&r.list[0]}}, left)
	assert.True(t, transaction.Settle(t.Context(), two, left[two], true, r.env.Report))
	a.fails = map[string]error{"taken back c1": errFails}
	assert.False(t, transaction.Settle(t.Context(), one, left[one], false, r.env.Report))
	assert.Equal(t, []string{"a settled c2", "a taken back c1", "b taken back c1"}, r.did)
	assert.Equal(t, []string{`participant "a": what is left of the call cannot be settled: it fails`}, r.reports)
	a.fails = map[string]error{"unsettled": errFails}
	_, err = r.list.Unsettled(t.Context())
	require.EqualError(t, err, `participant "a": it fails`)
}
