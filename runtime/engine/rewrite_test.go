package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A tuneInput may have two members and gets four from defaults.
type tuneInput struct {
	Mode   string
	Amount wire.Raw
	Inner  tuneInner
	Note   string
}

type tuneInner struct{ Low, High int64 }

var (
	tuneRule = wire.ObjectRule{
		Names: []string{"mode", "amount", "inner", "note"}, Has: wire.Max, Max: 2,
		Defaults: []wire.Default{{Name: "mode", JSON: `"fast"`}, {Name: "amount", JSON: `1`}, {Name: "inner", JSON: `{"low":1}`}, {Name: "note", JSON: `""`}},
	}
	tuneInnerRule = wire.ObjectRule{Names: []string{"low", "high"}, Defaults: []wire.Default{{Name: "high", JSON: "10"}}, Required: 1}
)

func (v *tuneInput) ReadMember(r *wire.Reader, name string) {
	switch name {
	case "mode":
		wire.ReadString(r, &v.Mode, &wire.StringRule{})
	case "amount":
		wire.ReadRaw(r, &v.Amount, nil)
	case "inner":
		wire.ReadObject(r, &v.Inner, &tuneInnerRule)
	case "note":
		wire.ReadString(r, &v.Note, &wire.StringRule{})
	}
}

func (v *tuneInput) Walk(w wire.Visitor) {
	wire.BeginObject(w, &tuneRule)
	wire.Member(w, "mode", &v.Mode, wire.WalkString, &wire.StringRule{})
	wire.Member(w, "amount", &v.Amount, wire.WalkRaw, (*wire.RawRule)(nil))
	wire.Member(w, "inner", &v.Inner, wire.WalkObject, &tuneInnerRule)
	wire.Member(w, "note", &v.Note, wire.WalkString, &wire.StringRule{})
	wire.End(w)
}

func (v *tuneInner) ReadMember(r *wire.Reader, name string) {
	switch name {
	case "low":
		wire.ReadInt(r, &v.Low, &wire.IntRule{})
	case "high":
		wire.ReadInt(r, &v.High, &wire.IntRule{})
	}
}

func (v *tuneInner) Walk(w wire.Visitor) {
	wire.BeginObject(w, &tuneInnerRule)
	wire.Member(w, "low", &v.Low, wire.WalkInt, &wire.IntRule{})
	wire.Member(w, "high", &v.High, wire.WalkInt, &wire.IntRule{})
	wire.End(w)
}

// tune makes a call whose arguments the policy rewrites, and returns the input of the
// handler.
func tune(t *testing.T, input, pointer, value string, change ...func(*runtime.Spec)) (*tuneInput, runtime.Outcome, engine.Verdict) {
	t.Helper()
	var got *tuneInput
	spec := &runtime.Spec{Name: "tune"}
	for _, f := range change {
		f(spec)
	}
	r := newRigWith(t, decide(runtime.Decision{
		Effect: runtime.EffectAllow, Rewrites: []runtime.Rewrite{{Code: "cap", Pointer: pointer, Value: wire.Raw(value)}},
	}), []*runtime.Tool{runtime.NewTool(spec, &tuneRule, func(_ context.Context, in *tuneInput) (*readOutput, error) {
		got = in
		return &readOutput{}, nil
	})})
	turn := r.turn()
	v := turn.WhatIf(t.Context(), callOf("", "tune", input))
	return got, turn.Execute(t.Context(), callOf("c1", "tune", input)), v
}

func TestRewriteBesideDefaults(t *testing.T) {
	for name, tc := range map[string]struct{ input, pointer, value, want string }{
		"same":            {`{}`, "/mode", ` "fast" `, `{"mode":"fast","amount":1,"inner":{"low":1,"high":10},"note":""}`},
		"absent":          {`{"amount":2}`, "/mode", `"slow"`, `{"mode":"slow","amount":2,"inner":{"low":1,"high":10},"note":""}`},
		"inside absent":   {`{"amount":2}`, "/inner/high", `3`, `{"mode":"fast","amount":2,"inner":{"low":1,"high":3},"note":""}`},
		"half absent":     {`{"inner":{"low":7}}`, "/inner/high", `3`, `{"mode":"fast","amount":1,"inner":{"low":7,"high":3},"note":""}`},
		"equal in effect": {`{}`, "/amount", `5.0e0`, `{"mode":"fast","amount":5,"inner":{"low":1,"high":10},"note":""}`},
	} {
		t.Run(name, func(t *testing.T) {
			_, out, v := tune(t, tc.input, tc.pointer, tc.value)
			assert.Equal(t, runtime.Completed, out.Kind, out.Message)
			assert.True(t, v.Runs)
			assert.Equal(t, tc.want, string(v.Input))
		})
	}
}

// SEMANTICS 3.5.2, 3.7.1
func TestRewriteIsCheckedAgain(t *testing.T) {
	for name, tc := range map[string]struct{ input, pointer, value string }{
		"one member too many": {`{"amount":1,"mode":"fast"}`, "/note", `"x"`},
		"nothing there":       {`{}`, "/mode/x", `1`},
		"not declared":        {`{}`, "/inner/x/y", `1`},
		"no JSON":             {`{}`, "/mode", `"a" "b"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, out, _ := tune(t, tc.input, tc.pointer, tc.value)
			assert.Equal(t, runtime.ReasonPolicyError, out.Reason)
			assert.Equal(t, "rewrite", out.Detail.Rule)
		})
	}
}

func TestRewriteKeepsTheTextOfNumbers(t *testing.T) {
	const amount = `{"exact":1234567890123456789,"places":1.500,"tiny":1E-7}`
	got, out, _ := tune(t, `{"amount":`+amount+`}`, "/mode", `"slow"`)
	require.Equal(t, runtime.Completed, out.Kind, out.Message)
	assert.Equal(t, amount, string(got.Amount))
	assert.Equal(t, "slow", got.Mode)
}

func TestRewriteUsesTheLimitsOfTheInput(t *testing.T) {
	long := `"` + strings.Repeat("x", 100<<10) + `"`
	_, out, _ := tune(t, `{}`, "/note", long)
	assert.Equal(t, runtime.ReasonPolicyError, out.Reason)
	got, out, _ := tune(t, `{}`, "/note", long, func(s *runtime.Spec) { s.Limits.Input = 1 << 20 })
	require.Equal(t, runtime.Completed, out.Kind, out.Message)
	assert.Len(t, got.Note, 100<<10)
}
