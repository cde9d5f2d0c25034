package opa

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/rego/regotest"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// What the loader cannot know, because a value is of any type there, is an
// error of the decision: a reason that is not understood may be a refusal.
// SEMANTICS 3.6.3
func TestWrongShapesFailTheDecision(t *testing.T) {
	for _, test := range []struct{ name, rule, args, want string }{
		{"message", `deny contains {"code": "night", "message": input.args.extra.x} if input.args.extra.x`, `{"extra":{"x":1}}`, `o.rego:3: an entry of deny has a "message" that is not a string`},
		{"approvers", `ask contains {"id": "a", "message": "m", "approvers": input.args.extra.x} if input.args.extra.x`, `{"extra":{"x":"owner"}}`, `o.rego:3: an entry of ask has a "approvers" that is not a list of strings`},
		{"approver", `ask contains {"id": "a", "message": "m", "approvers": input.args.extra.x} if input.args.extra.x`, `{"extra":{"x":["owner",1]}}`, `o.rego:3: an entry of ask has a "approvers" that is not a list of strings`},
		{"approvers that are none", `ask contains {"id": "a", "message": "m", "approvers": [a | some a in input.args.extra.x]} if input.args.extra.x`, `{"extra":{"x":[]}}`, `o.rego:3: an entry of ask has "approvers" that name nobody`},
		{"quorum", `ask contains {"id": "a", "message": "m", "quorum": input.args.extra.x} if input.args.extra.x`, `{"extra":{"x":1.5}}`, `o.rego:3: an entry of ask has a "quorum" that is not an integer`},
		{"negative quorum", `ask contains {"id": "a", "message": "m", "quorum": input.args.extra.x} if input.args.extra.x`, `{"extra":{"x":-1}}`, `o.rego:3: an entry of ask has a negative "quorum"`},
		{"timeout", `ask contains {"id": "a", "message": "m", "timeout": input.args.extra.x} if input.args.extra.x`, `{"extra":{"x":"soon"}}`, `o.rego:3: an entry of ask has a "timeout" of "soon", which is not a duration`},
		{"cover", `ask contains {"id": "a", "message": "m", "max_cover": input.args.extra.x} if input.args.extra.x`, `{"extra":{"x":"all"}}`, `o.rego:3: an entry of ask has a "max_cover" of "all": unknown cover "all": want one of ["exact" "args" "tool"]`},
		{"pointer", `modify contains {"code": "a", "pointer": input.args.extra.x, "value": 1} if input.args.extra.x`, `{"extra":{"x":"path"}}`, `rewrite "a" of "path" (o.rego:3): "path" is no JSON Pointer: it does not start with a slash`},
		{"args", `obligations contains {"code": "notify", "args": input.args.extra.x} if input.args.extra.x`, `{"extra":{"x":[]}}`, `o.rego:3: an entry of obligations has a "args" that is not an object`},
		{"builtin error", `deny contains {"code": "night", "message": "m"} if to_number(input.args.extra.x) > 1`, `{"extra":{"x":"one"}}`, `o.rego:3: eval_builtin_error: to_number`},
		{"type error", `deny contains {"code": "night", "message": "m"} if count(input.args.extra.x) > 1`, `{"extra":{"x":1}}`, `o.rego:3: eval_type_error: count`},
		{"type error of an indexed function", `deny contains {"code": "night", "message": "m"} if startswith(input.args.extra.x, "a")`, `{"extra":{"x":1}}`, `o.rego:3: eval_type_error: startswith`},
		{"conflict", "deny contains {\"code\": \"night\", \"message\": m} if m\n\nm := \"a\" if input.args.extra.x\n\nm := \"b\" if input.args.extra.y", `{"extra":{"x":true,"y":true}}`, `eval_conflict_error`},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, reg := load(t, "o.rego", regotest.Org(test.rule))
			d, err := p.Decide(t.Context(), call(t, reg, "file_read", test.args))
			require.ErrorContains(t, err, test.want)
			assert.Equal(t, runtime.Decision{Revision: p.Revision()}, d, "an error decides nothing")
		})
	}
}

func TestDecodeIsStrict(t *testing.T) {
	whole := `{"allow": set(), "deny": set(), "ask": set(), "modify": set(), "obligations": set()}`
	_, err := decode(ast.MustParseTerm(whole))
	require.NoError(t, err)
	for _, test := range []struct{ term, want string }{
		{`true`, "not an object"},
		{strings.Replace(whole, `"deny"`, `"denny"`, 1), `has no "deny"`},
		{strings.Replace(whole, `}`, `, "more": 1}`, 1), "not an object of"},
		{strings.Replace(whole, `"deny": set()`, `"deny": {}`, 1), "deny is not a set"},
		{strings.Replace(whole, `"deny": set()`, `"deny": [1]`, 1), "deny is not a set"},
		{strings.Replace(whole, `"deny": set()`, `"deny": {"x"}`, 1), "deny holds"},
		{strings.Replace(whole, `"deny": set()`, `"deny": {{"code": "x", "message": "m", "more": 1}}`, 1), `unknown member "more"`},
		{strings.Replace(whole, `"deny": set()`, `"deny": {{"code": "x", "message": "m", 1: 1}}`, 1), "has the member 1"},
		{strings.Replace(whole, `"deny": set()`, `"deny": {{"code": "x"}}`, 1), `has no "message"`},
		{strings.Replace(whole, `"deny": set()`, `"deny": {{"code": 1, "message": "m"}}`, 1), `"code" that is not a string`},
	} {
		_, err := decode(ast.MustParseTerm(test.term))
		assert.ErrorContains(t, err, test.want, test.term)
	}
}

const runaway = `deny contains {"code": "night", "message": "m"} if {
	some a in numbers.range(1, 10000)
	some b in numbers.range(1, 10000)
	some c in numbers.range(1, 10000)
	a * b * c == input.now_ns + 1
}`

// TestRunawayPolicyIsStopped stops a policy that would take days.
func TestRunawayPolicyIsStopped(t *testing.T) {
	p, reg := load(t, "o.rego", regotest.Org(runaway))
	in := call(t, reg, "file_read", `{"path":"a"}`)
	ctx, stop := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, errors.New("too slow"))
	defer stop()
	d, err := p.Decide(ctx, in)
	assert.EqualError(t, err, "the policy was stopped: too slow")
	assert.Equal(t, runtime.EffectDeny, d.Effect)

	_, err = p.Decide(ctx, in)
	assert.Error(t, err, "a context that has ended already decides nothing")
}

func TestCallsThatAreNotOfTheRegistry(t *testing.T) {
	p, reg := load(t)
	good := call(t, reg, "file_read", `{"path":"a"}`)
	for name, change := range map[string]func(*runtime.PolicyInput){
		"no tool":        func(in *runtime.PolicyInput) { in.Tool = nil },
		"other position": func(in *runtime.PolicyInput) { in.Index++ },
		"no position":    func(in *runtime.PolicyInput) { in.Index = -1 },
		"beyond the end": func(in *runtime.PolicyInput) { in.Index = 99 },
		"other tool":     func(in *runtime.PolicyInput) { in.Tool = &runtime.Spec{Name: "file_read"} },
		"no arguments":   func(in *runtime.PolicyInput) { in.Args = nil },
		"broken walk": func(in *runtime.PolicyInput) {
			in.Args = walk{{Kind: wire.KindObject}, {Kind: wire.KindName, Str: "a"}, {Kind: wire.KindEnd}}
		},
		"open walk":    func(in *runtime.PolicyInput) { in.Args = walk{{Kind: wire.KindObject}} },
		"closed walk":  func(in *runtime.PolicyInput) { in.Args = walk{{Kind: wire.KindEnd}} },
		"two values":   func(in *runtime.PolicyInput) { in.Args = walk{{Kind: wire.KindNull}, {Kind: wire.KindNull}} },
		"no JSON":      func(in *runtime.PolicyInput) { in.Args = walk{{Kind: wire.KindInvalid}} },
		"not a number": func(in *runtime.PolicyInput) { in.Args = walk{{Kind: wire.KindFloat, Float: nan()}} },
	} {
		in := *good
		change(&in)
		d, err := p.Decide(t.Context(), &in)
		assert.Error(t, err, name)
		assert.Equal(t, runtime.EffectDeny, d.Effect, name)
	}
	assert.Equal(t, runtime.EffectAllow, decide(t, p, good).Effect, "nothing of them stays")
}

// walk is a value that is walked in any way.
type walk []wire.Token

func (w walk) Walk(v wire.Visitor) {
	for _, t := range w {
		v.Visit(t)
	}
}

func nan() float64 {
	var zero float64
	return zero / zero
}

// SEMANTICS 3.6.3
func TestPanicsAreErrors(t *testing.T) {
	p, _ := load(t)
	g := p.current.Load().generation
	_, err := g.eval(panicking{t.Context()}, warmUp("file_read"))
	assert.ErrorContains(t, err, "the policy panicked: boom")
	_, _, err = g.decide(panicking{t.Context()}, warmUp("file_read"))
	assert.ErrorContains(t, err, "the policy panicked: boom")
}

// panicking panics while a policy is evaluated, as a bug in a built-in function would.
type panicking struct{ context.Context }

func (panicking) Err() error { panic("boom") }
