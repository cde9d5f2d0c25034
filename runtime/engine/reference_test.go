package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// callReads is a journal that counts the calls that are read.
type callReads struct {
	journal.Memory
	n    atomic.Int64
	gone atomic.Bool // the entries of calls are archived
}

func (j *callReads) Call(ctx context.Context, key journal.CallKey) ([]journal.Entry, error) {
	j.n.Add(1)
	if j.gone.Load() {
		return nil, &journal.ArchivedError{Seq: 1, Last: 1 << 20}
	}
	return j.Memory.Call(ctx, key)
}

// TestOutcomesByReference: the outcome that a session reads from its journal is the one that it had in memory, whatever its
// kind, for a caller that awaits the call and for one that repeats it. The same id with another input is refused.
func TestOutcomesByReference(t *testing.T) {
	var j callReads
	fails := func(context.Context, *readInput) (*readOutput, error) { return nil, errors.New("no disk") }
	panics := func(context.Context, *readInput) (*readOutput, error) { panic("mischief") }
	policy := runtime.PolicyFunc(func(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
		if in.Tool.Name == "denied" {
			return runtime.Decision{Effect: runtime.EffectDeny}, nil
		}
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	})
	tools := []*runtime.Tool{
		readTool(okRead), readTool(fails, named("fails")), readTool(panics, named("panics")), readTool(okRead, named("denied")),
		readTool(longRead, named("long"), over(100)),
		readTool(okRead, named("once"), func(s *runtime.Spec) { s.Dedupe.Mode = runtime.DedupeAlways }),
	}
	r := newRigWith(t, policy, tools, engine.WithJournal(&j), engine.WithArtifacts(new(runtime.MemoryArtifacts)))
	r.recover()
	run := r.run()
	turn := run.Turn(engine.TurnConfig{})
	rng := rand.New(rand.NewPCG(1, 2))
	names := []string{"file_read", "fails", "panics", "denied", "long", "once", "no_such_tool"}
	inputs := []string{goodInput, `{"path":"b","limit":400}`, `{"path":1}`, `{`}
	type made struct {
		call runtime.Call
		out  runtime.Outcome
	}
	var all []made
	kinds := map[runtime.OutcomeKind]int{}
	for i := range 300 {
		in := callOf(fmt.Sprint("c", i), names[rng.IntN(len(names))], inputs[rng.IntN(len(inputs))])
		out := turn.Execute(t.Context(), in)
		kinds[out.Kind]++
		all = append(all, made{in, out})
	}
	for _, kind := range []runtime.OutcomeKind{runtime.Completed, runtime.Failed, runtime.Denied, runtime.Duplicate} {
		require.Positive(t, kinds[kind], kind)
	}
	session, known := r.exec.FindSession(r.sink.Events()[0].SessionID)
	require.True(t, known)
	before := j.n.Load()
	for _, m := range all {
		recorded := session.Await(t.Context(), m.call.ID)
		assertSameOutcome(t, &m.out, &recorded)
		again := turn.Execute(t.Context(), m.call)
		assertSameOutcome(t, &m.out, &again)
		other := m.call
		other.Input = []byte(`{"path":"other","limit":7}`)
		refused := turn.Execute(t.Context(), other)
		assert.Equal(t, runtime.Denied, refused.Kind, m.call)
	}
	assert.Greater(t, j.n.Load()-before, int64(2*250), "the outcomes are read")
}

// assertSameOutcome compares two outcomes of a call.
func assertSameOutcome(t *testing.T, want, got *runtime.Outcome) {
	t.Helper()
	assert.Equal(t, *want, *got)
}

// TestArchivedIDsAreUsed: a call whose entries are archived is not run again under its id, and the answer says where its outcome is.
// SEMANTICS 1.4.4
func TestArchivedIDsAreUsed(t *testing.T) {
	var j callReads
	r := recovered(t, &j, readTool(okRead))
	turn := r.turnOf("s1")
	for i := range 40 {
		require.Equal(t, runtime.Completed, turn.Execute(t.Context(), callOf(fmt.Sprint("c", i), "file_read", goodInput)).Kind)
	}
	j.gone.Store(true)
	out := turn.Execute(t.Context(), callOf("c1", "file_read", goodInput))
	assert.Equal(t, runtime.Denied, out.Kind)
	assert.Equal(t, runtime.ReasonCallIDReused, out.Reason)
	assert.Contains(t, out.Message, "are archived: its outcome is entry ")
	assert.Equal(t, runtime.Completed, turn.Execute(t.Context(), callOf("c39", "file_read", goodInput)).Kind, "it is in memory")
}

// TestOutcomesOfArchivedCalls: an executor that has the segments answers a repeated id, refuses it for another input, and gives a duplicate the
// output.
// SEMANTICS 1.4.4
func TestOutcomesOfArchivedCalls(t *testing.T) {
	var j callReads
	once := readTool(okRead, named("once"), func(s *runtime.Spec) { s.Dedupe.Mode = runtime.DedupeAlways })
	r := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{readTool(okRead), once}, engine.WithJournal(&j), engine.WithSegments(&j.Memory))
	r.recover()
	turn := r.turnOf("s1")
	first := turn.Execute(t.Context(), callOf("first", "once", goodInput))
	for i := range 40 {
		require.Equal(t, runtime.Completed, turn.Execute(t.Context(), callOf(fmt.Sprint("c", i), "file_read", goodInput)).Kind)
	}
	j.gone.Store(true)
	again := turn.Execute(t.Context(), callOf("first", "once", goodInput))
	assertSameOutcome(t, &first, &again)
	session, _ := r.exec.FindSession("s1")
	awaited := session.Await(t.Context(), "first")
	assertSameOutcome(t, &first, &awaited)
	assert.Equal(t, runtime.ReasonCallIDReused, turn.Execute(t.Context(), callOf("first", "once", `{"path":"other","limit":7}`)).Reason)
	duplicate := turn.Execute(t.Context(), callOf("second", "once", goodInput))
	assert.Equal(t, runtime.Duplicate, duplicate.Kind)
	assert.Equal(t, first.Output, duplicate.Output)
}
