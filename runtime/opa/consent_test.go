package opa

import (
	"testing"
	"time"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/rego/regotest"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
)

// asking is an executor whose policies are files, and how to write or delete in it.
type asking struct {
	exec *engine.Executor
	run  *engine.Run
}

func ask(t *testing.T, files ...string) asking {
	p, reg := load(t, files...)
	exec, err := engine.NewExecutor(reg, p, engine.WithPendingRequests(), engine.WithPolicyTimeout(time.Minute))
	require.NoError(t, err)
	run, err := exec.Session(engine.SessionConfig{Principal: "agent", Capabilities: []string{"filesystem.write"}}).StartRun(t.Context(), engine.RunConfig{})
	require.NoError(t, err)
	return asking{exec, run}
}

func (a asking) call(t *testing.T, tool, input string) runtime.Outcome {
	return a.run.Turn(engine.TurnConfig{}).Execute(t.Context(), runtime.Call{Tool: tool, Input: []byte(input)})
}

const (
	writing  = `{"path":"docs/a","content":"x","mode":"create","meta":{"owner":"o"}}`
	deleting = `{"path":"docs/a"}`
)

// TestPolicyAsksWhereTheDeclarationDoesNot joins the asks of two packages about
// a tool that declares nothing: who may answer, how soon, and how far it reaches.
func TestPolicyAsksWhereTheDeclarationDoesNot(t *testing.T) {
	a := ask(t,
		"w.rego", regotest.Tool(`ask contains {"id": "big", "message": "m", "approvers": ["owner", "lead"], "timeout": "5m", "max_cover": "tool"} if input.args.path != ""`),
		"o.rego", regotest.Org(`ask contains {"id": "night", "message": "n", "approvers": {"lead", "boss"}, "timeout": "1h", "max_cover": "tool"} if input.now_ns > 1`))
	out := a.call(t, "file_write", writing)
	require.Equal(t, runtime.Pending, out.Kind, out.Message)
	r, ok := a.exec.Request(out.RequestID)
	require.True(t, ok)
	assert.Equal(t, consent.Requirement{Approvers: []string{"lead"}, Quorum: 1, Timeout: 5 * time.Minute, MaxCover: runtime.CoverExact, MaxFor: consent.DefaultMaxFor}, r.Requirement)
	assert.ElementsMatch(t, []consent.Reason{
		{Code: "big", Message: "m", Approvers: []string{"lead", "owner"}, MaxCover: runtime.CoverTool, At: "w.rego:3"},
		{Code: "night", Message: "n", Approvers: []string{"boss", "lead"}, MaxCover: runtime.CoverTool, At: "o.rego:3"},
	}, r.Reasons)

	wide := action.Answer{By: runtime.ProgramActor("lead"), Approve: true, Grant: consent.ForSession, Cover: runtime.CoverTool}
	assert.Equal(t, consent.GrantTooWide, a.exec.Decide(t.Context(), r.ID, wide).Reason, "a policy cannot widen what is not declared")
	assert.Equal(t, consent.NotPermitted, a.exec.Decide(t.Context(), r.ID, action.Answer{By: runtime.ProgramActor("owner"), Approve: true}).Reason)
}

// TestPolicyNarrowsWhatIsDeclared asks besides a declaration that asks.
func TestPolicyNarrowsWhatIsDeclared(t *testing.T) {
	narrow := "package ambit.tools.file_delete\n\n" + `ask contains {"id": "careful", "message": "m", "approvers": ["owner", "lead"], "quorum": 1, "timeout": "1m"} if input.args.path != ""`
	a := ask(t, "d.rego", narrow)
	out := a.call(t, "file_delete", deleting)
	require.Equal(t, runtime.Pending, out.Kind, out.Message)
	r, ok := a.exec.Request(out.RequestID)
	require.True(t, ok)
	assert.Contains(t, r.Rules(), "careful")
	assert.Equal(t, []string{"owner"}, r.Requirement.Approvers)
	assert.Equal(t, time.Minute, r.Requirement.Timeout)
}

// TestNobodyIsAskedWhenNobodyCouldAgree has two asks with disjoint approvers.
func TestNobodyIsAskedWhenNobodyCouldAgree(t *testing.T) {
	a := ask(t,
		"w.rego", regotest.Tool(`ask contains {"id": "big", "message": "m", "approvers": ["owner"]} if input.args.path != ""`),
		"o.rego", regotest.Org(`ask contains {"id": "night", "message": "n", "approvers": ["boss"]} if input.now_ns > 1`))
	out := a.call(t, "file_write", writing)
	assert.Equal(t, runtime.Denied, out.Kind)
	assert.Empty(t, a.exec.Requests())
}

// TestConsentLiftsNoDenial asks and refuses.
// SEMANTICS 5.3.10
func TestConsentLiftsNoDenial(t *testing.T) {
	a := ask(t, "w.rego", regotest.Tool(`ask contains {"id": "big", "message": "m"} if input.args.path != ""

deny contains {"code": "too_big", "message": "m"} if input.args.content == "x"`))
	out := a.call(t, "file_write", writing)
	assert.Equal(t, runtime.Denied, out.Kind)
	assert.Equal(t, runtime.ReasonPolicyDenied, out.Reason)
	assert.Empty(t, a.exec.Requests())
}
