package opa

import (
	"errors"
	"fmt"
	goruntime "runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
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
	fsys := shopDir(t)
	for i, test := range tests {
		fsys[fmt.Sprintf("p%d.rego", i)] = text(fmt.Sprintf("package ambit.policies.p%d\n\ndeny contains {\"code\": \"no\", \"message\": \"m\"} if {\n\t%s\n}\n",
			i, strings.ReplaceAll(test.policy, "; ", "\n\t")))
	}
	_, err := loadBundle(fsys)
	errs, ok := errors.AsType[Errors](err)
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
		fsys := shopDir(t)
		fsys["o.rego"] = text("package ambit.tools.pay\n\n" + when(call))
		_, err := loadBundle(fsys)
		name, _, _ := strings.Cut(call, "(")
		assert.ErrorContains(t, err, "o.rego:4:2: policies may not call "+name+" ("+unbounded[name]+")")
	}
}

// guardedCall loads a policy that calls one function with members of an open
// object and refuses when the call succeeds, and asks it.
func guardedCall(t testing.TB, call, extra string) (runtime.Decision, error) {
	t.Helper()
	p, reg := load(t, "o.rego", org(`deny contains {"code": "night", "message": "m"} if {
	x := input.args.extra
	result := `+call+`
	is_string(json.marshal(result))
}`))
	in := *callOf(t, reg, extra)
	return p.Decide(t.Context(), &in)
}

func callOf(t testing.TB, reg *runtime.Registry, extra string) *runtime.PolicyInput {
	t.Helper()
	return call(t, reg, "web_search", `{"query":"a","extra":`+extra+`}`)
}

// A guard refuses what could outgrow the memory, and lets through all else.
func TestGuardedCalls(t *testing.T) {
	long := strings.Repeat
	const tooLong = "the result could be longer than 16 MiB"
	for _, test := range []struct{ call, extra, want string }{
		{`replace(x.a, "", x.b)`, `{"a":"` + long("a", 30_000) + `","b":"` + long("b", 30_000) + `"}`, "o.rego:5: eval_builtin_error: replace: " + tooLong},
		{`replace(x.a, "a", x.b)`, `{"a":"` + long("a", 1_000) + `","b":"` + long("b", 1_000) + `"}`, ""},
		{`strings.replace_n({"a": x.b}, x.a)`, `{"a":"` + long("a", 30_000) + `","b":"` + long("b", 30_000) + `"}`, "strings.replace_n: " + tooLong},
		{`strings.replace_n({"a": x.b}, x.a)`, `{"a":"a` + long("c", 30_000) + `","b":"` + long("b", 30_000) + `"}`, ""},
		{`concat(x.a, x.b)`, `{"a":"` + long("a", 30_000) + `","b":[` + long(`"",`, 9_000) + `""]}`, "concat: " + tooLong},
		{`concat(x.a, x.b)`, `{"a":", ","b":["c","d"]}`, ""},
		{`sprintf(x.a, [1])`, `{"a":"` + long("%999999d", 8_000) + `"}`, "sprintf: the width 999999 in the format"},
		{`sprintf("%*d", [x.a, 1])`, `{"a":999999}`, "sprintf: a width that is an operand: write it into the format"},
		{`sprintf(x.a, [x.b])`, `{"a":"` + long("%[1]s", 6_000) + `","b":"` + long("b", 30_000) + `"}`, "sprintf: " + tooLong},
		{`sprintf("%s costs %5.2f, %v", [x.a, x.b, x])`, `{"a":"` + long("a", 60_000) + `","b":1.5}`, ""},
		{`regex.replace(x.a, "(.*)", x.b)`, `{"a":"` + long("a", 30_000) + `","b":"` + long("$1", 15_000) + `"}`, "regex.replace: " + tooLong},
		{`regex.replace(x.a, "(a)(b)", "$2$1")`, `{"a":"` + long("ab", 30_000) + `"}`, ""},
		{`regex.match(x.a, x.b)`, `{"a":"((\\pL{500})(\\pL{500})){2}|(\\pL{999}|\\pN{999}|\\pM{999}|\\pS{999}|\\pP{999})","b":"a"}`, "regex.match: a pattern that takes more than 512 KiB: write a shorter one, or several"},
		{`regex.match(x.a, x.b)`, `{"a":"((a{100}){10})","b":"a"}`, ""},
		{`to_number(x.a)`, `{"a":"1e-309"}`, "to_number: a number with an exponent beyond 308"},
		{`to_number(x.a)`, `{"a":"1e-308"}`, ""},
		{`units.parse(x.a)`, `{"a":"1e999999K"}`, "units.parse: a number with an exponent beyond 308"},
		{`units.parse(x.a)`, `{"a":"1.5Ei"}`, ""},
		{`json.unmarshal(x.a)`, `{"a":"[1e-309]"}`, "json.unmarshal: a number with an exponent beyond 308"},
		{`json.unmarshal(x.a)`, `{"a":"` + long("[", 130) + long("]", 130) + `"}`, "json.unmarshal: a document that is nested deeper than 128"},
		{`json.unmarshal(x.a)`, `{"a":"{\"b\":[1e308]}"}`, ""},
		{`json.patch(x, x.p)`, `{"p":[` + long(`{"op":"copy","from":"","path":"/a"},`, 40) + `{"op":"remove","path":"/a"}]}`, "json.patch: " + tooLong},
		{`json.patch(x, [{"op": "copy", "from": "/a", "path": "/b"}])`, `{"a":[1]}`, ""},
		{`product(x.a)`, `{"a":[` + long("1e308,", 100) + `1]}`, "product: a product of more than 10000 digits"},
		{`product(x.a)`, `{"a":[1,2,3.5]}`, ""},
		{`net.cidr_contains_matches(x.a, x.a)`, `{"a":[` + long(`"0.0.0.0/0",`, 5_000) + `"0.0.0.0/0"]}`, "net.cidr_contains_matches: the lists have too many pairs: compare one address at a time"},
		{`net.cidr_contains_matches(x.a, ["10.0.0.1"])`, `{"a":["10.0.0.0/8"]}`, ""},
		{`count([p | walk(x, [p, _])])`, `{"a":` + long("[", 100) + numbered(6_000) + long("]", 100) + `}`, "walk: " + tooLong},
		{`count([v | walk(x, [_, v])])`, `{"a":` + long("[", 100) + numbered(6_000) + long("]", 100) + `}`, ""},
		{`count([p | walk(x, [p, _])])`, `{"a":[` + numbered(6_000) + `]}`, ""},
		{`glob.match(x.a, [], x.b)`, `{"a":"` + long("*a", 65) + `","b":"a"}`, "glob.match: a pattern of more than 64 wildcards and alternatives: write several"},
		{`[upper(x.a) | some y in x.b]`, `{"a":"` + long("a", 30_000) + `","b":[` + numbered(5_000) + `]}`, "upper: the policies have made more than 64 MiB of texts and lists for one call"},
		{`[array.concat(x.b, x.b) | some y in x.b]`, `{"b":[` + numbered(5_000) + `]}`, "array.concat: the policies have made more than 64 MiB of texts and lists for one call"},
	} {
		d, err := guardedCall(t, test.call, test.extra)
		what := test.call + " of " + test.extra[:min(len(test.extra), 60)]
		if test.want == "" {
			require.NoError(t, err, what)
			assert.Equal(t, runtime.EffectDeny, d.Effect, what)
		} else {
			assert.ErrorContains(t, err, test.want, what)
		}
	}
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d,", i)
	}
	return b.String() + "0"
}

// A graph of layers, each node of which leads to all of the next, has
// exponentially many ways through it.
func TestReachableVisitsEachNodeOnce(t *testing.T) {
	var b strings.Builder
	for i := range 500 {
		fmt.Fprintf(&b, `"a%d":["a%d","b%d"],"b%d":["a%d","b%d"],`, i, i+1, i+1, i, i+1, i+1)
	}
	_, err := guardedCall(t, `[1 | count(graph.reachable(x, ["a0"])) == 1001][0]`, `{`+b.String()+`"a500":["a500"]}`)
	require.NoError(t, err)
	_, err = guardedCall(t, `graph.reachable(x, x.start)`, `{"start":"a0"}`)
	assert.ErrorContains(t, err, "graph.reachable: operand 2 must be {array, set} but got string")
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
		fsys := shopDir(t)
		fsys["p.rego"] = text("package ambit.policies.p\n\ndeny contains {\"code\": \"no\", \"message\": \"m\"} if {\n\t" + test.policy + "\n}\n")
		var before, after goruntime.MemStats
		goruntime.ReadMemStats(&before)
		_, err := loadBundle(fsys)
		goruntime.ReadMemStats(&after)
		require.ErrorContains(t, err, test.want, test.policy)
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(256<<20), test.policy)
	}
}
