package opa

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/rego/regotest"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// SEMANTICS 2.3.4, 3.6.2
func TestLibraryDecides(t *testing.T) {
	p, reg := load(t)
	read := call(t, reg, "file_read", `{"path":"a"}`)
	e, err := p.Explain(t.Context(), read)
	require.NoError(t, err)
	assert.Equal(t, runtime.EffectAllow, e.Effect)
	assert.Equal(t, []Allow{{Code: "read_only", Message: "the tool only reads", At: "ambit:ambit.rego:28"}}, e.Allows)
	assert.Equal(t, p.Revision(), e.Revision)

	write := decide(t, p, call(t, reg, "file_write", `{}`))
	assert.Equal(t, runtime.EffectDeny, write.Effect)
	assert.Equal(t, []runtime.Denial{{Code: "no_allow", Message: "no policy allows this call"}}, write.Denials)

	gated := call(t, reg, "web_search", `{"query":"x"}`)
	assert.Equal(t, runtime.EffectAllow, decide(t, p, gated).Effect)
	gated.Behavior, gated.Capabilities, gated.Modes = "doc_edit", nil, map[string]string{"web_mode": "off"}
	d := decide(t, p, gated)
	assert.Equal(t, runtime.EffectDeny, d.Effect)
	var codes, details []string
	for _, denial := range d.Denials {
		codes, details = append(codes, denial.Code), append(details, string(denial.Detail))
		assert.Regexp(t, `^ambit:gating\.rego:\d+$`, denial.At)
	}
	assert.Equal(t, []string{"behavior_not_allowed", "capability_missing", "mode_off"}, codes)
	assert.Equal(t, []string{
		`{"allowed":["research"],"behavior":"doc_edit"}`,
		`{"capability":"web"}`,
		`{"allowed":["cached","live"],"mode":"web_mode","value":"off"}`,
	}, details)

	asked := decide(t, p, call(t, reg, "file_delete", `{"path":"a"}`))
	assert.Equal(t, runtime.EffectAsk, asked.Effect)
	require.Len(t, asked.Asks, 1)
	assert.Equal(t, "declared", asked.Asks[0].ID)
	assert.Equal(t, []string{"owner"}, asked.Asks[0].Approvers)
	assert.Equal(t, 10*time.Minute, asked.Asks[0].Timeout)
}

const writePolicy = `package ambit.tools.file_write

allow contains {"code": "docs", "message": "documents may be written"} if startswith(input.args.path, "docs/")

deny contains {"code": "system_path", "message": sprintf("%s is a system path", [input.args.path]), "detail": {"path": input.args.path}} if {
	startswith(input.args.path, "/etc")
}

ask contains {"id": "big", "message": "a big file", "approvers": ["owner", "lead"], "quorum": 2, "timeout": "5m", "max_cover": "tool"} if {
	count(input.args.content) > 3
}

modify contains {"code": "trim", "pointer": "/content", "value": trim_space(input.args.content)} if {
	endswith(input.args.content, " ")
}

obligations contains {"code": "notify", "args": {"to": {"owner"}}} if input.args.mode == "append"
`

const orgPolicy = `package ambit.policies.security

deny contains {"code": "too_many", "message": "too many writes"} if {
	input.run.counts[input.tool.name] >= 3
}

ask contains {"id": "night", "message": "at night", "approvers": {"lead"}, "timeout": "1h", "max_cover": "args"} if {
	time.clock(input.now_ns)[0] >= 22
}
`

// SEMANTICS 3.6.1, 3.6.2
func TestPackagesDecide(t *testing.T) {
	p, reg := load(t, "file_write.rego", writePolicy, "org/security.rego", orgPolicy)
	docs := func(content, mode string) *runtime.PolicyInput {
		return call(t, reg, "file_write", `{"path":"docs/a","content":"`+content+`","mode":"`+mode+`","meta":{"owner":"o"}}`)
	}
	assert.Equal(t, runtime.EffectAllow, decide(t, p, docs("x", "create")).Effect)

	d := decide(t, p, docs("x ", "append"))
	assert.Equal(t, runtime.EffectAllow, d.Effect)
	assert.Equal(t, []runtime.Rewrite{{Code: "trim", Pointer: "/content", Value: wire.Raw(`"x"`), At: "file_write.rego:13"}}, d.Rewrites)
	assert.Equal(t, []runtime.Obligation{{Code: "notify", Args: wire.Raw(`{"to":["owner"]}`), At: "file_write.rego:17"}}, d.Obligations)

	late := docs("a long text", "create")
	late.Now = time.Date(2026, 3, 1, 23, 0, 0, 0, time.UTC)
	d = decide(t, p, late)
	assert.Equal(t, runtime.EffectAsk, d.Effect)
	assert.ElementsMatch(t, []runtime.Ask{
		{
			ID: "big", Message: "a big file", Approvers: []string{"lead", "owner"}, Quorum: 2,
			Timeout: 5 * time.Minute, MaxCover: runtime.CoverTool, At: "file_write.rego:9",
		},
		{ID: "night", Message: "at night", Approvers: []string{"lead"}, Timeout: time.Hour, MaxCover: runtime.CoverArgs, At: "org/security.rego:7"},
	}, d.Asks, "each ask is handed on whole: package consent joins them")

	etc := call(t, reg, "file_write", `{"path":"/etc/passwd","content":"long enough","mode":"create","meta":{"owner":"o"}}`)
	d = decide(t, p, etc)
	assert.Equal(t, runtime.EffectDeny, d.Effect)
	assert.Equal(t, []runtime.Denial{{
		Code: "system_path", Message: "/etc/passwd is a system path", Detail: wire.Raw(`{"path":"/etc/passwd"}`), At: "file_write.rego:5",
	}}, d.Denials)
	assert.Len(t, d.Asks, 1, "what was said besides stays visible")
}

// SEMANTICS 3.6.1
func TestPrecedence(t *testing.T) {
	ask := func(approvers ...string) runtime.Ask { return runtime.Ask{ID: "a", Approvers: approvers, At: "x:1"} }
	asks := []runtime.Ask{ask("a", "b"), ask(), ask("c")}
	d, err := answers{asks: asks, allows: []Allow{{}}}.decide("r")
	require.NoError(t, err)
	assert.Equal(t, runtime.EffectAsk, d.Effect)
	assert.Equal(t, asks, d.Asks)

	d, err = answers{allows: []Allow{{}}, obligations: []runtime.Obligation{{Code: "dance", At: "x:2"}}}.decide("r")
	require.NoError(t, err)
	assert.Equal(t, runtime.EffectDeny, d.Effect)
	assert.Equal(t, "unknown_obligation", d.Denials[0].Code)

	rewrite := func(pointer, value, at string) runtime.Rewrite {
		return runtime.Rewrite{Pointer: pointer, Value: wire.Raw(value), At: at}
	}
	for _, test := range []struct {
		a, b runtime.Rewrite
		err  string
	}{
		{rewrite("/a", "1", "x:1"), rewrite("/a", "2", "y:2"), `rewrites "" of "/a" (x:1) and "" of "/a" (y:2) contradict each other`},
		{rewrite("/a/b", "1", "x:1"), rewrite("/a", "2", "y:2"), `rewrites "" of "/a" (y:2) and "" of "/a/b" (x:1) contradict each other`},
		{rewrite("", "1", "x:1"), rewrite("/a", "2", "y:2"), `rewrites "" of "" (x:1) and "" of "/a" (y:2) contradict each other`},
		{rewrite("a", "1", "x:1"), rewrite("/b", "2", "y:2"), `rewrite "" of "a" (x:1): "a" is no JSON Pointer: it does not start with a slash`},
		{rewrite("/a", "1", "x:1"), rewrite("/ab", "2", "y:2"), ``},
		{rewrite("/a", "1", "x:1"), rewrite("/a", "1", "y:2"), ``},
	} {
		d, err := answers{denials: []runtime.Denial{{Code: "x"}}, rewrites: []runtime.Rewrite{test.a, test.b}}.decide("r")
		if test.err == "" {
			assert.NoError(t, err)
			continue
		}
		assert.EqualError(t, err, test.err, "an error wins over a denial")
		assert.Equal(t, runtime.EffectDeny, d.Effect)
	}
}

const thirdPolicy = `package ambit.tools.file_write

allow contains {"code": "docs", "message": "documents may be written"}

ask contains {"id": "third", "message": "more than two writes in one run", "approvers": ["owner"]} if {
	input.run.counts.file_write >= 2
}
`

// TestAskFromTheThirdWriteOn asks by what happened in the run before.
func TestAskFromTheThirdWriteOn(t *testing.T) {
	p, reg := load(t, "file_write.rego", thirdPolicy)
	exec, err := engine.NewExecutor(reg, runtime.PolicyFunc(func(ctx context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
		d, err := p.Decide(ctx, in)
		if in.Facts().Tool(in.Index).Invocations < 2 {
			assert.Equal(t, runtime.EffectAllow, d.Effect)
			return d, err
		}
		assert.Equal(t, runtime.EffectAsk, d.Effect)
		assert.Equal(t, "third", d.Asks[0].ID)
		return d, err
	}))
	require.NoError(t, err)
	ses := exec.Session(engine.SessionConfig{Principal: "agent", Capabilities: []string{"filesystem.write"}})
	run, err := ses.StartRun(t.Context(), engine.RunConfig{})
	require.NoError(t, err)
	turn := run.Turn(engine.TurnConfig{})
	for i := range 2 { // the handlers of the fixture fail, which counts all the same
		turn.Execute(t.Context(), runtime.Call{Tool: "file_write", Input: fmt.Appendf(nil, `{"path":"docs/%d","content":"x","mode":"create","meta":{"owner":"o"}}`, i)})
	}
	v := turn.WhatIf(t.Context(), runtime.Call{Tool: "file_write", Input: []byte(`{"path":"docs/3","content":"x","mode":"create","meta":{"owner":"o"}}`)})
	assert.False(t, v.Runs)
	assert.Equal(t, "third", v.Decision.Asks[0].ID)
}

func TestOneIDForEachPackagesAsk(t *testing.T) {
	ask := `ask contains {"id": "review", "message": "m"} if input.args.path == "x"`
	elsewhere := "package ambit.policies.security\n\n" + `ask contains {"id": "review", "message": "m"} if input.now_ns > 1`
	_, err := Load(regotest.Dir("a.rego", regotest.Tool(ask), "b.rego", elsewhere), registryOf(t, specs()))
	assert.EqualError(t, err, `b.rego:3:21: the id "review" is that of another package's ask (give this ask an id of its own: a grant answers the rule that asked for it)`)

	again := ask + "\n\n" + `ask contains {"id": "review", "message": "n"} if input.args.path == "y"`
	p, _ := load(t, "a.rego", regotest.Tool(again), "c.rego", "package ambit.tools.file_delete\n\n"+ask)
	for id, tools := range map[string][]string{"review": {"file_write", "file_delete"}, "declared": {"file_delete"}, "no such": nil} {
		for _, name := range []string{"file_read", "file_write", "file_delete", "no_such_tool"} {
			assert.Equal(t, slices.Contains(tools, name), p.Asks(name, id), "%s asks %s", name, id)
		}
	}
}
