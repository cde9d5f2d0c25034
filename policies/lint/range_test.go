package lint

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/internal/rego/regotest"
	"github.com/ambit-tools/ambit/policies"
)

// Ranges have constant bounds, and no built-in function escapes its guard.
func TestGuardsAtLoad(t *testing.T) {
	const notConstant = `numbers.range with a bound that is not constant: an argument could ask for more numbers than fit into the memory (write the bounds as numbers, at most 10000 apart, and compare the argument with them)`
	tests := []verdict{
		{`5 in numbers.range(1, input.args.amount)`, ":4:7: " + notConstant},
		{`5 in numbers.range(input.args.amount, 1)`, notConstant},
		{`some n in [x | some x in numbers.range(1, input.args.amount)]; n > 3`, notConstant},
		{`every n in numbers.range(1, input.args.amount) { n > 3 }`, notConstant},
		{`top := input.args.amount; 5 in numbers.range(1, top)`, notConstant},
		{`5 in upto(input.args.amount)` + "\n}\n\nupto(n) := x if {\n\tx := numbers.range(1, n)", notConstant},
		{`5 in big` + "\n}\n\nbig := [] if {\n\tinput.args.amount == 3\n} else := numbers.range(1, input.args.amount) if {\n\tinput.args.amount > 3", notConstant},
		{`5 in numbers.range_step(1, 100, input.args.amount)`, "numbers.range_step with a bound that is not constant"},
		{`5 in numbers.range(1, 10001)`, "numbers.range: a range of more than 10000 numbers (write integers as bounds that make at most 10000 numbers)"},
		{`5 in numbers.range(10001, 1)`, "numbers.range: a range of more than 10000 numbers"},
		{`5 in numbers.range(1, 1e6)`, "numbers.range: the bound 1e6 is not written as an integer"},
		{`5 in numbers.range_step(0, 1000000000, 10)`, "numbers.range_step: a range of more than 10000 numbers"},
		{`f(1, input.args.amount) with f as numbers.range` + "\n}\n\nf(a, b) := [a, b] if {\n\ttrue", `the built-in function "numbers.range" in a with (write a function of your own that calls it, and replace that)`},
		{`sprintf("%d", [1]) == "1" with sprintf as f` + "\n}\n\nf(a, b) := [a, b] if {\n\ttrue", `the built-in function "sprintf" in a with`},
		{`5 in numbers.range(1, 10000)`, ""},
		{`5 in numbers.range(-5, 9994)`, ""},
		{`5 in numbers.range(1000000, 1000005)`, ""},
		{`5 in numbers.range(1, top)` + "\n}\n\ntop := 100 if {\n\ttrue", ""},
		{`5 in numbers.range_step(0, 99999, 10)`, ""},
		{`n := 5; n in numbers.range(1, n)`, ""},
	}
	fsys := regotest.ShopDir(t)
	for i, test := range tests {
		fsys[fmt.Sprintf("p%d.rego", i)] = regotest.Text(fmt.Sprintf("package ambit.policies.p%d\n\ndeny contains {\"code\": \"no\", \"message\": \"m\"} if {\n\t%s\n}\n",
			i, strings.ReplaceAll(test.policy, "; ", "\n\t")))
	}
	_, err := read(fsys)
	errs, ok := errors.AsType[policies.Diagnostics](err)
	require.True(t, ok, err)
	said := map[string]string{}
	for _, e := range errs {
		said[e.File] += e.Error()
	}
	for i, test := range tests {
		found := said[fmt.Sprintf("p%d.rego", i)]
		if test.want == "" {
			assert.Empty(t, found, test.policy)
		} else {
			assert.Contains(t, found, test.want, test.policy)
		}
	}
}

// Functions whose memory or time is exponential are not allowed at all.
func TestFunctionsThatNoGuardBounds(t *testing.T) {
	for _, call := range []string{`bits.lsh(1, input.args.amount) > 3`, `regex.globs_match(input.args.to, "a*")`} {
		fsys := regotest.ShopDir(t)
		fsys["o.rego"] = regotest.Text("package ambit.tools.pay\n\n" + regotest.When(call))
		_, err := read(fsys)
		name, _, _ := strings.Cut(call, "(")
		assert.ErrorContains(t, err, "o.rego:4:2: policies may not call "+name+" ("+policydir.Unbounded[name]+")")
	}
}

// TestConstantsAreEvaluatedWithinBounds loads policies that a check evaluates, with
// constants that ask for more memory than a process has.
func TestConstantsAreEvaluatedWithinBounds(t *testing.T) {
	for _, test := range []verdict{
		{`big[0] == input.args.amount` + "\n}\n\nbig := numbers.range(1, 1000000000) if {\n\ttrue", "a range of more than 10000 numbers"},
		{`5 in numbers.range_step(0, 1000000000, 10)`, "a range of more than 10000 numbers"},
		{`padded == input.args.note` + "\n}\n\npadded := sprintf(\"%1000000000d\", [1]) if {\n\ttrue", "sprintf: "},
		{`long == input.args.note` + "\n}\n\nlong := replace(wide, \"a\", wide)\n\nwide := sprintf(\"%1000000s\", [\"a\"])\n\nother if {\n\ttrue", ""},
	} {
		fsys := regotest.ShopDir(t)
		fsys["p.rego"] = regotest.Text("package ambit.policies.p\n\ndeny contains {\"code\": \"no\", \"message\": \"m\"} if {\n\t" + test.policy + "\n}\n")
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := read(fsys)
		runtime.ReadMemStats(&after)
		require.ErrorContains(t, err, test.want, test.policy)
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(256<<20), test.policy)
	}
}

// The checks know the functions: types, and constants that cannot be right.
func TestChecksOfURLs(t *testing.T) {
	for condition, want := range map[string]string{
		`ambit.url.port(input.args.path) == "443"`:      "ambit.url.port(input.args.path) is a number, and it is compared with a string",
		`ambit.url.host("http://good@evil/") == "evil"`: "ambit.url.host: the URL has user info",
		`ambit.url.path("http://a/../b") == "/b"`:       `ambit.url.path: the path has a segment "." or ".."`,
		`ambit.url.hots(input.args.path) == "evil"`:     "undefined function ambit.url.hots",
		`ambit.url.host(input.args.limit) == "evil"`:    "ambit.url.host: invalid argument(s)",
		`ambit.path.base(input.args.path) == 5`:         "ambit.path.base(input.args.path) is a string, and it is compared with a number",
		`ambit.path.clean("../a") == "a"`:               "ambit.path.clean: the path leads above the folder in which it begins",
		`ambit.path.below(input.args.path, "a/../..")`:  "ambit.path.below: the path leads above the folder in which it begins",
		`ambit.path.below(input.args.path)`:             "ambit.path.below: arity mismatch",
		`ambit.path.bellow(input.args.path, "a")`:       "undefined function ambit.path.bellow",
		`ambit.url.host(input.args.path, 1, 2)`:         "ambit.url.host: arity mismatch",
	} {
		policy := "package ambit.tools.file_read\n\ndeny contains " + entryM + " if " + condition + "\n"
		assert.ErrorContains(t, checkDir(regotest.Dir("r.rego", policy)), want, condition)
	}
}
