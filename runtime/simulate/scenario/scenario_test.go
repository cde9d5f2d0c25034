package scenario_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/runtime/simulate/scenario"
)

func load(t *testing.T, path string) *scenario.File {
	t.Helper()
	src, err := os.ReadFile(path)
	require.NoError(t, err)
	f, err := scenario.Parse(path, src)
	require.NoError(t, err)
	return f
}

// TestCases runs every case of testdata twice: it holds, and gives the same
// results to the byte.
func TestCases(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.yaml")
	require.NoError(t, err)
	count := 0
	for _, path := range paths {
		for _, c := range load(t, path).Cases {
			count++
			t.Run(filepath.Base(path)+"/"+c.Name, func(t *testing.T) {
				t.Parallel()
				var runs [2]bytes.Buffer
				for i := range runs {
					trace, err := c.Run(&scenario.Setup{})
					require.NoError(t, err)
					assert.Empty(t, trace.Faults())
					require.NoError(t, trace.WriteJSON(&runs[i]))
				}
				assert.Equal(t, runs[0].String(), runs[1].String())
			})
		}
	}
	assert.Greater(t, count, 90)
}

// TestSameResultsUnderLoad closes runs while a call has its grace, in several simulations at once: a goroutine that
// the clock does not count would now and then be overtaken by the clock, which then shows another time.
func TestSameResultsUnderLoad(t *testing.T) {
	const crowd = 16
	runs := 1000
	if testing.Short() {
		runs = 100
	}
	defer goruntime.GOMAXPROCS(goruntime.GOMAXPROCS(crowd)) // more threads than processors: any goroutine may stand still anywhere
	text := `scenarios: v1
cases:
- name: grace
  tools:
    mark: {rules: {cooldown: 1h}}
    fetch: {}
  steps:
  - call: {id: m1, tool: mark}
`
	for i := range runs {
		text += fmt.Sprintf("  - call: {id: f%d, tool: fetch, handler: timeout, duration: 100ms}\n  - new_run: true\n", i)
	}
	text += fmt.Sprintf("  - call: {id: m2, tool: mark, args: {n: 2}}\n    expect: {outcome: denied, detail: {retry_after: %ds}}\n", 3600-runs/10)
	f, err := scenario.Parse("cases.yaml", []byte(text))
	require.NoError(t, err)
	var wrong atomic.Int64
	var all sync.WaitGroup
	for range crowd {
		all.Go(func() {
			trace, err := f.Cases[0].Run(&scenario.Setup{})
			if err != nil || len(trace.Faults()) > 0 {
				wrong.Add(1)
			}
		})
	}
	all.Wait()
	assert.Zero(t, wrong.Load(), "of %d simulations", crowd)
}

// parse expects faults and returns them.
func parse(t *testing.T, text string) dsl.Diagnostics {
	t.Helper()
	_, err := scenario.Parse("cases.yaml", []byte(text))
	var all dsl.Diagnostics
	require.ErrorAs(t, err, &all)
	return all
}

func TestFaultsOfAFile(t *testing.T) {
	const head = "scenarios: v1\ncases:\n- name: a\n"
	for name, c := range map[string]struct{ text, want, hint string }{
		"empty":                 {"", "cases.yaml:1:1: the file is empty", `start with "scenarios: v1"`},
		"version":               {"scenarios: v2\ncases: []\n", `cases.yaml:1:12: scenarios: version "v2" of the format is not known`, "write scenarios: v1"},
		"no cases":              {"scenarios: v1\n", "cases.yaml:1:1: the file has no cases", "add cases"},
		"unknown key":           {head + "  stpes: []\n", `cases.yaml:4:3: unknown key "stpes" in the case`, `did you mean "steps"?`},
		"unknown rule":          {head + "  tools:\n    t: {rules: {max_call: 1}}\n", `cases.yaml:5:17: unknown key "max_call" in rules`, `did you mean "max_calls"?`},
		"unknown tool":          {head + "  tools:\n    tt: {}\n    u:\n      rules:\n        requires_preceding: [t]\n", `cases.yaml:8:30: rules.requires_preceding: no tool is named "t"`, `did you mean "tt"?`},
		"bad duration":          {head + "  tools:\n    t: {dedupe: 1x}\n", `cases.yaml:5:17: dedupe must be a duration, not "1x"`, "write a number with a unit, such as 500ms, 5s or 1h30m"},
		"bad set rule":          {head + "  tools: {t: {}}\n  rules: {exit_loop: true}\n", "cases.yaml:5:11: rules: exit_loop is a rule of one tool", "write it under the rules of the tools that it is for"},
		"two steps":             {head + "  steps:\n  - {turn: true, new_run: true}\n", "cases.yaml:5:27: new_run stands beside another step", "make it a step of its own"},
		"no step":               {head + "  steps:\n  - {expect: {run: x}}\n", "cases.yaml:5:5: the step says nothing", "write one of call, batch, approve, deny, revoke, tamper, set_policy, advance, turn, new_run, model_stop, what_if, undo and undo_run"},
		"step key":              {head + "  steps:\n  - {aprove: {}}\n", `cases.yaml:5:6: unknown key "aprove" in the step`, `did you mean "approve"?`},
		"handler":               {head + "  steps:\n  - call: {id: c, tool: t, handler: slow}\n", `cases.yaml:5:37: call.handler cannot be "slow"`, "use ok, error or timeout"},
		"missing id":            {head + "  steps:\n  - call: {tool: t}\n", "cases.yaml:5:11: call has no id", "add id"},
		"expect":                {head + "  steps:\n  - model_stop: true\n    expect: {outcome: executed}\n", `cases.yaml:6:14: unknown key "outcome" in expect`, `use "pending_exit" or "run"`},
		"expect of a call":      {head + "  steps:\n  - approve: {request_for: c, by: b}\n    expect: {call: {outcom: executed}}\n", `cases.yaml:6:21: unknown key "outcom" in expect`, `did you mean "outcome"?`},
		"final":                 {head + "  final: {usd: {}}\n", `cases.yaml:4:11: unknown key "usd" in final`, `did you mean "used"?`},
		"decision":              {head + "  policy:\n  - {decision: denied}\n", `cases.yaml:5:16: decision cannot be "denied"`, "use allow, ask, deny, modify or error"},
		"comparison":            {head + "  policy:\n  - {when: {args: {n: {lt: 1}}}, decision: deny}\n", `cases.yaml:5:24: when.args.n compares by eq, prefix, gt, below, url, le or ge, not by "lt"`, ""},
		"group with its prefix": {head + "  steps:\n  - approve: {request_for: c1, by: otto, groups: [\"group:leads\"]}\n", `cases.yaml:5:51: approve.groups: the name "group:leads" of a group begins with group: once too often`, "write the name of the group, without group:"},
		"id with a blank":       {head + "  steps:\n  - deny: {request_for: c1, by: \"otto \"}\n", `cases.yaml:5:33: deny.by: the id "otto " has blanks at its ends`, "a member of a group is an id with groups: [NAME]"},
		"predicate":             {head + "  policy:\n  - {when: {args: {n: {gt: many}}}, decision: deny}\n", `cases.yaml:5:28: when.args: "n" cannot be compared by gt to "many"`, ""},
		"set without modify":    {head + "  policy:\n  - {decision: deny, set: {a: 1}}\n", "cases.yaml:5:5: set belongs to decision: modify", "write decision: modify, or remove set"},
		"same name":             {head + "- name: a\n", `cases.yaml:4:3: a second case is called "a"`, "give it a name of its own"},
		"duplicate key":         {head + "  title: x\n  title: y\n", `cases.yaml:5:3: duplicate key "title", first in line 4`, "remove one of them"},
		"rules without tools":   {head + "  rules: {max_calls: 1}\n", "cases.yaml:4:10: rules of a set without tools", "add tools"},
		"stubs":                 {head + "  tools: {api: {}}\n  stubs: {apo: {undo: fails}}\n", `cases.yaml:5:11: stubs: no tool is named "apo"`, `did you mean "api"?`},
		"second document":       {head + "---\na: b\n", "cases.yaml:4:1: a second document starts here, a scenario file has one", "put it into a file of its own"},
	} {
		t.Run(name, func(t *testing.T) {
			got := parse(t, c.text)
			assert.Equal(t, c.want, got[0].Error())
			assert.Equal(t, c.hint, got[0].Hint)
		})
	}
	assert.Contains(t, parse(t, "a: [\n")[0].Message, "not valid YAML")
}

// TestFilledIn shows that an entry may leave out every member, and may be an alias.
func TestFilledIn(t *testing.T) {
	_, err := scenario.Parse("cases.yaml", []byte(`
scenarios: v1
cases:
- name: a
  tools:
    nothing:
    any: &any {undo: true, consent: {message: "to {to}", reveal: [to]}, idempotency: {key: [order]}}
    same: *any
    closed:
      input: {properties: {n: {type: integer}, o: {type: object, properties: {deep: {type: string}}}}}
      undo: {ttl: 5s}
`))
	require.NoError(t, err)
}

// TestDeclared shows what a case may not have when tools come from a declaration.
func TestDeclared(t *testing.T) {
	src := []byte("scenarios: v1\ncases:\n- name: a\n  tools: {t: {}}\n  steps: [{set_policy: {version: v2}}]\n")
	f, err := scenario.Parse("cases.yaml", src)
	require.NoError(t, err)
	require.NoError(t, (&scenario.Setup{}).Check(f, src))
	err = (&scenario.Setup{Declaration: &dsl.File{}}).Check(f, src)
	require.EqualError(t, err, `cases.yaml:4:10: case "a" declares tools, rules or a policy, which come from the declaration
cases.yaml:5:11: set_policy replaces a stand-in policy, and there is none`)
}

// TestFaults shows in what words a difference is told.
func TestFaults(t *testing.T) {
	f, err := scenario.Parse("cases.yaml", []byte(`
scenarios: v1
cases:
- name: a
  tools: {t: {rules: {max_calls: 1}}}
  steps:
  - batch: {calls: [{id: c1, tool: t}, {id: c2, tool: t}]}
    expect: [{outcome: executed, status: error, of: c0}, {detail: {max: 2}, all_reasons: []}]
  - {turn: true}
  final: {used: {t: 2}, run: running}
`))
	require.NoError(t, err)
	trace, err := f.Cases[0].Run(&scenario.Setup{})
	require.NoError(t, err)
	faults := trace.Faults()
	const why = `max_calls: "t" may be called once in a run; it cannot be called any more in this run, unless c1 (t), which has not started, is denied or cancelled`
	assert.Equal(t, `0.0: expected status "error", came "ok"; expected of "c0", came none (and 3 more in later steps)`, faults.String())
	assert.Equal(t, scenario.Faults{
		{Step: "0.0", Want: `status "error"`, Got: `"ok"`},
		{Step: "0.0", Want: `of "c0"`, Got: "none"},
		{Step: "0.1", Want: "max 2", Got: "1", Why: why},
		{Step: "0.1", Want: "all_reasons []", Got: `["max_calls"]`, Why: why},
		{Step: "final", Want: `used {"t":2}`, Got: `{"t":1}`},
	}, faults)
}

// TestTamperedWithNothing shows that a step that cannot be taken is told of.
func TestTamperedWithNothing(t *testing.T) {
	f, err := scenario.Parse("cases.yaml", []byte(`
scenarios: v1
cases:
- name: a
  tools: {t: {}}
  steps:
  - call: {id: c1, tool: t}
  - tamper: {request_for: c1, args: {n: 2}}
  final: {used: {t: 1}}
`))
	require.NoError(t, err)
	trace, err := f.Cases[0].Run(&scenario.Setup{})
	require.EqualError(t, err, `call "c1" never waited for consent`)
	assert.Empty(t, trace.Faults())
}
