package engine_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// TestOutcomesAreToldToTheirCallers: the outcome of a call is told under its id to its principal, and that of a sub-agent's
// call to the sub-agent and to the run or sub-agent that made it. To anybody else the id is that of another call, which is
// recorded, whether the call is in memory, held by reference or of an earlier process.
//
// SEMANTICS 1.4.9, 1.4.2, 1.4.3
func TestOutcomesAreToldToTheirCallers(t *testing.T) {
	j := new(journal.Memory)
	var asked []string
	policy := runtime.PolicyFunc(func(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
		asked = append(asked, in.CallID)
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	})
	r := recoveredWith(t, j, policy, readTool(okRead))
	run := r.run()
	parts := func(run *engine.Run) map[string]*engine.Run {
		helper := run.Child(engine.RunConfig{ID: "helper"})
		return map[string]*engine.Run{
			"run": run, "helper": helper, "child": helper.Child(engine.RunConfig{ID: "child"}), "sibling": run.Child(engine.RunConfig{ID: "sibling"}),
			"erik": run.WithPrincipal("erik"), "erik's": run.WithPrincipal("erik").Child(engine.RunConfig{ID: "helper"}),
		}
	}
	first := parts(run)
	for name, of := range first {
		require.Equal(t, runtime.Completed, of.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf(name, "file_read", goodInput)).Kind)
	}
	told := map[string][]string{ // by who made the call
		"run": {"run"}, "helper": {"helper", "run"}, "child": {"child", "helper"}, "sibling": {"run", "sibling"}, "erik": {"erik"}, "erik's": {"erik", "erik's"},
	}
	check := func(parts map[string]*engine.Run) {
		t.Helper()
		before := len(asked)
		for maker, who := range told {
			for name, of := range parts {
				turn := of.Turn(engine.TurnConfig{})
				events := len(r.kinds(maker))
				again, awaited := turn.Execute(t.Context(), callOf(maker, "file_read", goodInput)), turn.Await(t.Context(), maker)
				id, err := turn.StartCall(callOf(maker, "file_read", goodInput))
				if slices.Contains(who, name) {
					assert.Equal(t, runtime.Completed, again.Kind, "%s asks for the call of %s", name, maker)
					assert.Equal(t, runtime.Completed, awaited.Kind)
					assert.NoError(t, err)
					assert.Equal(t, maker, id)
					assert.Len(t, r.kinds(maker), events, "no event")
					continue
				}
				for _, out := range []runtime.Outcome{again, awaited} {
					assert.Equal(t, []any{runtime.Denied, runtime.ReasonCallIDReused}, []any{out.Kind, out.Reason}, "%s asks for the call of %s", name, maker)
					assert.Nil(t, out.Output)
				}
				assert.ErrorContains(t, err, "was used for another call")
				refused := []string{"tool.invoked", "tool.denied"}
				assert.Equal(t, slices.Concat(refused, refused, refused), r.kinds(maker)[events:])
			}
		}
		assert.Len(t, asked, before, "no policy is asked")
	}
	check(first)
	for i := range 40 { // until those before are held by reference
		require.Equal(t, runtime.Completed, run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf(fmt.Sprint("c", i), "file_read", goodInput)).Kind)
	}
	check(first)
	require.NoError(t, r.exec.Shutdown(t.Context()))
	r = recoveredWith(t, j, policy, readTool(okRead))
	again, ok := r.sessionAgain().Run("r")
	require.True(t, ok)
	check(parts(again))

	// What is the run's is told to every run of its principal, what is a sub-agent's to its own.
	next, err := r.sessionAgain().StartRun(t.Context(), engine.RunConfig{ID: "r2"})
	require.NoError(t, err)
	assert.Equal(t, runtime.Completed, next.Turn(engine.TurnConfig{}).Await(t.Context(), "run").Kind)
	assert.Equal(t, runtime.ReasonCallIDReused, next.Turn(engine.TurnConfig{}).Await(t.Context(), "helper").Reason)
	namesake := next.Child(engine.RunConfig{ID: "helper"}).Turn(engine.TurnConfig{})
	assert.Equal(t, runtime.ReasonCallIDReused, namesake.Execute(t.Context(), callOf("helper", "file_read", goodInput)).Reason)

	// The methods of a session and of the executor are the application's.
	assert.Equal(t, runtime.Completed, r.sessionAgain().Await(t.Context(), "erik").Kind)
	assert.Equal(t, runtime.Completed, r.exec.Await(t.Context(), "s", "child").Kind)
	assert.Equal(t, runtime.Denied, next.Turn(engine.TurnConfig{}).Await(t.Context(), "nonsense").Kind)
	assert.Empty(t, r.allFaults())
}

// TestARunningCallIsToldToItsCallers: nobody else attaches to a call that runs.
//
// SEMANTICS 1.4.9, 1.4.2, 1.4.3
func TestARunningCallIsToldToItsCallers(t *testing.T) {
	started, release := make(chan struct{}), make(chan struct{})
	r := newRig(t, readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
		close(started)
		<-release
		return okRead(ctx, in)
	}))
	run := r.run()
	_, err := run.Turn(engine.TurnConfig{}).StartCall(callOf("c1", "file_read", goodInput))
	require.NoError(t, err)
	<-started
	in := callOf("c1", "file_read", goodInput)
	in.Principal = "erik"
	assert.Equal(t, runtime.ReasonCallIDReused, run.Turn(engine.TurnConfig{}).Execute(t.Context(), in).Reason)
	close(release)
	assert.Equal(t, runtime.Completed, run.Turn(engine.TurnConfig{}).Await(t.Context(), "c1").Kind)
}

// TestArtifactsOfATurn: an output that was stored is read, by its hash, by those who are told the outcome of a call that has it.
//
// SEMANTICS 1.4.9, 1.4.2, 1.4.3
func TestArtifactsOfATurn(t *testing.T) {
	var store runtime.MemoryArtifacts
	j := new(journal.Memory)
	open := func() *rig {
		r := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{readTool(longRead, over(300)), readTool(okRead, named("short"))}, engine.WithJournal(j), engine.WithArtifacts(&store))
		r.recover()
		return r
	}
	r := open()
	run := r.run()
	helper := run.Child(engine.RunConfig{ID: "helper"})
	out := helper.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c1", "file_read", `{"path":"a","limit":900}`))
	require.NotNil(t, out.Artifact)
	check := func(run, helper *engine.Run) {
		t.Helper()
		for who, of := range map[string]*engine.Run{"run": run, "helper": helper, "erik": run.WithPrincipal("erik"), "sibling": run.Child(engine.RunConfig{})} {
			data, ref, err := of.Turn(engine.TurnConfig{}).Artifact(t.Context(), out.Artifact.SHA256)
			if who == "erik" || who == "sibling" {
				assert.ErrorIs(t, err, runtime.ErrNoArtifact, who)
				assert.Nil(t, data)
				continue
			}
			require.NoError(t, err, who)
			assert.Equal(t, out.Artifact.ArtifactRef, ref)
			assert.Len(t, data, int(ref.Bytes))
		}
	}
	check(run, helper)
	for i := range 40 {
		run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf(fmt.Sprint("s", i), "short", goodInput))
	}
	check(run, helper)
	require.NoError(t, r.exec.Shutdown(t.Context()))
	r = open()
	run, _ = r.sessionAgain().Run("r")
	check(run, run.Child(engine.RunConfig{ID: "helper"}))
	_, _, err := r.sessionAgain().Artifact(t.Context(), out.Artifact.SHA256)
	require.NoError(t, err, "a session is the application's")
	_, _, err = (*engine.Turn)(nil).Artifact(t.Context(), out.Artifact.SHA256)
	assert.ErrorIs(t, err, runtime.ErrNoArtifact)
}

// TestSessionOfAnotherPrincipal: a session is not continued under another principal, in the same process or after a restart,
// unless the application says that it is handed over.
//
// SEMANTICS 1.2.6
func TestSessionOfAnotherPrincipal(t *testing.T) {
	j := new(journal.Memory)
	r := recovered(t, j, readTool(okRead))
	config := func(principal string, rebind bool) engine.SessionConfig {
		return engine.SessionConfig{ID: "s", Principal: principal, Capabilities: []string{principal}, Rebind: rebind}
	}
	run, err := r.exec.Session(config("kim", false)).StartRun(t.Context(), engine.RunConfig{ID: "r"})
	require.NoError(t, err)
	require.Equal(t, runtime.Completed, run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c1", "file_read", goodInput)).Kind)
	for range 2 {
		refused := r.exec.Session(config("mallory", false))
		_, err = refused.StartRun(t.Context(), engine.RunConfig{})
		assert.ErrorContains(t, err, `the session "s" is of the principal "kim" and is not continued for "mallory": set SessionConfig.Rebind`)
		faults := r.allFaults()
		require.Len(t, faults, 1)
		assert.Equal(t, []any{"s", err}, []any{faults[0].SessionID, faults[0].Err})
		_, found := refused.Run("r")
		assert.False(t, found, "no call is made for kim")
		assert.Equal(t, "s", refused.ID())
		assert.Equal(t, runtime.Completed, refused.Await(t.Context(), "c1").Kind, "the rest is the application's")
		_, err = r.exec.Session(config("kim", false)).StartRun(t.Context(), engine.RunConfig{})
		require.NoError(t, err, "kim's session is as it was")
		require.NoError(t, r.exec.Shutdown(t.Context()))
		r = recovered(t, j, readTool(okRead))
	}
	again, err := r.exec.Session(config("mallory", true)).StartRun(t.Context(), engine.RunConfig{})
	require.NoError(t, err)
	assert.Equal(t, runtime.ReasonCallIDReused, again.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c1", "file_read", goodInput)).Reason, "it is kim's call")
	_, err = r.exec.Session(config("kim", false)).StartRun(t.Context(), engine.RunConfig{})
	assert.ErrorContains(t, err, `is of the principal "mallory"`)
	require.NoError(t, r.exec.Session(config("kim", false)).End(t.Context()), "an end is the application's")
	_, err = r.exec.Session(config("mallory", false)).StartRun(t.Context(), engine.RunConfig{})
	assert.Error(t, err, "it has ended")
}

// TestCapabilitiesAreOfAPrincipal: those of the session are its own principal's. Another one has those that it is given, in
// the calls of its sub-agents and after a restart too.
//
// SEMANTICS 1.2.5
func TestCapabilitiesAreOfAPrincipal(t *testing.T) {
	j := new(journal.Memory)
	seen := map[string][]string{}
	policy := runtime.PolicyFunc(func(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
		seen[in.CallID] = in.Capabilities
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	})
	tools := func() []*runtime.Tool {
		return []*runtime.Tool{readTool(okRead), readTool(okRead, named("asks"), asking())}
	}
	r := recoveredWith(t, j, policy, tools()...)
	run, err := r.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent", Capabilities: []string{"read"}}).StartRun(t.Context(), engine.RunConfig{ID: "r"})
	require.NoError(t, err)
	do := func(id string, of *engine.Run, in runtime.Call) []string {
		t.Helper()
		in.ID, in.Input = id, []byte(goodInput)
		of.Turn(engine.TurnConfig{}).Execute(t.Context(), in)
		got, asked := seen[id]
		require.True(t, asked)
		return got
	}
	read := runtime.Call{Tool: "file_read"}
	assert.Equal(t, []string{"read"}, do("c1", run, read))
	assert.Equal(t, []string{"read"}, do("c2", run.Child(engine.RunConfig{}), read))
	assert.Empty(t, do("c3", run.WithPrincipal("erik"), read))
	assert.Empty(t, do("c4", run, runtime.Call{Tool: "file_read", Principal: "erik"}))
	given := run.WithPrincipal("erik", "write", "send")
	assert.Equal(t, []string{"write", "send"}, do("c5", given, read))
	assert.Equal(t, []string{"write", "send"}, do("c6", given.Child(engine.RunConfig{}), read))
	assert.Empty(t, do("c7", given.WithPrincipal("eve"), read))
	assert.Equal(t, []string{"read"}, do("c8", given.WithPrincipal("agent"), read), "the session's own")

	do("w1", given, runtime.Call{Tool: "asks"})
	do("w2", run.WithPrincipal("erik"), runtime.Call{Tool: "asks"})
	do("w3", run, runtime.Call{Tool: "asks"})
	require.NoError(t, r.exec.Shutdown(t.Context()))
	r = recoveredWith(t, j, policy, tools()...)
	for _, q := range r.exec.Requests() {
		seen[q.CallID] = []string{"not asked"}
		require.Equal(t, runtime.Completed, r.exec.Decide(t.Context(), q.ID, action.Answer{By: yes("alice").By, Approve: true}).Outcome.Kind)
	}
	assert.Equal(t, []string{"write", "send"}, seen["w1"])
	assert.Empty(t, seen["w2"])
	assert.Equal(t, []string{"read"}, seen["w3"])
}
