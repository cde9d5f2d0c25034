package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// A ledgerOfWrites is a participant that several executors use one after the other.
// What a handler writes through it takes effect at once and can be rolled back.
type ledgerOfWrites struct {
	mu      sync.Mutex
	foreign bool
	fails   map[string]error  // by method
	hang    chan struct{}     // Rollback waits for it
	at      map[string]func() // called at a step
	open    map[runtime.CallKey][]string
	stands  []string
	steps   []string
	place   string // empty: it does not say where it keeps parts
}

func (l *ledgerOfWrites) Place() string { return l.place }

type writePart struct {
	of  *ledgerOfWrites
	key runtime.CallKey
}

// foreignPart is a writePart of a foreign system.
type foreignPart struct{ writePart }

func (foreignPart) Foreign() {}

func (l *ledgerOfWrites) step(name string) error {
	l.steps = append(l.steps, name)
	if f := l.at[name]; f != nil {
		f()
	}
	return l.fails[name]
}

func (l *ledgerOfWrites) Begin(_ context.Context, key runtime.CallKey) (runtime.Part, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.step("begin"); err != nil {
		return nil, err
	}
	if l.open == nil {
		l.open = map[runtime.CallKey][]string{}
	}
	l.open[key] = []string{}
	if l.foreign {
		return foreignPart{writePart{l, key}}, nil
	}
	return writePart{l, key}, nil
}

func (l *ledgerOfWrites) Unsettled(context.Context) (keys []runtime.CallKey, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for k := range l.open {
		keys = append(keys, k)
	}
	return keys, l.fails["unsettled"]
}

func (l *ledgerOfWrites) Settle(_ context.Context, key runtime.CallKey, commit bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.step("settle"); err != nil {
		return err
	}
	l.close(key, commit)
	return nil
}

func (l *ledgerOfWrites) close(key runtime.CallKey, commit bool) {
	if !commit {
		for _, w := range l.open[key] {
			l.stands = slices.DeleteFunc(l.stands, func(s string) bool { return s == w })
		}
	}
	delete(l.open, key)
}

// write is called by handlers.
func (l *ledgerOfWrites) write(ctx context.Context, text string) error {
	part, err := runtime.PartOf(ctx, l)
	if err != nil {
		return err
	}
	return runtime.Commit(ctx, func() error {
		l.mu.Lock()
		defer l.mu.Unlock()
		key := part.(interface{ Key() runtime.CallKey }).Key()
		l.open[key] = append(l.open[key], text)
		l.stands = append(l.stands, text)
		return nil
	})
}

func (p writePart) Key() runtime.CallKey { return p.key }

func (p writePart) Seal(context.Context) ([]byte, error) {
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	if len(p.of.open[p.key]) == 0 {
		return nil, p.of.step("seal")
	}
	return []byte("digest"), p.of.step("seal")
}

func (p writePart) Commit(context.Context) error { return p.end("commit", true) }

func (p writePart) Rollback(context.Context) error {
	if p.of.hang != nil {
		<-p.of.hang
	}
	return p.end("rollback", false)
}

func (p writePart) end(name string, commit bool) error {
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	if err := p.of.step(name); err != nil {
		return err
	}
	p.of.close(p.key, commit)
	return nil
}

// writeTool returns a tool that writes its path and then calls after.
func writeTool(l *ledgerOfWrites, after readFunc, change ...func(*runtime.Spec)) *runtime.Tool {
	return readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
		if err := l.write(ctx, in.Path); err != nil {
			return nil, err
		}
		return after(ctx, in)
	}, append([]func(*runtime.Spec){func(s *runtime.Spec) { s.Effect = runtime.SideEffectWrite }}, change...)...)
}

func transacting(t *testing.T, j journal.Journal, l *ledgerOfWrites, tools ...*runtime.Tool) *rig {
	t.Helper()
	r := newRigWith(t, runtime.PolicyFunc(allowAll), tools, engine.WithJournal(j), engine.WithParticipant("writes", l))
	r.recover()
	return r
}

// TestATransactionalToolThatTouchesNoParticipant is reported once.
//
// SEMANTICS 6.8.6
func TestATransactionalToolThatTouchesNoParticipant(t *testing.T) {
	l := &ledgerOfWrites{}
	fails := func(context.Context, *readInput) (*readOutput, error) { return nil, errMischief }
	r := transacting(t, new(journal.Memory), l,
		readTool(okRead, transactional), readTool(okRead, transactional, named("other")), readTool(fails, transactional, named("failing")),
		readTool(okRead, writes, named("plain")), writeTool(l, okRead, transactional, named("honest")))
	turn := r.turn()
	for i, tool := range []string{"failing", "plain", "honest", "file_read", "file_read", "other", "file_read"} {
		turn.Execute(t.Context(), callOf(fmt.Sprint(i), tool, goodInput))
	}
	require.NoError(t, r.exec.Flush(t.Context()))
	var said []string
	for _, f := range r.allFaults() {
		if strings.Contains(f.Error(), "completed without touching a participant") {
			said = append(said, f.Tool+" "+f.CallID)
		}
	}
	assert.Equal(t, []string{"file_read 3", "other 5"}, said)
}

// SEMANTICS 6.8.1
func TestWritesStandWhenTheCallCompletes(t *testing.T) {
	l := &ledgerOfWrites{}
	j := new(journal.Memory)
	r := transacting(t, j, l, writeTool(l, okRead))
	out := r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
	require.Equal(t, runtime.Completed, out.Kind, out.Message)
	assert.False(t, out.RolledBack)
	assert.Equal(t, []string{"a.md"}, l.stands)
	assert.Equal(t, []string{"begin", "seal", "commit"}, l.steps)
	var kinds []string
	entries, err := j.Call(t.Context(), journal.CallKey{Session: "s", Call: "c1"})
	require.NoError(t, err)
	for _, e := range entries {
		kinds = append(kinds, e.Kind)
	}
	assert.Equal(t, []string{
		"tool.invoked", "tool.validated", "tool.authorized", "tool.started", "commit.decided", "tool.completed",
	}, kinds)
}

// SEMANTICS 2.1.6
func TestWritesAreTakenBack(t *testing.T) {
	bad := errors.New("bad")
	invalid := func(context.Context, *readInput) (*readOutput, error) { return &readOutput{Size: -1}, nil }
	for name, c := range map[string]struct {
		after   readFunc
		fails   map[string]error
		kind    runtime.OutcomeKind
		reason  runtime.Reason
		stands  bool
		foreign bool
	}{
		"failure":        {after: func(context.Context, *readInput) (*readOutput, error) { return nil, bad }, kind: runtime.Failed, reason: runtime.ReasonHandlerError},
		"panic":          {after: func(context.Context, *readInput) (*readOutput, error) { panic(bad) }, kind: runtime.Failed, reason: runtime.ReasonPanic},
		"invalid output": {after: invalid, kind: runtime.Failed, reason: runtime.ReasonInvalidOutput},
		"seal":           {after: okRead, fails: map[string]error{"seal": bad}, kind: runtime.Failed, reason: runtime.ReasonCommitFailed},
		"foreign":        {after: okRead, fails: map[string]error{"commit": bad}, kind: runtime.Failed, reason: runtime.ReasonCommitFailed, foreign: true},
		"foreign, maybe": {after: okRead, fails: map[string]error{"commit": runtime.ErrMaybeCommitted}, kind: runtime.Unknown, reason: runtime.ReasonCommitFailed, foreign: true, stands: true},
		"late commit":    {after: okRead, fails: map[string]error{"commit": bad}, kind: runtime.Completed, stands: true},
		"rollback":       {after: invalid, fails: map[string]error{"rollback": bad}, kind: runtime.Failed, reason: runtime.ReasonInvalidOutput, stands: true},
	} {
		t.Run(name, func(t *testing.T) {
			l := &ledgerOfWrites{fails: c.fails, foreign: c.foreign}
			r := transacting(t, new(journal.Memory), l, writeTool(l, c.after))
			out := r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
			assert.Equal(t, c.kind, out.Kind, out.Message)
			assert.Equal(t, c.reason, out.Reason)
			assert.Equal(t, c.stands, len(l.stands) > 0)
			assert.Equal(t, !c.stands, out.RolledBack)
			if out.RolledBack {
				assert.Equal(t, []string{"tool.failed", "tool.rolled_back"}, r.kinds("c1")[4:])
			}
		})
	}
}

// SEMANTICS 6.1.3
func TestTimeoutIsTakenBackAtTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledgerOfWrites{}
		release := make(chan struct{})
		r := transacting(t, new(journal.Memory), l, writeTool(l, func(ctx context.Context, in *readInput) (*readOutput, error) {
			<-release
			assert.ErrorIs(t, l.write(ctx, "late"), runtime.ErrFenced)
			return okRead(ctx, in)
		}))
		start := time.Now()
		out := r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
		assert.Equal(t, 5*time.Second, time.Since(start))
		assert.Equal(t, runtime.TimedOut, out.Kind)
		assert.True(t, out.RolledBack)
		assert.Empty(t, l.stands)
		close(release)
		synctest.Wait()
		assert.Equal(t, []string{"tool.aborted", "tool.rolled_back", "tool.late_result"}, r.kinds("c1")[4:])
		require.NoError(t, r.exec.Shutdown(t.Context()))
	})
}

// TestRollbackThatHangs: the participant is left open, and the error handler is told.
func TestRollbackThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledgerOfWrites{hang: make(chan struct{})}
		r := transacting(t, new(journal.Memory), l, writeTool(l, func(context.Context, *readInput) (*readOutput, error) { return nil, errors.New("no") }))
		out := r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
		assert.Equal(t, runtime.Failed, out.Kind)
		assert.False(t, out.RolledBack)
		var texts []string
		for _, f := range r.allFaults() {
			texts = append(texts, f.Error())
		}
		assert.Contains(t, strings.Join(texts, "\n"), `participant "writes" was not rolled back: it did not finish within 5s`)
		events := r.sink.Events()
		assert.Contains(t, events[len(events)-1].Err, "what the call did was not taken back")
		close(l.hang)
		require.NoError(t, r.exec.Shutdown(t.Context()))
	})
}

// TestAftermath stops the process at each step of a transaction.
// SEMANTICS 6.7.4, 6.8.1, 6.8.4
func TestAftermath(t *testing.T) {
	errStop := errors.New("the process has died")
	for name, c := range map[string]struct {
		appends int // appends that succeed after the one of the recovery
		foreign bool
		kind    runtime.OutcomeKind
		reason  runtime.Reason
		stands  bool
		rolled  bool
	}{
		"before the decision": {appends: 1, kind: runtime.Failed, reason: runtime.ReasonInterrupted, rolled: true},
		"after it":            {appends: 2, kind: runtime.Completed, stands: true},
		"after it, foreign":   {appends: 2, foreign: true, kind: runtime.Unknown, reason: runtime.ReasonInterrupted, stands: true},
		"after the outcome":   {appends: 3, kind: runtime.Completed, stands: true},
	} {
		t.Run(name, func(t *testing.T) {
			l := &ledgerOfWrites{foreign: c.foreign}
			j := &broken{left: 1 + c.appends}
			r := transacting(t, j, l, writeTool(l, okRead))
			l.fails = map[string]error{"commit": errStop, "rollback": errStop} // the process stops here
			r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
			require.Len(t, l.open, 1)

			l.fails = nil
			r = transacting(t, &j.Memory, l, writeTool(l, func(context.Context, *readInput) (*readOutput, error) {
				panic("it ran again")
			}))
			s := r.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"})
			out := s.Await(t.Context(), "c1")
			assert.Equal(t, c.kind, out.Kind, out.Message)
			assert.Equal(t, c.reason, out.Reason)
			assert.Equal(t, c.rolled, out.RolledBack)
			assert.Equal(t, c.stands, len(l.stands) > 0)
			assert.Empty(t, l.open, "nothing is left open")
			if c.kind == runtime.Completed {
				assert.JSONEq(t, `{"content":"a.md","size":2}`, string(out.Output))
			}
			again := transacting(t, &j.Memory, l, writeTool(l, okRead))
			assert.Equal(t, out, again.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"}).Await(t.Context(), "c1"))
		})
	}
}

// TestOneForeignTransaction: of two, one could be committed when the other fails.
// SEMANTICS 6.8.2
func TestOneForeignTransaction(t *testing.T) {
	a, b := &ledgerOfWrites{foreign: true}, &ledgerOfWrites{foreign: true}
	one := writeTool(a, okRead)
	two := writeTool(a, func(ctx context.Context, in *readInput) (*readOutput, error) {
		if err := b.write(ctx, in.Path); err != nil {
			return nil, err
		}
		return okRead(ctx, in)
	}, func(s *runtime.Spec) { s.Name = "file_copy" })
	r := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{one, two},
		engine.WithJournal(new(journal.Memory)), engine.WithParticipant("a", a), engine.WithParticipant("b", b))
	r.recover()
	turn := r.turn()
	out := turn.Execute(t.Context(), callOf("c1", "file_read", goodInput))
	assert.Equal(t, runtime.Completed, out.Kind, out.Message)
	require.Len(t, a.stands, 1)

	out = turn.Execute(t.Context(), callOf("c2", "file_copy", `{"path":"b.md","limit":1}`))
	assert.Equal(t, runtime.ReasonCommitFailed, out.Reason, out.Message)
	assert.True(t, out.RolledBack)
	assert.Len(t, a.stands, 1)
	assert.Empty(t, b.stands)
}

func TestPartOfNothing(t *testing.T) {
	l := &ledgerOfWrites{}
	_, err := runtime.PartOf(t.Context(), l)
	assert.ErrorIs(t, err, runtime.ErrNoCall)
	r := newRig(t, writeTool(l, okRead, func(s *runtime.Spec) { s.SafeErrors = true }))
	out := r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
	assert.Contains(t, out.Message, "is no participant of this executor")
	r.recover()
}
