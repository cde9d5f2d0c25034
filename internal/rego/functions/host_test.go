package functions

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// withoutSample are the allowed functions that no expression calls: the compiler makes the calls, or nothing comes
// of them.
const withoutSample = `assign internal.print internal.template_string internal.test_case print`

// TestEveryFunctionIsJudged: each function of this OPA is allowed or left out for a reason, so that a new OPA brings
// no function that nobody has looked at.
func TestEveryFunctionIsJudged(t *testing.T) {
	why := map[string]string{}
	for reason, names := range refused {
		assert.NotEmpty(t, reason)
		for name := range strings.FieldsSeq(names) {
			assert.Empty(t, why[name], "%s is refused twice", name)
			why[name] = reason
		}
	}
	allowed := strings.Fields(Allowed)
	for _, b := range ast.CapabilitiesForThisVersion().Builtins {
		assert.NotEqual(t, slices.Contains(allowed, b.Name), why[b.Name] != "", "%s must be listed as allowed, or refused for a reason", b.Name)
		assert.Equal(t, why[b.Name], Refusal(b.Name))
		delete(why, b.Name)
	}
	assert.Empty(t, why, "there are no such functions")
}

// TestFunctionsDoNotAskTheHost calls every allowed function on hosts in different time zones: its answer is the same.
// A call behind a "!" would ask the host, and is an error.
func TestFunctionsDoNotAskTheHost(t *testing.T) {
	text, err := os.ReadFile("testdata/calls.txt")
	require.NoError(t, err)
	called := map[string]bool{}
	was := time.Local
	defer func() { time.Local = was }()
	for line := range strings.Lines(string(text)) {
		line, asksHost := strings.CutPrefix(strings.TrimSpace(line), "! ")
		var answers []string
		for _, zone := range []string{"UTC", "America/New_York", "Europe/Berlin", "Asia/Tokyo"} {
			var err error
			time.Local, err = time.LoadLocation(zone)
			require.NoError(t, err)
			answers = append(answers, evaluated(t, line, called))
		}
		assert.Equal(t, slices.Repeat(answers[:1], len(answers)), answers, line)
		assert.Equal(t, asksHost, strings.HasPrefix(answers[0], "error: "), "%s: %s", line, answers[0])
	}
	for name := range strings.FieldsSeq(Allowed) {
		assert.NotEqual(t, called[name], slices.Contains(strings.Fields(withoutSample), name), "testdata/calls.txt must call %s, unless nothing comes of a call", name)
	}
}

// evaluated returns what a decision gets of an expression, or its error, and notes the functions that it calls.
func evaluated(t *testing.T, text string, called map[string]bool) string {
	t.Helper()
	m, err := ast.ParseModuleWithOpts("t.rego", "package t\n\nr := "+text+"\n", ast.ParserOptions{RegoVersion: ast.RegoV1})
	require.NoError(t, err, text)
	c := ast.NewCompiler().WithCapabilities(Capabilities())
	c.Compile(map[string]*ast.Module{"t.rego": m})
	require.Empty(t, c.Errors, text)
	ast.WalkTerms(c.Modules["t.rego"], func(term *ast.Term) bool {
		if call, ok := term.Value.(ast.Call); ok {
			called[call[0].String()] = true
		}
		return false
	})
	ast.WalkExprs(c.Modules["t.rego"], func(e *ast.Expr) bool {
		if e.IsCall() {
			called[e.Operator().String()] = true
		}
		return false
	})
	GuardCalls(c)
	answer := "undefined"
	err = topdown.NewQuery(ast.MustParseBody("x = data.t.r")).WithCompiler(c).WithBuiltins(Evaluated()).WithStrictBuiltinErrors(true).
		Iter(t.Context(), func(r topdown.QueryResult) error {
			answer = r["x"].String()
			return nil
		})
	if err != nil {
		return "error: " + err.Error()
	}
	return answer
}
