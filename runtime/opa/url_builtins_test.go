package opa

import (
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/rego/functions"
	"github.com/ambit-tools/ambit/internal/rego/regotest"
)

// besideVariable makes the test binary the process of TestOPABesidePolicies.
const besideVariable = "AMBIT_OPA_BESIDE"

const usesURLs = `deny contains {"code": "night", "message": "m"} if {
	ambit.url.is_valid(input.args.path)
	ambit.url.host(input.args.path) == "evil"
	ambit.url.port(input.args.path) == 443
}`

// TestOPABesidePolicies loads a policy, for the first time in a process, while the
// program compiles and evaluates with OPA itself. The race detector, and the Go
// runtime, end the process if both touch a table of OPA.
func TestOPABesidePolicies(t *testing.T) {
	if os.Getenv(besideVariable) == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestOPABesidePolicies$")
		cmd.Env = append(os.Environ(), besideVariable+"=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return
	}
	var direct sync.WaitGroup
	loaded, started := make(chan struct{}), make(chan struct{})
	direct.Go(func() {
		for once := sync.OnceFunc(func() { close(started) }); ; once() {
			rs, err := rego.New(rego.Query("x := upper(data.p.f)"), rego.Module("p.rego", "package p\n\nf := lower(concat(\"\", [\"A\", \"B\"]))\n")).Eval(t.Context())
			if !assert.NoError(t, err) || !assert.Equal(t, "AB", rs[0].Bindings["x"]) {
				once()
				return
			}
			select {
			case <-loaded:
				return
			default:
			}
		}
	})
	<-started
	p, reg := load(t, "o.rego", regotest.Org(usesURLs))
	d, err := p.Decide(t.Context(), call(t, reg, "file_read", `{"path":"https://evil/x"}`))
	close(loaded)
	direct.Wait()
	require.NoError(t, err)
	require.Len(t, d.Denials, 1)
}

// TestURLFunctionsAreOurs holds that a program which loads policies finds OPA as it was.
func TestURLFunctionsAreOurs(t *testing.T) {
	load(t, "o.rego", regotest.Org(usesURLs))
	require.Len(t, functions.Own(), 10)
	for name := range functions.Own() {
		assert.Nil(t, ast.BuiltinMap[name])
		assert.Nil(t, topdown.GetBuiltin(name))
		assert.NotNil(t, functions.Builtin(name))
	}
	_, err := rego.New(rego.Query(`ambit.url.host("https://evil/")`)).Eval(t.Context())
	assert.ErrorContains(t, err, "undefined function ambit.url.host")
}

// TestURLFunctionsInTests runs tests of policies that call the functions, fail in them
// and replace them.
func TestURLFunctionsInTests(t *testing.T) {
	report, err := Test(t.Context(), regotest.Dir("o.rego", regotest.Org(usesURLs), "o_test.rego", `package ambit.policies.security_test

import data.ambit.policies.security

test_denied if count(security.deny) == 1 with input.args.path as "https://evil/x"

test_path if {
	ambit.path.below("docs/a/b.md", "docs")
	not ambit.path.below("docs/../b.md", "docs")
	ambit.path.clean("docs//a/../b.md") == "docs/b.md"
	ambit.path.base("docs/b.md") == "b.md"
	ambit.path.ext("docs/b.md") == ".md"
	not ambit.path.is_valid("../b.md")
}

test_replaced if count(security.deny) == 1 with input.args.path as "https://good/x" with ambit.url.host as "evil"

test_broken if ambit.url.host(concat("", ["ev", input.args.path])) == "evil" with input.args.path as "il"
`), TestOptions{})
	require.NoError(t, err)
	passed := map[string]bool{}
	for _, r := range report.Tests {
		passed[r.Name] = r.Passed
		if !r.Passed {
			assert.Contains(t, r.Message, "ambit.url.host: not an absolute URL")
			assert.NotContains(t, r.Message, "ambit.url.host: ambit.url.host")
		}
	}
	const in = "data.ambit.policies.security_test."
	assert.Equal(t, map[string]bool{in + "test_denied": true, in + "test_path": true, in + "test_replaced": true, in + "test_broken": false}, passed)
}
