package opa

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/rego/regotest"
	"github.com/ambit-tools/ambit/runtime"
)

// guardedCall loads a policy that calls one function with members of an open
// object and refuses when the call succeeds, and asks it.
func guardedCall(t testing.TB, call, extra string) (runtime.Decision, error) {
	t.Helper()
	p, reg := load(t, "o.rego", regotest.Org(`deny contains {"code": "night", "message": "m"} if {
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
// SEMANTICS 7.5.7
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
		{`time.clock([1, x.a])`, `{"a":"Local"}`, "time.clock: the time zone Local is another one on each host"},
		{`time.weekday([1, x.a])`, `{"a":"localtime"}`, "time.weekday: the time zone localtime is another one on each host"},
		{`time.date([1, x.a])`, `{"a":"Europe/Berlin"}`, ""},
		{`time.parse_ns("2006 MST", x.a)`, `{"a":"2024 CET"}`, "time.parse_ns: the zone CET has another offset on each host: write the offset as a number"},
		{`time.parse_ns("2006 MST", x.a)`, `{"a":"2024 GMT"}`, ""},
		{`crypto.sha256(x.a)`, `{"a":"b"}`, ""},
		{`{x.a} & {"b"}`, `{"a":"b"}`, ""},
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
