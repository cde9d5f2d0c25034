package engine_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// over declares that outputs of more than n characters are stored as artifacts.
func over(n int) func(*runtime.Spec) {
	return func(s *runtime.Spec) { s.Artifact = &runtime.Artifact{Over: n, Type: "text/plain"} }
}

// longRead answers with as many characters as the limit says.
func longRead(_ context.Context, in *readInput) (*readOutput, error) {
	return &readOutput{Content: strings.Repeat("ä", int(in.Limit)), Size: in.Limit}, nil
}

func storing(t *testing.T, store runtime.ArtifactStore, tools ...*runtime.Tool) *rig {
	return newRigWith(t, runtime.PolicyFunc(allowAll), tools, engine.WithArtifacts(store))
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// SEMANTICS 8.1.15
func TestLongOutputsAreStoredAside(t *testing.T) {
	r := storing(t, new(runtime.MemoryArtifacts), readTool(longRead, over(300)))
	run := r.run()
	turn := run.Turn(engine.TurnConfig{Budget: time.Hour})
	whole := func(n int) string { return `{"content":"` + strings.Repeat("ä", n) + `","size":273}` }
	short := turn.Execute(t.Context(), callOf("c1", "file_read", `{"path":"a","limit":273}`))
	require.Equal(t, runtime.Completed, short.Kind)
	assert.Equal(t, whole(273), string(short.Output), "characters, not bytes, are counted")
	assert.Nil(t, short.Artifact)

	long := turn.Execute(t.Context(), callOf("c2", "file_read", `{"path":"a","limit":9000}`))
	require.Equal(t, runtime.Completed, long.Kind, long.Message)
	assert.Nil(t, long.Output)
	require.NotNil(t, long.Artifact)
	text := `{"content":"` + strings.Repeat("ä", 9000) + `","size":9000}`
	assert.Equal(t, runtime.ArtifactRef{SHA256: hashOf(text), Type: "text/plain", Bytes: int64(len(text))}, long.Artifact.ArtifactRef)
	assert.Equal(t, `{"content":"`+strings.Repeat("ä", 163)+`… (8837 more characters)","size":9000}`, string(long.Artifact.Preview))

	said, err := json.Marshal(long)
	require.NoError(t, err)
	assert.Contains(t, string(said), `"artifact":{"sha256":"`+hashOf(text)+`","type":"text/plain","bytes":18026,"preview":{"content":"ä`)
	assert.NotContains(t, string(said), `"output"`)

	data, err := r.exec.Artifact(t.Context(), long.Artifact.ArtifactRef)
	require.NoError(t, err)
	assert.Equal(t, text, string(data))
	ses := r.exec.Session(engine.SessionConfig{ID: "other"})
	_, _, err = ses.Artifact(t.Context(), hashOf(text))
	assert.ErrorIs(t, err, runtime.ErrNoArtifact, "of another session")
	assert.Equal(t, long, turn.Execute(t.Context(), callOf("c2", "file_read", `{"path":"a","limit":9000}`)), "the same call again")
	assert.Empty(t, r.allFaults())
}

func TestArtifactsNeedAStore(t *testing.T) {
	reg, err := runtime.NewRegistry(readTool(okRead), readTool(okRead, named("long"), over(300)))
	require.NoError(t, err)
	_, err = engine.NewExecutor(reg, runtime.PolicyFunc(allowAll))
	assert.EqualError(t, err, `there is no store for the outputs of "long", which declare artifact: give one with WithArtifacts`)
	_, err = runtime.NewRegistry(readTool(okRead, over(-1)))
	assert.ErrorContains(t, err, "artifact.over is negative")
	_, err = (*engine.Executor)(nil).Artifact(t.Context(), runtime.ArtifactRef{})
	assert.ErrorIs(t, err, runtime.ErrNoArtifact)
	_, _, err = (*engine.Session)(nil).Artifact(t.Context(), "")
	assert.ErrorIs(t, err, runtime.ErrNoArtifact)
}

// A faultyStore is a store that behaves as its functions say.
type faultyStore struct {
	put func(context.Context, runtime.ArtifactRef, []byte) error
	get func() ([]byte, error)
}

func (s faultyStore) Put(ctx context.Context, ref runtime.ArtifactRef, data []byte) error {
	return s.put(ctx, ref, data)
}

func (s faultyStore) Get(context.Context, runtime.ArtifactRef) ([]byte, error) { return s.get() }

func TestOutputsThatCannotBeStored(t *testing.T) {
	for name, put := range map[string]func(context.Context, runtime.ArtifactRef, []byte) error{
		"error": func(context.Context, runtime.ArtifactRef, []byte) error { return errors.New("the disk is full") },
		"panic": func(context.Context, runtime.ArtifactRef, []byte) error { panic("the disk is full") },
	} {
		t.Run(name, func(t *testing.T) {
			r := storing(t, faultyStore{put: put}, readTool(longRead, over(300), func(s *runtime.Spec) { s.Effect = runtime.SideEffectWrite }))
			out := r.turn().Execute(t.Context(), callOf("c1", "file_read", `{"path":"a","limit":9000}`))
			assert.Equal(t, runtime.Failed, out.Kind)
			assert.Equal(t, runtime.ReasonCommitFailed, out.Reason)
			assert.Equal(t, `the output of "file_read" is too long to be answered and could not be stored`, out.Message)
			assert.Nil(t, out.Artifact)
			assert.Nil(t, out.Output)
			require.Len(t, r.allFaults(), 1)
			assert.ErrorContains(t, r.allFaults()[0].Err, "the disk is full")
		})
	}
}

// TestStoreThatHangs: the deadline of the call applies while its output is stored.
func TestStoreThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended error
		r := storing(t, faultyStore{put: func(ctx context.Context, _ runtime.ArtifactRef, _ []byte) error {
			<-ctx.Done()
			ended = ctx.Err()
			return ended
		}}, readTool(longRead, over(300)))
		out := r.turn().Execute(t.Context(), callOf("c1", "file_read", `{"path":"a","limit":9000}`))
		assert.Equal(t, runtime.TimedOut, out.Kind)
		require.NoError(t, r.exec.Shutdown(t.Context()))
		assert.ErrorIs(t, ended, context.DeadlineExceeded)
	})
}

func TestStoreThatLies(t *testing.T) {
	for name, c := range map[string]struct {
		get  func() ([]byte, error)
		want string
	}{
		"something else": {func() ([]byte, error) { return []byte(`{}`), nil }, "the store has something else under this name"},
		"nothing":        {func() ([]byte, error) { return nil, nil }, "the store has something else under this name"},
		"an error":       {func() ([]byte, error) { return nil, errors.New("no disk") }, "no disk"},
		"a panic":        {func() ([]byte, error) { panic("no disk") }, "no disk"},
	} {
		t.Run(name, func(t *testing.T) {
			r := storing(t, faultyStore{get: c.get}, readTool(okRead))
			_, err := r.exec.Artifact(t.Context(), runtime.ArtifactRef{SHA256: hashOf("{}"), Bytes: 3})
			assert.ErrorContains(t, err, c.want)
		})
	}
}

// TestRedactedOutputsAreStoredRedacted: what is redacted for the caller is stored
// nowhere.
func TestRedactedOutputsAreStoredRedacted(t *testing.T) {
	args := []byte(`{"pointers":["/content"]}`)
	policy := decide(runtime.Decision{Effect: runtime.EffectAllow, Obligations: []runtime.Obligation{{Code: "redact_output", Args: args}}})
	store := new(runtime.MemoryArtifacts)
	r := newRigWith(t, policy, []*runtime.Tool{readTool(longRead, over(10))}, engine.WithArtifacts(store))
	out := r.turn().Execute(t.Context(), callOf("c1", "file_read", `{"path":"a","limit":9000}`))
	require.NotNil(t, out.Artifact, out.Message)
	const masked = `{"content":"(redacted)","size":9000}`
	assert.Equal(t, masked, string(out.Artifact.Preview))
	data, err := r.exec.Artifact(t.Context(), out.Artifact.ArtifactRef)
	require.NoError(t, err)
	assert.Equal(t, masked, string(data))
}

// A keyOutput has a member that must not be logged.
type keyOutput struct{ Key, Text string }

var (
	keyOutputRule = wire.ObjectRule{Names: []string{"key", "text"}, Required: 2}
	keyOutputKey  = wire.StringRule{Sensitive: true}
)

func (v *keyOutput) Walk(w wire.Visitor) {
	wire.BeginObject(w, &keyOutputRule)
	wire.Member(w, "key", &v.Key, wire.WalkString, &keyOutputKey)
	wire.Member(w, "text", &v.Text, wire.WalkString, &readOutputContent)
	wire.End(w)
}

// TestSensitiveValuesAreInTheArtifactOnly: the caller gets sensitive values, but the
// journal, which is kept forever, must not hold them.
func TestSensitiveValuesAreInTheArtifactOnly(t *testing.T) {
	var j journal.Memory
	tool := runtime.NewTool(&runtime.Spec{Name: "keys", Artifact: &runtime.Artifact{}}, &readInputRule,
		func(_ context.Context, in *readInput) (*keyOutput, error) {
			return &keyOutput{Key: "hunter2", Text: strings.Repeat("x", int(in.Limit)+12000)}, nil
		})
	r := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{tool}, engine.WithJournal(&j), engine.WithArtifacts(new(runtime.MemoryArtifacts)))
	r.recover()
	out := r.turn().Execute(t.Context(), callOf("c1", "keys", goodInput))
	require.NotNil(t, out.Artifact, out.Message)
	assert.Equal(t, "application/json", out.Artifact.Type)
	assert.True(t, strings.HasPrefix(string(out.Artifact.Preview), `{"key":"(sensitive)","text":"xxx`))
	data, err := r.exec.Artifact(t.Context(), out.Artifact.ArtifactRef)
	require.NoError(t, err)
	assert.Contains(t, string(data), "hunter2")
	entries, err := j.Read(t.Context(), 0, 1000)
	require.NoError(t, err)
	for _, e := range entries {
		assert.NotContains(t, string(e.Leaf)+string(e.Private), "hunter2")
	}
}

// An orderedStore records what was durable when an output was stored.
type orderedStore struct {
	runtime.MemoryArtifacts
	j    *journal.Memory
	mu   sync.Mutex
	left []journal.CallKey
}

func (s *orderedStore) Put(ctx context.Context, ref runtime.ArtifactRef, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left, _ = s.j.Unfinished(ctx)
	return s.MemoryArtifacts.Put(ctx, ref, data)
}

func TestArtifactsOutliveTheProcess(t *testing.T) {
	var j journal.Memory
	store := &orderedStore{j: &j}
	start := func(run readFunc) *rig {
		r := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{readTool(run, over(300), func(s *runtime.Spec) {
			s.Dedupe = runtime.Dedupe{Mode: runtime.DedupeAlways}
		})}, engine.WithJournal(&j), engine.WithArtifacts(store))
		r.recover()
		return r
	}
	const input = `{"path":"a","limit":9000}`
	turn := start(longRead).turn()
	done := turn.Execute(t.Context(), callOf("c1", "file_read", input))
	require.NotNil(t, done.Artifact, done.Message)
	assert.Equal(t, []journal.CallKey{{Session: "s", Call: "c1"}}, store.left, "it is stored before the outcome is recorded")
	again := turn.Execute(t.Context(), callOf("c2", "file_read", input))
	require.Equal(t, runtime.Duplicate, again.Kind)
	assert.Equal(t, done.Artifact, again.Artifact)

	entries, err := j.Call(t.Context(), journal.CallKey{Session: "s", Call: "c1"})
	require.NoError(t, err)
	record, err := journal.Decode(entries[len(entries)-1].Leaf)
	require.NoError(t, err)
	assert.Equal(t, &done.Artifact.ArtifactRef, record.Artifact)
	assert.Equal(t, string(done.Artifact.Preview), string(record.Output.Value))

	r := start(func(context.Context, *readInput) (*readOutput, error) { panic("it ran again") })
	ses := r.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"})
	run, open := ses.Run("r")
	require.True(t, open)
	turn = run.Turn(engine.TurnConfig{})
	assert.Equal(t, done, turn.Execute(t.Context(), callOf("c1", "file_read", input)))
	assert.Equal(t, again, turn.Execute(t.Context(), callOf("c2", "file_read", input)))
	third := turn.Execute(t.Context(), callOf("c3", "file_read", input))
	require.Equal(t, runtime.Duplicate, third.Kind)
	assert.Equal(t, done.Artifact, third.Artifact)
	data, ref, err := ses.Artifact(t.Context(), done.Artifact.SHA256)
	require.NoError(t, err)
	assert.Equal(t, done.Artifact.ArtifactRef, ref)
	assert.Contains(t, string(data), strings.Repeat("ä", 9000))
	_, _, err = ses.Artifact(t.Context(), hashOf("something else"))
	assert.ErrorIs(t, err, runtime.ErrNoArtifact)
}

// TestUndoGetsTheWholeOutput: the undo handler gets the complete output, also in a
// process that did not make the call.
func TestUndoGetsTheWholeOutput(t *testing.T) {
	for _, name := range []string{"same process", "restart", "pruned"} {
		t.Run(name, func(t *testing.T) {
			var got *runtime.Undo[readInput, readOutput, readOutput]
			var j journal.Memory
			store := new(runtime.MemoryArtifacts)
			start := func() (*rig, *engine.Session) {
				tool := runtime.NewTool(&runtime.Spec{
					Name: "file_write", Undo: &runtime.UndoSpec{TTL: time.Hour}, Artifact: &runtime.Artifact{Over: 300, Type: "text/plain"},
				}, &readInputRule, longRead, runtime.WithUndo(&readOutputRule, &readOutputRule,
					func(context.Context, *readInput) (*readOutput, error) { return &readOutput{}, nil },
					func(_ context.Context, u *runtime.Undo[readInput, readOutput, readOutput]) error {
						got = u
						return nil
					}))
				r := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{tool}, engine.WithJournal(&j), engine.WithArtifacts(store))
				r.recover()
				return r, r.exec.Session(engine.SessionConfig{ID: "own", Principal: "agent"})
			}
			r, ses := start()
			run, err := ses.StartRun(t.Context(), engine.RunConfig{})
			require.NoError(t, err)
			out := run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c1", "file_write", `{"path":"a","limit":9000}`))
			require.NotNil(t, out.Artifact, out.Message)
			if name == "pruned" {
				store = new(runtime.MemoryArtifacts)
			}
			if name != "same process" {
				r, ses = start()
			}
			require.Equal(t, undoOK, undoingOf(ses.Undo(t.Context(), action.UndoRequest{CallID: "c1", By: runtime.ProgramActor("alice")})).Kind)
			if name == "pruned" {
				assert.Nil(t, got.Output)
				require.Len(t, r.allFaults(), 1)
				assert.ErrorIs(t, r.allFaults()[0].Err, runtime.ErrNoArtifact)
				return
			}
			require.NotNil(t, got.Output)
			assert.Equal(t, strings.Repeat("ä", 9000), got.Output.Content)
			assert.Empty(t, r.allFaults())
		})
	}
}

// A lostStore loses what it is given, and returns an error.
type lostStore struct{ runtime.MemoryArtifacts }

func (*lostStore) Put(context.Context, runtime.ArtifactRef, []byte) error {
	return errors.New("no space")
}

// TestWhatIsNotStoredIsTakenBack: the output is stored before the call commits.
func TestWhatIsNotStoredIsTakenBack(t *testing.T) {
	l := &ledgerOfWrites{}
	r := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{writeTool(l, longRead, over(300))},
		engine.WithParticipant("writes", l), engine.WithArtifacts(new(lostStore)))
	out := r.turn().Execute(t.Context(), callOf("c1", "file_read", `{"path":"a","limit":9000}`))
	assert.Equal(t, runtime.ReasonCommitFailed, out.Reason)
	assert.True(t, out.RolledBack)
	assert.Empty(t, l.stands)
}

// TestDecidedArtifacts stops the process between the decision to commit and the
// outcome.
func TestDecidedArtifacts(t *testing.T) {
	l, store, j := &ledgerOfWrites{}, new(runtime.MemoryArtifacts), &broken{left: 3}
	start := func(j journal.Journal, after readFunc) *rig {
		r := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{writeTool(l, after, over(300))},
			engine.WithJournal(j), engine.WithParticipant("writes", l), engine.WithArtifacts(store))
		r.recover()
		return r
	}
	r := start(j, longRead)
	l.fails = map[string]error{"commit": errors.New("the process has died")}
	r.turn().Execute(t.Context(), callOf("c1", "file_read", `{"path":"a","limit":9000}`))
	l.fails = nil
	for range 2 {
		r = start(&j.Memory, func(context.Context, *readInput) (*readOutput, error) { panic("it ran again") })
		ses := r.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"})
		out := ses.Await(t.Context(), "c1")
		require.Equal(t, runtime.Completed, out.Kind, out.Message)
		assert.Nil(t, out.Output)
		require.NotNil(t, out.Artifact)
		assert.Contains(t, string(out.Artifact.Preview), "more characters)")
		data, _, err := ses.Artifact(t.Context(), out.Artifact.SHA256)
		require.NoError(t, err)
		assert.Len(t, data, int(out.Artifact.Bytes))
	}
}
