package evolution_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/internal/evolution"
)

// everything says all that a tool may say.
const everything = `ambit: v1
package: shop
tools:
  first: {version: 1.2.0, description: D., input: {}, output: {}}
  second: {version: 1.2.0, description: D., input: {}, output: {}}
  buy:
    version: 1.2.0
    alias: Buy
    renamed_from: [purchase, acquire]
    title: Buy
    description: Buy something.
    effect: write
    idempotent: true
    deterministic: true
    transactional: true
    reconcile: true
    safe_errors: true
    heartbeat: true
    capabilities: [a, b]
    behaviors: [work, plan]
    modes: {web: [off, live]}
    deadline: 4s
    every: 10m
    args: {what: x}
    limits: {input: 4KiB, output: 4KiB, memory: 4MiB, concurrency: 4, queue: 8}
    retry: {max: 2, initial: 1s, cap: 1m, on_timeout: true}
    dedupe: 5m
    idempotency: {key: [what], window: 24h}
    artifact: {over: 1000, type: text/plain}
    consent: {ask: policy, message: "Buy?", approvers: [owner, buyer], timeout: 10m, quorum: 2, max_cover: args, max_for: 2h, preview: true, allow_edit: true, allow_self: true, reveal: [card]}
    undo: {ttl: 2h, state: {type: object, properties: {n: {type: integer, description: N.}}}}
    rules: {start_constraint: true, requires_preceding: [first, second], must_precede: [first], exclusive_group: [x, y], required_before_exit: true, max_calls: 4, cooldown: 4s, continue_loop: true, allowed_operations: {arg: what, values: [x, y]}}
    deprecated: {since: 1.2.0, use: first, message: Use first., remove_in: 4.0.0}
    input: {properties: {what: {type: string, description: W.}, card: {type: string, x-sensitive: true, description: C.}}}
    output: {}
`

// harmless are the keys of which no change breaks anything, and why.
var harmless = map[string]string{
	"Title":              "a text",
	"Description":        "a text",
	"Deterministic":      "replay compares outputs of what is deterministic now",
	"SafeErrors":         "what a model reads of an error is not promised",
	"Every":              "nobody calls what runs by itself",
	"Args":               "the same",
	"Retry":              "how often a failed call is tried is not promised",
	"Retry.Max":          "the same",
	"Retry.Initial":      "the same",
	"Retry.Cap":          "the same",
	"Retry.OnTimeout":    "the same",
	"Consent.Message":    "a text",
	"Deprecated":         "a tool that is deprecated works",
	"Deprecated.Since":   "judged when the tool is removed",
	"Deprecated.Use":     "a hint",
	"Deprecated.Message": "a text",
}

// TestEveryKeyIsCompared changes each key of a tool, whichever dsl.Tool has, to other
// values and back: one of these changes breaks something, or the key is harmless.
func TestEveryKeyIsCompared(t *testing.T) {
	load := func() *dsl.File {
		f, err := dsl.Parse("tools.yaml", []byte(everything))
		require.NoError(t, err)
		return f
	}
	require.Empty(t, evolution.Compare(load(), load()))
	seen := map[string]bool{}
	for _, path := range leaves("", reflect.TypeFor[dsl.Tool]()) {
		breaks := 0
		for n := range 6 {
			base, changed := load(), load()
			if !change(reflect.ValueOf(changed.Tools[2]).Elem(), strings.Split(path, "."), n) {
				continue
			}
			breaks += len(evolution.Compare(base, changed)) + len(evolution.Compare(changed, base))
		}
		seen[path] = true
		if harmless[path] == "" {
			assert.NotZero(t, breaks, path)
		} else {
			assert.Zero(t, breaks, path)
		}
	}
	assert.Greater(t, len(seen), 60)
	for path := range harmless {
		assert.True(t, seen[path], "%s is no key", path)
	}
}

// leaves are the paths of the fields of a struct that hold what a declaration says.
func leaves(path string, s reflect.Type) (all []string) {
	for i := range s.NumField() {
		f := s.Field(i)
		if slices.Contains([]string{"Pos", "Keys", "Input", "Output", "State"}, f.Name) && !(path == "Limits.") {
			continue
		}
		if slices.Contains([]string{"Command", "Isolation", "Process", "LimitKeys"}, f.Name) { // of tools without a handler: see TestCommands
			continue
		}
		of := f.Type
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
			of = of.Elem()
		}
		if f.Type.Kind() != reflect.Struct {
			all = append(all, path+f.Name)
		}
		if of.Kind() == reflect.Struct && of != reflect.TypeFor[dsl.Value]() {
			all = append(all, leaves(path+f.Name+".", of)...)
		}
	}
	return all
}

// change makes change number n of a field; it reports false where there is none.
func change(v reflect.Value, path []string, n int) bool {
	f := v.FieldByName(path[0])
	if len(path) > 1 {
		if f.Kind() == reflect.Slice {
			f = f.Index(0)
		}
		if f.Kind() == reflect.Pointer {
			f = f.Elem()
		}
		return change(f, path[1:], n)
	}
	words := []string{"", "destructive", "read", "9.0.0", "always", "tool"}
	switch {
	case f.Kind() == reflect.String:
		f.SetString(words[n])
	case f.Kind() == reflect.Bool:
		f.SetBool(!f.Bool())
	case f.CanInt() && n < 3:
		f.SetInt([]int64{0, f.Int() / 2, f.Int()*2 + int64(time.Nanosecond)}[n])
	case f.Kind() == reflect.Slice && n == 0, f.Kind() == reflect.Pointer && n == 0:
		f.SetZero()
	case f.Kind() == reflect.Slice && n == 1 && f.Len() > 1:
		f.Set(f.Slice(0, 1))
	default:
		return false
	}
	return true
}

// TestKeysForWhom: who is concerned by a change of a key, in the direction that breaks.
func TestKeysForWhom(t *testing.T) {
	const tool = "ambit: v1\npackage: shop\n%s\ntools:\n  first: {version: 1.0.0, description: D., input: {}, output: {}}\n" +
		"  buy: {version: 1.4.0, description: Buy., %s input: {properties: {what: {type: string, description: W.}}}, output: {}}\n"
	file := func(set, keys string) *dsl.File {
		f, err := dsl.Parse("tools.yaml", fmt.Appendf(nil, tool, set, keys))
		require.NoError(t, err, keys)
		return f
	}
	for _, c := range []struct{ set, was, now, want string }{
		{"", "renamed_from: [purchase],", "", `callers: the earlier name "purchase" names no tool any more`},
		{"", "", "capabilities: [pay],", `callers: the capability "pay" is wanted now`},
		{"", "capabilities: [pay],", "", `policies: the capability "pay" is not declared any more`},
		{"", "", "behaviors: [work],", `callers, policies: the tool runs in fewer: [] were named and ["work"] are`},
		{"", "modes: {web: [off, live]},", "modes: {web: [live]},", `callers, policies: the tool runs in fewer: ["off" "live"] were named and ["live"] are`},
		{"", "deadline: 9s,", "deadline: 3s,", "handlers: the deadline was 9s and is 3s"},
		{"", "", "limits: {input: 10},", "callers: limits.input was 65536 and is 10"},
		{"", "limits: {output: 20},", "limits: {output: 10},", "handlers: limits.output was 20 and is 10"},
		{"", "limits: {concurrency: 4},", "limits: {concurrency: 4, queue: 2},", "callers: limits.queue was 16 and is 2"},
		{"", "", "dedupe: 5m,", "callers: equal calls were deduplicated never and are for 5m0s"},
		{"", "", "reconcile: true,", "handlers: the handler needs a method that reconciles"},
		{"", "", "transactional: true,", "handlers: the tool is transactional now: all its effects have to go through participants"},
		{"", "", "artifact: {over: 50, type: text/plain},", "callers: outputs of more than 50 characters become artifacts now"},
		{"", "", `consent: {ask: always, message: "Buy?", approvers: [owner]},`, "callers: consent.ask: calls wait for people who were not asked before"},
		{"", `consent: {ask: always, message: "Buy?", approvers: [owner, buyer]},`, `consent: {ask: always, message: "Buy?", approvers: [owner, clerk], preview: true, quorum: 2},`,
			"handlers: consent.preview: the handler needs a method that previews; approvals: consent.approvers: [\"buyer\"] may not answer any more; approvals, callers: consent.quorum was 1 and is 2"},
		{"", `consent: {ask: always, message: "Buy?", approvers: [owner]},`, `consent: {ask: always, message: "Buy it?", approvers: [owner]},`, ""},
		{"", "undo: {ttl: 2h, state: {properties: {}}},", "undo: {ttl: 1h, state: {properties: {}}},", "undo: undo.ttl was 2h0m0s and is 1h0m0s"},
		{"", "", "rules: {max_calls: 3},", "callers: rules.max_calls was not said and is 3"},
		{"", "rules: {max_calls: 3},", "", ""},
		{"", "", "rules: {requires_preceding: [first]},", `callers: rules.requires_preceding names ["first"] now`},
		{"", "", "rules: {allowed_operations: {arg: what, values: [a]}},", `callers: rules.allowed_operations takes ["a"] of "what" only`},
		{"", "deprecated: {since: 1.0.0, message: Use first., remove_in: 4.0.0},", "deprecated: {since: 1.0.0, message: Use first., remove_in: 3.0.0},", "callers: deprecated.remove_in was 4.0.0 and is 3.0.0"},
		{"rules: {max_calls: 7}", "", "", "callers: rules.max_calls was not said and is 7"},
	} {
		var got []string
		for _, b := range evolution.Compare(file("", c.was), file(c.set, c.now)) {
			got = append(got, strings.Join(b.For, ", ")+": "+b.Text)
			assert.False(t, b.Allowed)
		}
		assert.Equal(t, c.want, strings.Join(got, "; "), c.now)
	}
	lowered := evolution.Compare(file("", ""), parsed(t, strings.Replace(fmt.Sprintf(tool, "", ""), "1.4.0", "1.3.9", 1)))
	require.Len(t, lowered, 1)
	assert.Equal(t, "the version was 1.4.0 and is 1.3.9", lowered[0].Text)
}

func parsed(t *testing.T, text string) *dsl.File {
	t.Helper()
	f, err := dsl.Parse("tools.yaml", []byte(text))
	require.NoError(t, err)
	return f
}

// TestTypesInGo: handlers hear of a type in Go that is another, though the values are the
// same or more.
func TestTypesInGo(t *testing.T) {
	for _, c := range []struct{ was, now, want string }{
		{`type: string`, `type: [string, "null"]`, "it was string in Go and is wire.Null of string"},
		{`type: string, enum: [x, y]`, `type: string`, "it was constants in Go and is string"},
		{`type: string, enum: [x, y]`, `type: string, enum: [x]`, `"y" is refused`},
		{`type: object, additionalProperties: {type: string}`, `type: object, additionalProperties: {type: string}, properties: {b: {type: string, description: B.}}`, "it was a map in Go and is a struct"},
		{`type: object, properties: {b: {type: string, description: B.}}, required: [b]`, `type: object, properties: {b: {type: string, description: B.}}`, "the member was always there in Go and is wire.Opt"},
		{`type: object, properties: {b: {type: string, description: B.}}`, `type: object, properties: {b: {type: string, default: x, description: B.}}`, "the member was wire.Opt in Go and is always there"},
	} {
		var in, out []string
		for _, b := range evolution.Compare(parse(t, "1.2.0", c.was), parse(t, "1.2.0", c.now)) {
			if slices.Contains(b.For, evolution.Handlers) && strings.Contains(b.Text, c.want) {
				if strings.HasPrefix(b.Text, "input: ") {
					in = append(in, b.Text)
				} else {
					out = append(out, b.Text)
				}
			}
		}
		assert.Len(t, in, 1, c.now)
		assert.Len(t, out, 1, c.now)
	}
	absent := evolution.Compare(parse(t, "1.2.0", `type: object, properties: {b: {type: string, description: B.}}, required: [b]`), parse(t, "1.2.0", `type: object, properties: {b: {type: string, description: B.}}`))
	assert.Contains(t, said(absent), "policies: input", "a rule that reads the member is undefined where it is absent")
	named := func(name string) *dsl.File {
		return parsed(t, "ambit: v1\npackage: shop\ntypes: {"+name+": {type: object, description: O., properties: {}}}\ntools:\n  buy: {version: 1.0.0, description: B., input: {properties: {o: {$ref: \"#/types/"+name+"\"}}}, output: {}}\n")
	}
	assert.Equal(t, "handlers: input\n", said(evolution.Compare(named("Order"), named("Purchase"))))
}

// TestStale: each tool whose pin is another ends the requests that wait.
func TestStale(t *testing.T) {
	old, now := parse(t, "1.0.0", "type: string"), parse(t, "1.0.1", "type: string")
	assert.Empty(t, evolution.Stale(old, now, map[string]string{"buy": "a"}, map[string]string{"buy": "a"}))
	stale := evolution.Stale(old, now, map[string]string{"buy": "a"}, map[string]string{"buy": "b"})
	require.Len(t, stale, 1)
	assert.True(t, stale[0].Allowed)
	assert.Equal(t, []string{evolution.Approvals}, stale[0].For)
}
