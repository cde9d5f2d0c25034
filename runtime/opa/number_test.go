package opa

import (
	"context"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/internal/rego/regotest"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// numberTools returns the tools of the fixture, decoding as declared. Their handler
// is told the encoded arguments.
func numberTools(t testing.TB, handle func(text string)) *runtime.Registry {
	t.Helper()
	f, err := dsl.Parse("tools.yaml", []byte(regotest.Fixture))
	require.NoError(t, err)
	tools, err := dynamic.Tools(f, func(_ context.Context, _ string, v wire.Value) (wire.Value, error) {
		text, bad := wire.Append(nil, v)
		require.Empty(t, bad)
		handle(string(text))
		return wire.Raw("{}"), nil
	})
	require.NoError(t, err)
	reg, err := runtime.NewRegistry(tools...)
	require.NoError(t, err)
	return reg
}

// Comparison and arithmetic at the bounds of numbers without a schema, in a policy
// and as the handler has them.
// SEMANTICS 7.1.1, 7.2.4
func TestPolicyAndHandlerSeeOneNumber(t *testing.T) {
	const invalid = "invalid_input"
	for _, test := range []struct{ number, condition, want string }{
		{"100.000000000000000000001", `x != 5`, invalid},
		{"100.0000000000000001", `x > 100`, "denied"},
		{"100.0000000000000001", `x == 100`, "completed"},
		{"100.0000000000000001", `x == 100.0000000000000001`, "denied"},
		{"100.0000000000000001", `x < 100.0000000000000002`, "denied"},
		{"9223372036854775808", `x > 9223372036854775807`, "denied"},
		{"9223372036854775808", `x - 9223372036854775807 == 1`, "denied"},
		{"9999999999999999999", `x + 1 == 10000000000000000000`, "denied"},
		{"9999999999999999999", `x == 10000000000000000000`, "completed"},
		{"-9999999999999999999", `x - 1 == -10000000000000000000`, "denied"},
		{"99999999999999999999", `x != 5`, invalid},
		{"1e308", `x + 1 > x`, "denied"},
		{"1e308", `x * x > x`, "denied"},
		{"1e308", `x == 1e307`, "completed"},
		{"1e-308", `x > 0`, "denied"},
		{"1e-308", `x * x < x`, "denied"},
		{"1e-308", `1 / x > 1e307`, "denied"},
		{"1.234567890123456789e-300", `x > 1.234567890123456788e-300`, "denied"},
		{"1e309", `x != 5`, invalid},
		{"1e-309", `x != 5`, invalid},
		{"1e10000000", `x + 1 > x`, invalid},
		{"1.50", `x == 1.5`, "denied"},
		{"1e2", `x == 100`, "denied"},
		{"0.1", `x == 0.1`, "denied"},
		{"0.1", `x == 0.10000000000000001`, "completed"},
		{"0.10000000000000001", `x == 0.1`, "completed"},
	} {
		got := ""
		reg := numberTools(t, func(text string) { got = text })
		p, err := Load(regotest.Dir("o.rego", regotest.Org("deny contains {\"code\": \"night\", \"message\": \"m\"} if {\n\tx := input.args.extra.x\n\t"+test.condition+"\n}\n\nallow contains {\"code\": \"night\", \"message\": \"m\"} if input.args.extra.x")), reg)
		require.NoError(t, err, test.condition)
		exec, err := engine.NewExecutor(reg, p, engine.WithPolicyTimeout(time.Minute))
		require.NoError(t, err)
		t.Cleanup(func() { _ = exec.Shutdown(context.Background()) })
		s := exec.Session(engine.SessionConfig{Principal: "agent", Capabilities: []string{"web"}, Behavior: "research", Modes: map[string]string{"web_mode": "live"}})
		run, err := s.StartRun(t.Context(), engine.RunConfig{})
		require.NoError(t, err)
		out := run.Turn(engine.TurnConfig{}).Execute(t.Context(), runtime.Call{ID: "c1", Tool: "web_search", Input: []byte(`{"query":"a","extra":{"x":` + test.number + `}}`)})
		name := test.number + ": " + test.condition
		switch test.want {
		case invalid:
			assert.Equal(t, runtime.ReasonInvalidInput, out.Reason, name)
		case "denied":
			assert.Equal(t, runtime.ReasonPolicyDenied, out.Reason, name)
		default:
			require.Equal(t, runtime.Completed, out.Kind, "%s: %v", name, out)
			_, x, _ := strings.Cut(strings.TrimRight(got, "}"), `"x":`)
			assert.Zero(t, rat(t, x).Cmp(rat(t, test.number)), name)
		}
	}
}

// FuzzPolicyAndHandlerSeeOneNumber decodes a number without a schema and compares
// the term of the policy with the text of the handler.
// SEMANTICS 7.1.4
func FuzzPolicyAndHandlerSeeOneNumber(f *testing.F) {
	for _, seed := range [][2]string{
		{"0", "-0"}, {"1", "1.0"}, {"100.0000000000000001", "100"}, {"9223372036854775807", "9223372036854775808"}, {"-9223372036854775808", "-9223372036854775809"},
		{"1e308", "10e307"}, {"1e-308", "0.1e-307"}, {"1234567890123456789e289", "1234567890123456788e289"}, {"0.1234567890123456789", "0.12345678901234567891"},
		{"1e10000000", "1e309"}, {"0.1", "0.10000000000000001"}, {"1.7976931348623157e308", "9e308"}, {"4.9e-324", "2.2250738585072014e-308"},
	} {
		f.Add(seed[0], seed[1])
	}
	reg := numberTools(f, func(string) {})
	p, err := Load(regotest.Dir(), reg)
	require.NoError(f, err)
	tool, _, _ := reg.Lookup("web_search")
	names := p.current.Load().names
	f.Fuzz(func(t *testing.T, a, b string) {
		if strings.ContainsAny(a+b, "\"{},[]") {
			return
		}
		v, bad := tool.Decode([]byte(`{"query":"a","extra":{"a":` + a + `,"b":` + b + `}}`))
		if bad != nil {
			return
		}
		term, err := p.builders.args(names, v)
		require.NoError(t, err)
		handler, bad := wire.Append(nil, v)
		require.Empty(t, bad)
		var numbers [2]ast.Number
		var exact [2]*big.Rat
		for i, name := range []string{"a", "b"} {
			n, ok := term.Get(ast.StringTerm("extra")).Get(ast.StringTerm(name)).Value.(ast.Number)
			if !ok {
				return
			}
			numbers[i] = n
			_, rest, _ := strings.Cut(string(handler), `"`+name+`":`)
			text := rest[:strings.IndexAny(rest, ",}")]
			exact[i] = rat(t, text)
			require.Zero(t, exact[i].Cmp(rat(t, string(n))), "handler %s, policy %s", text, n)
		}
		require.Equal(t, exact[0].Cmp(exact[1]), ast.NumberCompare(numbers[0], numbers[1]), "%s and %s", a, b)
	})
}

func rat(t testing.TB, text string) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(text)
	require.True(t, ok, text)
	return r
}
