package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// noting returns a tool that notes what its handler is told of each call.
func noting(got map[string]runtime.CallInfo, change ...func(*runtime.Spec)) *runtime.Tool {
	return readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
		info, _ := runtime.FromContext(ctx)
		got[info.ID] = info
		return okRead(ctx, in)
	}, change...)
}

// startRun starts a run of the session of sessionAgain.
func (r *rig) startRun(id string, metadata map[string]string) *engine.Run {
	r.t.Helper()
	run, err := r.sessionAgain().StartRun(r.t.Context(), engine.RunConfig{ID: id, Metadata: metadata})
	require.NoError(r.t, err)
	return run
}

// TestProviderIDs: the id of a provider is in the metadata of a call that has another one, cut to 8 KiB. It identifies nothing.
// SEMANTICS 1.4.11
func TestProviderIDs(t *testing.T) {
	var j journal.Memory
	got := map[string]runtime.CallInfo{}
	r := recovered(t, &j, noting(got))
	run := r.startRun("r", map[string]string{"tenant": "acme"})
	long := strings.Repeat("é", 5<<10)
	for id, provider := range map[string]string{"c1": "call_0", "c2": "call_0", "c3": "c3", "c4": "", "c5": "x" + long, "c6": "a\xff"} {
		c := callOf(id, "file_read", goodInput)
		c.ProviderID = provider
		require.Equal(t, runtime.Completed, run.Turn(engine.TurnConfig{}).Execute(t.Context(), c).Kind)
	}
	recorded := map[string]string{}
	for _, rec := range records(t, &j) {
		if id, ok := rec.Metadata["provider_call_id"]; ok {
			recorded[rec.Call] = id
		}
	}
	want := map[string]string{"c1": "call_0", "c2": "call_0", "c5": "x" + long[:8188] + "…", "c6": "a\uFFFD"}
	assert.Equal(t, want, recorded)
	for id, provider := range want {
		assert.Equal(t, map[string]string{"tenant": "acme", "provider_call_id": provider}, got[id].Metadata)
	}
	assert.Equal(t, map[string]string{"tenant": "acme"}, got["c3"].Metadata)
	assert.Equal(t, map[string]string{"tenant": "acme"}, got["c4"].Metadata)
}

// TestMetadataOfARun: it is added to that of every call, in every view of the run and after a restart.
// The member of the nearest counts.
// SEMANTICS 1.2.4, 2.1.7
func TestMetadataOfARun(t *testing.T) {
	var j journal.Memory
	got := map[string]runtime.CallInfo{}
	r := recovered(t, &j, noting(got))
	given := map[string]string{"request_id": "web-1", "tenant": "acme"}
	run := r.startRun("r", given)
	given["tenant"] = "other"
	execute := func(of *engine.Run, id string, own map[string]string) {
		c := callOf(id, "file_read", goodInput)
		c.Metadata = own
		require.Equal(t, runtime.Completed, of.Turn(engine.TurnConfig{}).Execute(t.Context(), c).Kind)
	}
	child := run.Child(engine.RunConfig{ID: "sub", Metadata: map[string]string{"tenant": "sub", "depth": "1"}})
	execute(run, "c1", nil)
	execute(run, "c2", map[string]string{"tenant": "own", "trace": "7"})
	execute(run.WithPrincipal("bob"), "c3", nil)
	execute(child, "c4", nil)
	execute(child.Child(engine.RunConfig{Metadata: map[string]string{"request_id": "web-2"}}), "c5", nil)
	execute(run.Child(engine.RunConfig{Metadata: map[string]string{"big": strings.Repeat("v", 9000)}}), "c6", nil)
	faults := r.allFaults()
	require.Len(t, faults, 1)
	assert.ErrorContains(t, faults[0], `sub-agent "agent-1": metadata has 9028 bytes`)
	require.NoError(t, r.exec.Shutdown(t.Context()))

	r = recovered(t, &j, noting(got))
	again, open := r.sessionAgain().Run("r")
	require.True(t, open)
	execute(again, "c7", map[string]string{"trace": "8"})
	execute(r.startRun("bare", nil), "c8", nil)
	metadata, turns, requests := map[string]map[string]string{}, map[string]int{}, map[string]string{}
	for id, info := range got {
		metadata[id], turns[id], requests[id] = info.Metadata, info.Turn, info.ClientRequest
	}
	acme := map[string]string{"request_id": "web-1", "tenant": "acme"}
	assert.Equal(t, map[string]map[string]string{
		"c1": acme, "c2": {"request_id": "web-1", "tenant": "own", "trace": "7"}, "c3": acme,
		"c4": {"request_id": "web-1", "tenant": "sub", "depth": "1"}, "c5": {"request_id": "web-2", "tenant": "sub", "depth": "1"}, "c6": acme,
		"c7": {"request_id": "web-1", "tenant": "acme", "trace": "8"}, "c8": nil,
	}, metadata)
	assert.Equal(t, map[string]int{"c1": 1, "c2": 2, "c3": 3, "c4": 4, "c5": 5, "c6": 6, "c7": 7, "c8": 1}, turns, "the count goes on after a restart")
	assert.Equal(t, map[string]string{"c1": "web-1", "c2": "web-1", "c3": "web-1", "c4": "web-1", "c5": "web-2", "c6": "web-1", "c7": "web-1", "c8": ""}, requests)

	_, err := r.sessionAgain().StartRun(t.Context(), engine.RunConfig{ID: "big", Metadata: map[string]string{"request_id": strings.Repeat("v", 257)}})
	require.ErrorContains(t, err, "request_id of 257 bytes")
	_, open = r.sessionAgain().Run("big")
	assert.False(t, open)
}

// TestEveryEventNamesTurnAndRequest: from tool.invoked to tool.undone, of calls of every kind, before
// and after a restart; and so does every entry of a call.
// SEMANTICS 2.1.7
func TestEveryEventNamesTurnAndRequest(t *testing.T) {
	var j journal.Memory
	tools := func() []*runtime.Tool {
		return []*runtime.Tool{new(loginTool).tool(), readTool(okRead, asking(), named("ask")), readTool(okRead)}
	}
	r := recovered(t, &j, tools()...)
	run := r.startRun("r", map[string]string{"request_id": "web-1"})
	want := map[string]int{} // turns by call
	first := run.Turn(engine.TurnConfig{})
	first.Execute(t.Context(), callOf("c1", "login", adaLogsIn))
	first.ExecuteBatch(t.Context(), []runtime.Call{callOf("c2", "file_read", goodInput), callOf("c3", "nonsense", `{}`)}, engine.Parallel)
	second := run.Turn(engine.TurnConfig{})
	_, err := second.StartCall(callOf("c4", "file_read", goodInput))
	require.NoError(t, err)
	r.sessionAgain().Await(t.Context(), "c4")
	waits := second.Execute(t.Context(), callOf("c5", "ask", goodInput))
	require.Equal(t, runtime.Pending, waits.Kind)
	require.NoError(t, r.exec.Shutdown(t.Context()))
	for id, turn := range map[string]int{"c1": 1, "c2": 1, "c3": 1, "c4": 2, "c5": 2} {
		want[id] = turn
	}
	check := func(r *rig) (seen map[string]bool) {
		seen = map[string]bool{}
		require.NoError(t, r.exec.Flush(t.Context()))
		for _, e := range r.sink.Events() {
			seen[e.Kind.String()] = true
			assert.Equal(t, "web-1", e.ClientRequest, "%v of %s", e.Kind, e.CallID)
			assert.Equal(t, want[e.CallID], e.Turn, "%v of %s", e.Kind, e.CallID)
		}
		return seen
	}
	assert.Subset(t, check(r), map[string]bool{"tool.invoked": true, "tool.denied": true, "tool.completed": true, "approval.requested": true})

	r = recovered(t, &j, tools()...)
	res := r.exec.Decide(t.Context(), waits.RequestID, yes("alice"))
	require.Equal(t, runtime.ResolutionAccepted, res.Kind)
	require.Equal(t, undoOK, r.undoOf("c1").Kind)
	assert.Subset(t, check(r), map[string]bool{"approval.decided": true, "tool.completed": true, "tool.undone": true})

	entries, err := j.Read(t.Context(), 0, 1000)
	require.NoError(t, err)
	kinds := map[string]bool{}
	for i := range entries {
		rec, err := journal.Decode(entries[i].Leaf)
		require.NoError(t, err)
		if rec.Call == "" {
			continue
		}
		kinds[rec.Kind] = true
		assert.Equal(t, "web-1", rec.RequestID, "%s of %s", rec.Kind, rec.Call)
		assert.Equal(t, want[rec.Call], rec.Turn, "%s of %s", rec.Kind, rec.Call)
	}
	assert.Subset(t, kinds, map[string]bool{journal.KindPrepared: true, journal.KindUndoStarted: true})
}
