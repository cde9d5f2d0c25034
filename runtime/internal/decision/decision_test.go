package decision

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
	"github.com/ambit-tools/ambit/runtime/wire"
)

func TestMain(m *testing.M) { battery.Main(m) }

// put is the input and the output of the tool of the tests.
type put struct{ Text string }

var (
	putRule  = wire.ObjectRule{Names: []string{"text"}, Required: 1}
	textRule = wire.StringRule{Has: wire.Max, Max: 10}
)

func (v *put) ReadMember(r *wire.Reader, name string) { wire.ReadString(r, &v.Text, &textRule) }

func (v *put) Walk(w wire.Visitor) {
	wire.BeginObject(w, &putRule)
	wire.Member(w, "text", &v.Text, wire.WalkString, &textRule)
	wire.End(w)
}

// of returns the tool of the tests, which asks for consent itself if always is set.
func of(t *testing.T, always bool) *tools.Tool {
	t.Helper()
	spec := &runtime.Spec{Name: "put", Version: "1.0.0", Effect: runtime.SideEffectWrite}
	if always {
		spec.Consent = &runtime.Consent{Ask: runtime.ConsentAskAlways}
	}
	reg, err := runtime.NewRegistry(runtime.NewTool(spec, &putRule, func(_ context.Context, in *put) (*put, error) { return in, nil }))
	require.NoError(t, err)
	return &tools.Of(reg)[0]
}

// A policy gives its answers one after the other, and notes what it was asked about. It has no answer after them.
type policy struct {
	answers []runtime.Decision
	asked   []string
}

func (p *policy) Ask(args wire.Value, text []byte) (runtime.Decision, bool) {
	p.asked = append(p.asked, args.(*put).Text+" "+string(text))
	if len(p.answers) < len(p.asked) {
		return runtime.Decision{}, false
	}
	return p.answers[len(p.asked)-1], true
}

// judge judges the call {"text":"a"} under the answers.
func judge(t *testing.T, tool *tools.Tool, answers ...runtime.Decision) (r Result, asked []string, followed bool) {
	t.Helper()
	p := &policy{answers: answers}
	const text = `{"text":"a"}`
	args, violations := tool.Decode([]byte(text))
	require.Empty(t, violations)
	require.True(t, r.Ask(p, tool, args, []byte(text)))
	return r, p.asked, r.Judge(tool)
}

// set rewrites the text.
func set(text string) []runtime.Rewrite {
	return []runtime.Rewrite{{Code: "shorten", Pointer: "/text", Value: wire.Raw(`"` + text + `"`)}}
}

var allow = runtime.Decision{Effect: runtime.EffectAllow}

// TestJudge: errors go before denials, denials before questions, questions before an allow.
func TestJudge(t *testing.T) {
	denial := []runtime.Denial{{Code: "mine", Message: "no"}}
	for name, row := range map[string]struct {
		answer runtime.Decision
		always bool
		reason runtime.Reason
		rule   string
		asks   bool
	}{
		"allow":              {answer: allow},
		"nothing":            {reason: runtime.ReasonPolicyDenied, rule: "no_allow"},
		"deny":               {answer: runtime.Decision{Effect: runtime.EffectAllow, Denials: denial}, reason: runtime.ReasonPolicyDenied, rule: "mine"},
		"deny before ask":    {answer: runtime.Decision{Effect: runtime.EffectAsk, Denials: denial}, reason: runtime.ReasonPolicyDenied, rule: "mine"},
		"ask":                {answer: runtime.Decision{Effect: runtime.EffectAsk}, asks: true},
		"a question":         {answer: runtime.Decision{Effect: runtime.EffectAllow, Asks: []runtime.Ask{{}}}, asks: true},
		"the tool asks":      {answer: allow, always: true, asks: true},
		"no such effect":     {answer: runtime.Decision{Effect: runtime.EffectAllow + 1}, reason: runtime.ReasonPolicyError, rule: "effect"},
		"notify":             {answer: runtime.Decision{Effect: runtime.EffectAllow, Obligations: []runtime.Obligation{{Code: "notify", Args: []byte(`{}`)}}}},
		"notify nothing":     {answer: runtime.Decision{Effect: runtime.EffectAllow, Obligations: []runtime.Obligation{{Code: "notify"}}}},
		"notify no JSON":     {answer: runtime.Decision{Effect: runtime.EffectAllow, Obligations: []runtime.Obligation{{Code: "notify", Args: []byte(`{`)}}}, reason: runtime.ReasonPolicyError, rule: "notify"},
		"redact no pointer":  {answer: runtime.Decision{Effect: runtime.EffectAllow, Obligations: []runtime.Obligation{{Code: "redact_output", Args: []byte(`{}`)}}}, reason: runtime.ReasonPolicyError, rule: "redact_output"},
		"unknown obligation": {answer: runtime.Decision{Effect: runtime.EffectAllow, Obligations: []runtime.Obligation{{Code: "sing", At: "a.rego:1"}}}, reason: runtime.ReasonPolicyDenied, rule: "unknown_obligation"},
	} {
		t.Run(name, func(t *testing.T) {
			r, _, followed := judge(t, of(t, row.always), row.answer)
			assert.True(t, followed)
			assert.Equal(t, row.reason, r.Reason)
			assert.Equal(t, row.rule, r.Detail.Rule)
			assert.Equal(t, row.asks, r.Asks)
			assert.Equal(t, row.reason == runtime.ReasonPolicyError, r.Err != nil)
		})
	}
}

// TestRewrites: the policy is asked once more about the arguments that its rewrites make, and may leave them alone or
// refuse them, but not change them again.
func TestRewrites(t *testing.T) {
	tool := of(t, false)
	rewrite := func(text string) runtime.Decision {
		return runtime.Decision{Effect: runtime.EffectAllow, Rewrites: set(text)}
	}
	r, asked, followed := judge(t, tool, rewrite("b"), allow)
	assert.True(t, followed)
	assert.Equal(t, []string{`a {"text":"a"}`, `b {"text":"b"}`}, asked)
	assert.Equal(t, `{"text":"b"}`, string(r.Text))
	assert.Equal(t, "b", r.Args.(*put).Text)
	assert.Zero(t, r.Reason)

	_, _, followed = judge(t, tool, rewrite("b"), rewrite("b"))
	assert.True(t, followed, "stable")
	r, _, followed = judge(t, tool, rewrite("b"), rewrite("c"))
	assert.False(t, followed)
	assert.ErrorIs(t, r.Err, errNotStable)
	assert.Equal(t, "rewrite", r.Detail.Rule)
	assert.Zero(t, r.Decision)
	assert.Equal(t, "b", r.Args.(*put).Text)

	r, asked, followed = judge(t, tool, rewrite("much too long for it"), allow)
	assert.False(t, followed)
	assert.Len(t, asked, 1)
	assert.Equal(t, runtime.ReasonPolicyError, r.Reason)
	assert.Equal(t, "a", r.Args.(*put).Text)
	assert.Zero(t, r.Decision)

	denied := rewrite("b")
	denied.Denials = []runtime.Denial{{Code: "mine"}}
	r, asked, _ = judge(t, tool, denied)
	assert.Len(t, asked, 1, "what is denied is not rewritten")
	assert.Equal(t, "a", r.Args.(*put).Text)
	_, _, followed = judge(t, tool, rewrite("b"), denied)
	assert.True(t, followed)
}

// TestNoAnswer: where one of the answers is missing there is none.
func TestNoAnswer(t *testing.T) {
	tool := of(t, false)
	args, _ := tool.Decode([]byte(`{"text":"a"}`))
	var r Result
	assert.False(t, r.Ask(&policy{}, tool, args, nil))
	r = Result{}
	assert.False(t, r.Ask(&policy{answers: []runtime.Decision{{Effect: runtime.EffectAllow, Rewrites: set("b")}}}, tool, args, []byte(`{"text":"a"}`)))
	assert.Zero(t, r.Decision)
	cause := errors.New("it hangs")
	r.Fail(RuleBreaker, cause)
	assert.Equal(t, cause, r.Err)
	assert.Equal(t, Unjudged, r.Message)
	assert.Equal(t, runtime.ReasonPolicyError, r.Reason)
}
