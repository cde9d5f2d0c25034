package lint

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/internal/rego/regotest"
)

const (
	declaredData = `data.ambit.declared`
	limitsData   = `{"small": {"max": 1}, "large": {"max": 2, "min": 1}, "list": [{"max": 3}], "flat": 4}`
)

// A name that is misspelt behind a part that varies, or behind a local, is
// undefined as every other.
func TestMisspeltPathsBehindOtherParts(t *testing.T) {
	for _, test := range []struct{ name, condition, want string }{
		{"tool of the call", declaredData + `.tools[input.tool.name].efect == "read"`, `there is no data.ambit.declared.tools[_].efect (did you mean "effect"?)`},
		{"any tool", declaredData + `.tools[_].efect == "read"`, `there is no data.ambit.declared.tools[_].efect (did you mean "effect"?)`},
		{"any of the declarations", "some x\n\t" + declaredData + `[x].file_wrte`, `there is no data.ambit.declared[_].file_wrte (did you mean "file_write"?)`},
		{"member of what only some have", declaredData + `.tools[_].consent.aks == "always"`, `there is no data.ambit.declared.tools[_].consent.aks (did you mean "ask"?)`},
		{"a tool behind a local", "t := " + declaredData + ".tools.file_write\n\tt.efect == \"read\"", `o.rego:5:4: there is no data.ambit.declared.tools.file_write.efect (did you mean "effect"?)`},
		{"the declarations behind a local", "d := " + declaredData + "\n\td.tols", `o.rego:5:4: there is no data.ambit.declared.tols (did you mean "tools"?)`},
		{"each tool", "some tool in " + declaredData + ".tools\n\ttool.efect == \"read\"", `there is no data.ambit.declared.tools[_].efect`},
		{"every tool", "every tool in " + declaredData + ".tools { tool.efect == \"read\" }", `there is no data.ambit.declared.tools[_].efect`},
		{"constant behind a local", "name := \"file_wrte\"\n\t" + declaredData + ".tools[name].effect == \"read\"", `there is no data.ambit.declared.tools.file_wrte (did you mean "file_write"?)`},
		{"packages", `count(data.ambit.tools[input.tool.name].dney) > 0`, `there is no data.ambit.tools[_].dney (did you mean "deny"?)`},
		{"count behind a local", "t := \"file_wrte\"\n\tinput.run.counts[t] > 0", `o.rego:5:19: input.run.counts has no tool "file_wrte" (did you mean "file_write"?)`},
		{"success behind a list", "some t in [\"file_write\", \"file_raed\"]\n\tinput.run.succeeded[t]", `input.run.succeeded has no tool "file_raed" (did you mean "file_read"?)`},
		{"name among values", `"file_write" in input.run.succeeded`, `"file_write" is looked for among the values of input.run.succeeded, each of which is a boolean (write input.run.succeeded["file_write"])`},
		{"capability among values", `not "web" in input.principal.capabilities`, `among the values of input.principal.capabilities, each of which is a boolean (write input.principal.capabilities["web"])`},
		{"number in a list of texts", `3 in input.tool.capabilities`, `input.tool.capabilities[_] is a string, and it is compared with a number (write "3", in quotes)`},
		{"argument among keys", `"titel" in object.keys(input.args)`, `o.rego:4:2: input.args has no member "titel", whatever the tool`},
		{"tool among keys", "keys := object.keys(input.run.counts)\n\t\"file_wrte\" in keys", `input.run.counts has no tool "file_wrte" (did you mean "file_write"?)`},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := regotest.Org("deny contains " + entryM + " if {\n\t" + test.condition + "\n}")
			w := regotest.Tool(goodDeny)
			assert.ErrorContains(t, checkDir(regotest.Dir("o.rego", text, "w.rego", w, "limits/data.json", limitsData)), test.want)
		})
	}
}

// A name that one of the places has is right, and what is a rule's value, or what
// the contract allows to be absent, is not known.
func TestPathsThatAreRight(t *testing.T) {
	for _, condition := range []string{
		declaredData + `.tools[input.tool.name].effect == "read"`, declaredData + `.tools[_].behaviors.research`, declaredData + `.tools[_].consent.ask == "policy"`,
		"some x\n\t" + declaredData + `[x].file_write`, "d := " + declaredData + "\n\td.tools[input.tool.name].pin == \"\"", declaredData + `.tools[input.tool.name].modes[input.behavior].live`,
		`data.limits[input.behavior].min > 1`, `data.limits.list[_].max > 1`, `data.limits[_][_] == 3`, `object.get(data.limits.small, "min", 3) > 1`,
		`count(data.ambit.tools[input.tool.name].ask) > 0`, `count(data.ambit.tools[_].deny) > 0`,
		"some k, v in data.limits\n\tnot k == \"x\"\n\tv.max > 1", "some k, v in data.limits\n\tcount([1 | k == \"x\"]) == 0\n\tv.max > 1",
		`data.acme.rules.tools[input.tool.name].effect == "read"`, `data.acme.rules.limits.min > 1`, "some s in data.acme.rules.set\n\ts.max > 1",
		"data.acme.rules[input.behavior].anything.at.all", "r := data.acme.rules.one\n\tr.a == 1", `data.acme.rules[_].a == 1`,
		`"web" in input.tool.capabilities`, `"path" in object.keys(input.args)`, `"live" in input.modes`, `input.behavior in ["chat", "research"]`, `input.modes.web_mode == "off"`,
		`true in input.run.succeeded`, `"x" in input.args.tags`,
		// What entries of an application's data have may come and go.
		`data.limits[input.behavior].mix > 1`, `not data.limits[input.behavior].closed`, `data.limits.list[0].mix > 1`, "some k in [\"small\", \"huge\"]\n\tdata.limits[k].max > 1",
		"u := data.limits[input.behavior]\n\tnot u.closed", "some u in data.limits.list\n\tnot u.closed", "k := [\"max\", \"mix\"][_]\n\tdata.limits.small[k] > 1",
		`input.tool.name in ["file_write", data.limits.flat]`, `input.tool.name in [input.behavior, "file_write"]`, `input.tool.name in {"file_write", lower("FILE_READ")}`,
		"x := [input.args.path, input.run.counts.file_write]\n\t1 in x", "x := input.args.path\n\tx in [\"\", null]",
	} {
		text := regotest.Org("deny contains " + entryM + " if {\n\t" + condition + "\n}\n\ndeny contains " + entryM + " if count(data.acme.rules) > 5")
		fsys := regotest.Dir("o.rego", text, "w.rego", regotest.Tool(goodDeny), "limits/data.json", limitsData,
			"acme.rego", "package acme.rules\n\none := {\"a\": object.get(input.args, \"path\", 1)}\n\ntwo[x] := y if some x, y in input.modes\n\n"+
				"tools[x] := y if some x, y in data.ambit.declared.tools\n\nlimits := data.limits.small if input.behavior == \"\" else := data.limits.large\n\nset contains x if some x in data.limits")
		assert.NoError(t, checkDir(fsys), condition)
	}
}
