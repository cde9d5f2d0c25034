package opa

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/types"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/internal/rego/functions"
	"github.com/ambit-tools/ambit/internal/rego/regotest"
	"github.com/ambit-tools/ambit/runtime/wire"
)

const (
	// hostileVariable names the functions that a process of this test calls, and how often.
	hostileVariable = "AMBIT_TEST_HOSTILE"
	// hostileMemory is the most memory that a function may make a process take, that
	// of the test itself included.
	hostileMemory = 256 << 20
)

// A hostileReport is what a process says of one function.
type hostileReport struct {
	Function string
	Peak     int64 // bytes
	Slowest  time.Duration
	Refused  int    // calls that ended with an error
	Why      string // the first of them
}

// No arguments of a call make a built-in function take the memory of the program.
// Each function runs in a process of its own, under a limit of its address space:
// what outgrows the limit ends that process and not the test.
// SEMANTICS 7.5.7
func TestHostileArguments(t *testing.T) {
	if asked := os.Getenv(hostileVariable); asked != "" {
		hostileProcess(t, asked)
		return
	}
	names := callable()
	require.Greater(t, len(names), 100)
	sets := battery.Count(t, 10, 200)
	if few := battery.Count(t, 8, len(names)); few < len(names) {
		// A plain run tries a few of the functions with a guard and of ours, other ones each day.
		names = slices.DeleteFunc(names, func(f string) bool {
			_, ok := functions.Guards[f]
			return !ok && !strings.HasPrefix(f, "ambit.")
		})
		first := int(time.Now().Unix()/(24*60*60)) % len(names)
		names = slices.Concat(names[first:], names[:first])[:min(few, len(names))]
	}
	var group sync.WaitGroup
	slots := make(chan struct{}, 2)
	for _, f := range names {
		group.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			r, most := hostileRun(t, f, sets), int64(hostileMemory)
			if battery.Race { // which keeps several bytes for each byte that is used
				most *= 3
			}
			if r.Peak >= most { // on a busy machine garbage counts too: what a function holds, it holds again
				r = hostileRun(t, f, sets)
			}
			assert.Less(t, r.Peak, most, f)
			t.Logf("%-34s %4d MiB, slowest %8v, %3d of %d refused: %.100s", f, r.Peak>>20, r.Slowest.Round(time.Millisecond), r.Refused, sets, r.Why)
		})
	}
	group.Wait()
}

// hostileRun calls a function in a process of its own.
func hostileRun(t *testing.T, function string, sets int) (r hostileReport) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHostileArguments$", "-test.v", "-test.timeout=10m")
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s:%d", hostileVariable, function, sets), "GOGC=50")
	out, err := cmd.CombinedOutput()
	if !assert.NoError(t, err, "%s: %s", function, out[:min(len(out), 2_000)]) {
		return r
	}
	for line := range strings.Lines(string(out)) {
		if report, ok := strings.CutPrefix(line, "report "); ok {
			require.NoError(t, json.Unmarshal([]byte(report), &r))
		}
	}
	assert.Equal(t, function, r.Function)
	return r
}

// hostileProcess is the process of one function.
func hostileProcess(t *testing.T, asked string) {
	function, sets, _ := strings.Cut(asked, ":")
	var n int
	_, err := fmt.Sscan(sets, &n)
	require.NoError(t, err)
	// The runtime reserves addresses that it does not use: the limit is above the
	// bound, which the parent checks.
	limit := syscall.Rlimit{Cur: 3 << 30, Max: 3 << 30}
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_AS, &limit))
	b := functions.Builtin(function)
	params := b.Decl.FuncArgs().Args
	names := make([]string, len(params))
	for i := range params {
		names[i] = fmt.Sprintf("x.a%d", i)
	}
	policy, reg := load(t, "o.rego", regotest.Org(`deny contains {"code": "night", "message": "m"} if {
	x := input.args.extra
	[object.get({"result": `+hostileCall(b, names)+`}, "result", 1)] != [1, 2]
}`))
	r := hostileReport{Function: function}
	for i := range n {
		in := callOf(t, reg, hostileArguments(function, params, i))
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		begin := time.Now()
		_, err := policy.Decide(ctx, in)
		r.Slowest = max(r.Slowest, time.Since(begin))
		stop()
		if err != nil {
			r.Why = cmp.Or(r.Why, err.Error())
			r.Refused++
		}
	}
	r.Peak = peakMemory(t)
	text, err := json.Marshal(r)
	require.NoError(t, err)
	fmt.Printf("report %s\n", text)
}

// peakMemory returns the most memory in bytes that this process has had resident. It
// is not what rusage says, which Linux carries over from the process that has
// started this one (getrusage(2)).
func peakMemory(t *testing.T) int64 {
	status, err := os.ReadFile("/proc/self/status")
	require.NoError(t, err)
	_, text, found := strings.Cut(string(status), "VmHWM:")
	require.True(t, found)
	var kib int64
	_, err = fmt.Sscan(text, &kib)
	require.NoError(t, err)
	return kib << 10
}

// hostileCall writes a call of a function. What the compiler wants to be a set is made one.
func hostileCall(b *ast.Builtin, args []string) string {
	for i, p := range b.Decl.FuncArgs().Args {
		if _, ok := p.(*types.Set); ok || b.Name == "and" || b.Name == "or" {
			args[i] = fmt.Sprintf("{e | some e in %s}", args[i])
		}
	}
	switch {
	case b.Name == "internal.template_string":
		return "$\"{x.a0} and {x.a0}\""
	case strings.HasPrefix(b.Name, "numbers.range"):
		return "[" + b.Name + "(1, 10000" + strings.Repeat(", 1", len(args)-2) + "), x][0]"
	case b.Name == "walk":
		return "[n | walk(x.a0, n)]"
	case b.Name == "internal.member_2":
		return args[0] + " in " + args[1]
	case b.Name == "internal.member_3":
		return "[1 | " + args[0] + ", " + args[1] + " in " + args[2] + "]"
	case b.Infix != "": // as a condition, an operator that makes a set would be refused: it is never false
		return "[v | v := " + args[0] + " " + b.Infix + " " + args[1] + "]"
	}
	return b.Name + "(" + strings.Join(args, ", ") + ")"
}

// callable are the allowed functions that a policy can call by name or operator.
func callable() []string {
	var all []string
	for _, b := range functions.Capabilities().Builtins {
		switch b.Name {
		case "assign", "eq", "print", "internal.print", "internal.test_case":
			// They unify, or do nothing in a decision.
		default:
			all = append(all, b.Name)
		}
	}
	return all
}

// hostileArguments returns the i-th set of arguments of a function, as the members
// a0, a1 and so on of an object. All of it fits into the 64 KiB of an input.
func hostileArguments(function string, params []types.Type, i int) string {
	r := rand.New(rand.NewPCG(uint64(i), 11))
	own := hostileOwn[function]
	share := 60_000 / max(1, len(params))
	members := make([]string, len(params))
	for p := range params {
		size := share
		if r.IntN(3) == 0 {
			size = 60_000 / (1 + r.IntN(60)) / max(1, len(params))
		}
		members[p] = fmt.Sprintf(`"a%d":%s`, p, hostileValue(r, params[p], size))
	}
	if len(own) > 0 && i%2 == 0 {
		for p, value := range own[i/2%len(own)] {
			if p < len(members) {
				members[p] = fmt.Sprintf(`"a%d":%s`, p, value(share))
			}
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

// hostileValue returns a value of about the type, of a size in bytes.
func hostileValue(r *rand.Rand, t types.Type, size int) string {
	kinds := map[string]func(*rand.Rand, int) string{"string": hostileText, "number": hostileNumber, "list": hostileList, "object": hostileObject}
	kind := ""
	switch t := t.(type) {
	case types.String:
		kind = "string"
	case types.Number:
		kind = "number"
	case *types.Array, *types.Set:
		kind = "list"
	case *types.Object:
		kind = "object"
	case types.Any:
		if len(t) > 0 {
			return hostileValue(r, t[r.IntN(len(t))], size)
		}
	case *types.NamedType:
		return hostileValue(r, t.Type, size)
	}
	if kind == "" || r.IntN(20) == 0 {
		kind = slices.Sorted(maps.Keys(kinds))[r.IntN(len(kinds))]
	}
	return kinds[kind](r, size)
}

// hostileUnits are what hostile texts repeat.
var hostileUnits = []string{
	"a", "é", "ab", "*", "{a,b}", "[a-z]", "(a|b)*", `\\pL`, "%s", "%9999d", "%[1]s", "$1", "/", ".", "0", "9", "1e", "\\u0000", " ", "=", "&a=b", "%41",
	`{\"a\":`, "[", "]", `\"`, "10.0.0.0/8", "{", "}", "(", "(?i)", "-", "+", "2006-01-02T15:04:05Z07:00", "January", "1h", "9y", "\\u2028", "ﬀ", "\\\\",
}

func hostileText(r *rand.Rand, size int) string {
	a, b := hostileUnits[r.IntN(len(hostileUnits))], hostileUnits[r.IntN(len(hostileUnits))]
	switch r.IntN(6) {
	case 0:
		return `""`
	case 1:
		return `"` + []string{"1e999999", "1e308Ei", "-1e-308", "9223372036854775807", "0x1p-2", "1e-99999", "Europe/Berlin", "::/0", "1.2.3"}[r.IntN(9)] + `"`
	case 2:
		return `"` + strings.Repeat(a, 1+size/len(a)/2) + strings.Repeat(b, size/len(b)/2) + `"`
	case 3:
		return `"` + strings.Repeat(a+b, size/len(a+b)) + `"`
	}
	return `"` + strings.Repeat(a, size/len(a)) + `"`
}

func hostileNumber(r *rand.Rand, _ int) string {
	return []string{"0", "1", "-1", "1e308", "-1e308", "1e-308", "9223372036854775807", "40000000000", "2.5", "16", "10", "9999999999999999999", "1e19", "5e17"}[r.IntN(14)]
}

func hostileList(r *rand.Rand, size int) string {
	switch r.IntN(6) {
	case 0:
		depth := min(120, size/2)
		return strings.Repeat("[", depth) + strings.Repeat("]", depth)
	case 1:
		return repeated("[", `{"op":"copy","from":"","path":"/a"}`, "]", size)
	}
	var item string
	switch r.IntN(4) {
	case 0:
		item = hostileText(r, 1+r.IntN(40))
	case 1:
		item = hostileNumber(r, 0)
	case 2:
		item = hostileObject(r, 40)
	default:
		item = `"10.0.0.0/8"`
	}
	if r.IntN(2) == 0 && len(item) < size/4 {
		return repeated("[", item, "]", size)
	}
	return numbers(size)
}

// numbers returns a list of different numbers.
func numbers(size int) string {
	var b strings.Builder
	b.WriteByte('[')
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "%d,", i)
	}
	return b.String() + "0]"
}

// repeated returns as many copies of an item as fit.
func repeated(open, item, end string, size int) string {
	return open + strings.Repeat(item+",", max(0, size/(len(item)+1)-1)) + item + end
}

func hostileObject(r *rand.Rand, size int) string {
	var b strings.Builder
	b.WriteByte('{')
	for i := 0; b.Len() < size; i++ {
		value := hostileNumber(r, 0)
		if r.IntN(3) == 0 {
			value = hostileText(r, 10)
		}
		fmt.Fprintf(&b, `"n%d":%s,`, i, value)
	}
	return b.String() + `"z":1}`
}

// verbatim returns a value as it stands; filled one that repeats a unit.
func verbatim(s string) func(int) string { return func(int) string { return s } }

func filled(unit string) func(int) string {
	return func(size int) string { return `"` + strings.Repeat(unit, size/len(unit)) + `"` }
}

// layered returns a graph with exponentially many ways.
func layered(size int) string {
	var b strings.Builder
	b.WriteByte('{')
	for i := 0; b.Len() < size-200; i++ {
		fmt.Fprintf(&b, `"a%d":["a%d","b%d"],"b%d":["a%d","b%d"],`, i, i+1, i+1, i, i+1, i+1)
	}
	return b.String() + `"z":[]}`
}

// hostileOwn are the worst arguments that are known of single functions.
var hostileOwn = map[string][][]func(int) string{
	"replace":                          {{filled("a"), verbatim(`""`), filled("b")}, {filled("a"), verbatim(`"a"`), filled("b")}},
	"strings.replace_n":                {{func(n int) string { return `{"a":` + filled("b")(n) + `}` }, filled("a")}},
	"concat":                           {{filled("a"), func(n int) string { return repeated("[", `""`, "]", n) }}},
	"sprintf":                          {{filled("%[1]s"), func(n int) string { return "[" + filled("a")(n) + "]" }}, {filled("%999999d"), verbatim("[1]")}, {filled("%999d"), verbatim("[1]")}, {filled("%[1]q"), func(n int) string { return "[" + filled("\\u0001")(n) + "]" }}, {filled("%*d"), verbatim("[999999,1]")}},
	"regex.replace":                    {{filled("a"), verbatim(`"(.*)"`), filled("$1")}, {filled("a"), verbatim(`"()"`), filled("b")}},
	"regex.match":                      {{filled(`\\pN`), filled("a")}, {verbatim(`"((((a{10}){10}){10})){1}"`), filled("a")}, {filled("(a?){99}"), filled("a")}, {filled("(?i:[é-ￜ])"), filled("a")}},
	"regex.find_all_string_submatch_n": {{filled("()"), filled("a"), verbatim("-1")}, {filled("(a*)"), filled("a"), verbatim("-1")}},
	"regex.find_n":                     {{filled("(a*)"), filled("a"), verbatim("-1")}},
	"regex.split":                      {{verbatim(`""`), filled("a")}},
	"regex.template_match":             {{filled("{a{9}}"), filled("a"), verbatim(`"{"`), verbatim(`"}"`)}},
	"glob.match":                       {{filled("{a,b}"), verbatim("[]"), filled("a")}, {filled("*a"), verbatim("[]"), filled("a")}, {filled("{*,"), verbatim("null"), filled("a")}, {verbatim(`"` + strings.Repeat("{a,*}", 30) + `"`), verbatim("null"), filled("a")}, {verbatim(`"` + strings.Repeat("{a,{b,", 30) + strings.Repeat("}}", 30) + `"`), verbatim("null"), filled("a")}},
	"to_number":                        {{verbatim(`"1e-10000000"`)}, {filled("9")}, {verbatim(`"1e308"`)}},
	"units.parse":                      {{verbatim(`"1e999999"`)}, {filled("9")}, {verbatim(`"1e-999999m"`)}},
	"units.parse_bytes":                {{verbatim(`"1e999999"`)}, {filled("9")}},
	"json.unmarshal":                   {{verbatim(`"1e999999"`)}, {filled("[")}, {func(n int) string { return `"` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + `"` }}},
	"json.patch":                       {{verbatim(`{"a":[1,2,3]}`), func(n int) string { return repeated("[", `{"op":"copy","from":"","path":"/a"}`, "]", n) }}, {numbers, func(n int) string { return repeated("[", `{"op":"copy","from":"","path":"/0"}`, "]", n) }}},
	"product":                          {{func(n int) string { return repeated("[", "1e308", "]", n) }}, {func(n int) string { return repeated("[", "9223372036854775807", "]", n) }}},
	"net.cidr_contains_matches":        {{func(n int) string { return repeated("[", `"::/0"`, "]", n) }, func(n int) string { return repeated("[", `"::/0"`, "]", n) }}},
	"net.cidr_merge":                   {{func(n int) string { return repeated("[", `"::1/128"`, "]", n) }}, {verbatim(`["::1/128","8000::/1"]`)}},
	"graph.reachable":                  {{layered, verbatim(`["a0"]`)}},
	"format_int":                       {{verbatim("1e308"), verbatim("2")}},
	"mul":                              {{verbatim("1e308"), verbatim("1e308")}},
	"time.add_date":                    {{verbatim("0"), verbatim("999999999999"), verbatim("0"), verbatim("0")}},
	"substring":                        {{filled("é"), verbatim("0"), verbatim("9223372036854775807")}},
	"bits.rsh":                         {{verbatim("1e308"), verbatim("40000000000")}},
	"ambit.url.host":                   {{filled("http://")}, {func(n int) string { return `"http://` + strings.Repeat("a.", n/2-9) + `"` }}, {func(n int) string { return `"http://[` + strings.Repeat("0:", n/2-9) + `]"` }}, {func(n int) string { return `"http://` + strings.Repeat("0", n-18) + `"` }}},
	"ambit.url.port":                   {{func(n int) string { return `"http://a:` + strings.Repeat("0", n-18) + `1"` }}, {func(n int) string { return `"http://a:` + strings.Repeat("9", n-18) + `"` }}},
	"ambit.url.path":                   {{func(n int) string { return `"http://a` + strings.Repeat("/a", n/2-9) + `"` }}, {func(n int) string { return `"http://a/` + strings.Repeat("%41", n/3-9) + `"` }}, {func(n int) string { return `"http://a/` + strings.Repeat("%2f", n/3-9) + `"` }}},
	"ambit.path.clean":                 {{func(n int) string { return `"` + strings.Repeat("a/", n/2-9) + `"` }}, {func(n int) string { return `"%` + strings.Repeat("25", n/2-9) + `2e"` }}, {func(n int) string { return `"` + strings.Repeat("%2525", n/5-9) + `"` }}},
	"walk":                             {{func(n int) string { return strings.Repeat(`[1,`, 100) + numbers(n-1_000) + strings.Repeat("]", 100) }}},
}

// A set of hostile arguments is an input that a tool accepts.
// SEMANTICS 7.5.7
func TestHostileArgumentsAreInputs(t *testing.T) {
	for _, f := range callable() {
		params := functions.Builtin(f).Decl.FuncArgs().Args
		for i := range battery.Count(t, 4, 20) {
			text := hostileArguments(f, params, i)
			_, bad := wire.ParseRaw([]byte(text), wire.Limits{})
			require.Empty(t, bad, "%s %d: %.200s", f, i, text)
		}
	}
}
