package lint

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/internal/rego/regotest"
)

// refusal is a refusal with a message, and a body; more may follow.
func refusal(message, body string) string {
	return `deny contains {"code": "too_big", "message": ` + message + `} if {` + "\n\t" + body + "\n}\n\n"
}

const isX = `input.args.path == "x"`

// An entry that is undefined is no entry: the refusal would be lost.
func TestEntriesThatMayVanish(t *testing.T) {
	const absent, undefined = "may be absent, and this entry would vanish with it (use object.get with a default",
		"may be undefined, and this entry would vanish with it (give the function a default"
	for _, test := range []struct{ text, want string }{
		{regotest.Tool(refusal(`input.args.note`, isX)), "w.rego:3:46: input.args.note " + absent},
		{regotest.Tool(refusal(`sprintf("%s", [input.args.note])`, isX)), "w.rego:3:61: input.args.note " + absent},
		{regotest.Tool(refusal(`split(input.args.path, "/")[1]`, isX)), `w.rego:3:46: split(input.args.path, "/")[1] ` + absent},
		{regotest.Tool(refusal(`input.args.tags[0]`, isX)), "input.args.tags[0] " + absent},
		{regotest.Tool(refusal(`input.args.shape.size`, isX)), "input.args.shape.size " + absent},
		{regotest.Tool(refusal(`sprintf("%d", [max([n | some n in [input.args.bytes]])])`, isX)), "max([n | some n in [input.args.bytes]]) " + undefined},
		{regotest.Tool(refusal(`object.get(input.args.shape, "kind", "")`, isX)), "input.args.shape " + absent},
		{regotest.Tool(refusal(`name(input.args.path)`, isX) + `name(p) := "a" if startswith(p, "x")`), `w.rego:3:46: name(input.args.path) ` + undefined},
		{regotest.Tool(refusal(`name(input.args.path)`, isX) + `name(p) := split(p, "/")[1]`), `name(input.args.path) ` + undefined},
		{regotest.Tool(refusal(`name(input.args.path)`, isX) + `name("x") := "a"`), `name(input.args.path) ` + undefined},
		{regotest.Tool(refusal(`name(input.args.path)`, isX) + "name(p) := \"a\" if {\n\tstartswith(p, \"x\")\n} else := split(p, \"/\")[1]"), `name(input.args.path) ` + undefined},
		{regotest.Tool(refusal(`texts.big`, isX) + `texts := {"big": "b"} if input.args.bytes > 1`), `texts.big ` + absent},
		{regotest.Tool(refusal(`texts[input.args.path]`, isX) + `texts := {"big": "b"}`), `texts[input.args.path] ` + absent},
		{regotest.Tool(refusal(`name`, isX) + `name := "a" if input.args.bytes > 1`), `w.rego:3:46: name ` + absent},
		{regotest.Tool(refusal(`text`, isX) + `text := input.args.note`), "w.rego:3:46: text " + absent},
		{regotest.Tool(refusal(`text("a")`, isX) + `text(x) := concat(x, [input.args.note])`), `text("a") ` + undefined},
		{regotest.Tool(refusal(`verdict.why`, isX) + `verdict := {"ok": input.args.path == "y", "why": input.args.note}`), "verdict.why " + absent},
		{regotest.Tool(refusal(`verdict.what`, isX) + `verdict := {"ok": input.args.path == "y", "why": "m"}`), "verdict.what " + absent},
		{regotest.Tool(refusal(`verdict.why`, isX) + "verdict := {\"why\": \"m\"} if {\n\t" + isX + "\n} else := {\"ok\": true}"), "verdict.why " + absent},
		{regotest.Tool(refusal(`m`, isX+"\n\tm := sprintf(\"%s\", [input.args.note])")), "w.rego:5:22: input.args.note " + absent},
		{regotest.Tool(refusal(`m`, isX+"\n\tn := split(input.args.path, \"/\")[1]\n\tm := concat(\" \", [\"not\", n])")), `w.rego:5:7: split(input.args.path, "/")[1] ` + absent},
		{regotest.Tool(refusal(`m`, isX+"\n\tm := name(input.args.path)") + `name(p) := split(p, "/")[1]`), `w.rego:5:7: name(input.args.path) ` + undefined},
		{regotest.Tool(refusal(`m`, isX+"\n\tm = input.args.note")), "w.rego:5:6: input.args.note " + absent},
		{regotest.Tool(refusal(`m`, isX+"\n\tsome m\n\tinput.args.note = m")), "w.rego:6:2: input.args.note " + absent},
		{regotest.Tool(refusal(`m`, isX+"\n\t[_, m] := split(input.args.path, \"/\")")), `w.rego:5:12: split(input.args.path, "/")[1] ` + absent},
		{regotest.Tool(refusal(`sprintf("%s", [a.note])`, "a := input.args\n\ta.path == \"x\"")), "a.note " + absent},
		{regotest.Tool(refusal(`sprintf("%s", [i.name])`, "some i in input.args.items")), "i.name " + absent},
		{regotest.Tool(refusal(`input.args.note`, `not input.args.note == "x"`)), "w.rego:3:46: input.args.note " + absent},
		{regotest.Tool(refusal(`input.args.note`, `count([n | n := input.args.note]) == 0`)), "w.rego:3:46: input.args.note " + absent},
		{regotest.Org(refusal(`input.args.path`, `input.behavior == "x"`)), "o.rego:3:46: input.args.path " + absent},
		{regotest.Org(refusal(`input.args.content`, `input.tool.name in {"file_write", "file_read"}`)), "o.rego:3:46: input.args.content " + absent},
		{regotest.Org(refusal(`data.ambit.declared.tools[input.tool.name].consent.message`, `input.behavior == "x"`)), `consent.message ` + absent},
		{regotest.Tool(`ask contains {"id": "a", "message": input.args.note}`), "input.args.note " + absent},
		{regotest.Tool(`modify contains {"code": "a", "pointer": "/path", "value": input.args.note}`), "input.args.note " + absent},
		{regotest.Tool(`obligations contains {"code": "notify", "args": {"to": input.args.note}}`), "input.args.note " + absent},
	} {
		name := "w.rego"
		if test.text[:len("package ambit.p")] == "package ambit.p" {
			name = "o.rego"
		}
		assert.ErrorContains(t, checkDir(regotest.Dir(name, test.text)), test.want, test.text)
	}
}

func TestEntriesThatStay(t *testing.T) {
	for _, text := range []string{
		regotest.Tool(refusal(`input.args.path`, isX)),
		regotest.Tool(refusal(`sprintf("%s %d", [upper(input.args.path), input.args.tries])`, isX)),
		regotest.Tool(refusal(`sprintf("%s", [input.args.meta.owner])`, isX)),
		regotest.Tool(refusal(`input.args.shape.kind`, `input.args.shape`)),
		regotest.Tool(refusal(`input.args.note`, `input.args.note != "x"`)),
		regotest.Tool(refusal(`input.args.tags[0]`, `startswith(input.args.tags[0], "x")`)),
		regotest.Tool(refusal(`object.get(input.args, "note", "")`, isX)),
		regotest.Tool(refusal(`sprintf("%d", [count([t | some t in input.args.tags; t != "x"])])`, isX)),
		regotest.Tool(refusal(`sprintf("%v", [{t | t := input.args.note}])`, isX)),
		regotest.Tool(refusal(`$"about {input.args.note}"`, isX)),
		regotest.Tool(refusal(`name(input.args.path)`, isX) + "default name(_) := \"\"\n\nname(p) := split(p, \"/\")[1]"),
		regotest.Tool(refusal(`name(input.args.path)`, isX) + `name(p) := concat("", ["a", p])`),
		regotest.Tool(refusal(`name(input.args.path)`, isX) + "name(p) := \"a\" if {\n\tstartswith(p, \"x\")\n} else := p"),
		regotest.Tool(refusal(`name(input.args.path)`, `name(input.args.path) != "x"`) + `name(p) := split(p, "/")[1]`),
		regotest.Tool(refusal(`name`, isX) + "default name := \"\"\n\nname := \"a\" if input.args.bytes > 1"),
		regotest.Tool(refusal(`sprintf("%v", [names])`, isX) + "names contains n if n := input.args.note"),
		regotest.Tool(refusal(`limit`, isX) + `limit := "9"`),
		regotest.Tool(refusal(`sprintf("%d", [max([count(input.args.path), 3])])`, isX)),
		regotest.Tool(refusal(`texts.big`, isX) + `texts := {"big": "too big", "small": "too small"}`),
		regotest.Tool(refusal(`sprintf("%s", [texts.of.big])`, isX) + `texts := {"of": {"big": "too big"}}`),
		regotest.Tool(refusal(`verdict.why`, `not verdict.ok`) + `verdict := {"ok": input.args.path == "y", "why": "m"}`),
		regotest.Tool(refusal(`sprintf("%s", [texts.of[1]])`, isX) + `texts := {"of": ["a", input.args.path]}`),
		regotest.Tool(refusal(`verdict.why`, isX) + "verdict := {\"why\": \"m\"} if {\n\t" + isX + "\n} else := {\"why\": input.args.path}"),
		regotest.Tool(refusal(`m`, isX+"\n\tm := sprintf(\"%s\", [object.get(input.args, \"note\", \"\")])")),
		regotest.Tool(refusal(`m`, "m := input.args.note\n\tm != \"x\"")),
		regotest.Tool(refusal(`m`, "n := input.args.note\n\tn != \"x\"\n\tm := upper(n)")),
		regotest.Tool(refusal(`sprintf("%s", [i.name])`, "some i in input.args.items\n\ti.name != \"x\"")),
		regotest.Tool(refusal(`limit`, "limit = input.args.note") + `limit := "9"`),
		regotest.Tool(refusal(`m`, "[first, m] := split(input.args.path, \"/\")\n\tfirst == \"x\"")),
		regotest.Tool(refusal(`t`, "some t in input.args.tags\n\tt != \"x\"")),
		regotest.Tool("import input.args as a\n\n" + refusal(`a.path`, `a.path != "x"`) + refusal(`a.content`, `a.path != "y"`)),
		regotest.Org(refusal(`input.args.path`, `input.tool.name == "file_write"`)),
		regotest.Org(refusal(`input.args.path`, `input.tool.name in {"file_write", "file_read"}`)),
		regotest.Org(refusal(`input.args.path`, `startswith(input.args.path, "x")`)),
		regotest.Org(refusal(`sprintf("%d of %s", [input.run.counts[input.tool.name], input.tool.name])`, `input.behavior == "x"`)),
		regotest.Org(refusal(`sprintf("%d", [input.run.counts.file_write])`, `input.behavior == "x"`)),
		regotest.Org(refusal(`data.ambit.declared.set`, `input.behavior == "x"`)),
	} {
		name := "w.rego"
		if text[:len("package ambit.p")] == "package ambit.p" {
			name = "o.rego"
		}
		assert.NoError(t, checkDir(regotest.Dir(name, text)), text)
	}
}

// What the body has ensured in any way is there, and what it has not may be absent.
func TestEntriesThatTheBodyEnsures(t *testing.T) {
	const helpers = "has_note if input.args.note\n\nnoted(a) if a.note\n\nkeyed(a, k) if k in object.keys(a)\n"
	check := func(entry, body string) error {
		text := regotest.Tool(refusal(entry, body))
		for line := range strings.SplitSeq(helpers, "\n\n") {
			if name, _, _ := strings.Cut(line, " if"); strings.Contains(body, strings.Split(name, "(")[0]) {
				text += line + "\n\n"
			}
		}
		return checkDir(regotest.Dir("w.rego", text))
	}
	for _, body := range []string{
		`"note" in object.keys(input.args)`,
		`object.keys(input.args)["note"]`,
		"some k in [\"note\"]\n\tk in object.keys(input.args)\n\tinput.args.note != k",
		"keys := object.keys(input.args)\n\t\"note\" in keys",
		`object.get(input.args, "note", "") == "x"`,
		`"x" == object.get(input.args, "note", "")`,
		`object.get(input.args, "note", "") != ""`,
		`object.get(input.args, "note", null) != null`,
		`object.get(input.args, ["note"], "") == "x"`,
		`object.get(input, ["args", "note"], "") == "x"`,
		`object.get(input.args, "note", "") in {"x", "y"}`,
		`startswith(object.get(input.args, "note", ""), "x")`,
		`lower(object.get(input.args, "note", "")) == "x"`,
		`regex.match("^x", object.get(input.args, "note", ""))`,
		`is_string(object.get(input.args, "note", null))`,
		`not is_null(object.get(input.args, "note", null))`,
		`not object.get(input.args, "note", "") in {"", "x"}`,
		"n := object.get(input.args, \"note\", \"\")\n\tn != \"\"",
		"a := input.args\n\ta.note == \"x\"",
		"k := \"note\"\n\tinput.args[k] == \"x\"",
		`some "note", _ in input.args`,
		`every n in [input.args.note] { n == "x" }`,
		"x := [input.args.note]\n\tx[0] != \"\"",
		`input.args.note == "x"`,
		`has_note`,
		`noted(input.args)`,
		`keyed(input.args, "note")`,
	} {
		assert.NoError(t, check(`input.args.note`, body), body)
		assert.NoError(t, check(`sprintf("%s", [upper(input.args.note)])`, body), body)
		assert.ErrorContains(t, check(`sprintf("%s %d", [input.args.note, input.args.bytes])`, body), "input.args.bytes may be absent", body)
	}
	for _, body := range []string{
		`"path" in object.keys(input.args)`,
		`"note" in object.keys(input.args.meta)`,
		`not "note" in object.keys(input.args)`,
		`object.get(input.args, "note", "x") == "x"`,
		`object.get(input.args, "note", "") != "x"`,
		`object.get(input.args, "note", "") in {"", "x"}`,
		`not object.get(input.args, "note", "") == "x"`,
		`object.get(input.args, "path", "") == "x"`,
		`not startswith(object.get(input.args, "note", ""), "x")`,
		`startswith(object.get(input.args, "note", ""), "")`,
		`is_string(object.get(input.args, "note", ""))`,
		`not has_note`,
		`count([n | n := input.args.note]) < 2`,
		`every n in object.get(input.args, "tags", []) { n == input.args.note }`,
	} {
		assert.ErrorContains(t, check(`input.args.note`, body), "input.args.note may be absent", body)
	}
	assert.NoError(t, check(`a.note`, "a := input.args\n\tinput.args.note == \"x\""))
	assert.NoError(t, check(`m`, "\"note\" in object.keys(input.args)\n\tm := upper(input.args.note)"))
	assert.ErrorContains(t, check(`m`, "\"path\" in object.keys(input.args)\n\tm := upper(input.args.note)"), "input.args.note may be absent")
	assert.NoError(t, check(`sprintf("%d", [input.args.shape.size])`, `"size" in object.keys(input.args.shape)`))
	assert.ErrorContains(t, check(`sprintf("%d", [input.args.shape.size])`, `"kind" in object.keys(input.args.shape)`), "input.args.shape.size may be absent")
}

// For what refuses or asks a default is proposed, and nothing that makes it vanish.
func TestHintsOfEntriesThatMayVanish(t *testing.T) {
	for rule, want := range map[string]string{
		`deny contains {"code": "too_big", "message": input.args.note} if ` + isX:                   "(use object.get with a default)",
		`ask contains {"id": "a", "message": input.args.note}`:                                      "(use object.get with a default)",
		`deny contains {"code": "too_big", "message": split(input.args.path, "/")[1]} if ` + isX:    "(use object.get with a default)",
		`deny contains {"code": "too_big", "message": name(1)} if ` + isX + "\n\nname(2) := \"a\"":  "(give the function a default)",
		`modify contains {"code": "a", "pointer": "/path", "value": input.args.note}`:               "(use object.get with a default, or require it in the rule's body)",
		`obligations contains {"code": "notify", "args": {"to": name(1)}}` + "\n\nname(2) := \"a\"": "(give the function a default, or require the call in the rule's body)",
		`allow contains {"code": "a", "message": input.args.note} if ` + isX:                        "(use object.get with a default, or require it in the rule's body)",
	} {
		err := checkDir(regotest.Dir("w.rego", regotest.Tool(rule)))
		assert.ErrorContains(t, err, want, rule)
	}
}
