package opa

import (
	"testing"

	"github.com/stretchr/testify/assert"
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
		{tool(refusal(`input.args.note`, isX)), "w.rego:3:46: input.args.note " + absent},
		{tool(refusal(`sprintf("%s", [input.args.note])`, isX)), "w.rego:3:61: input.args.note " + absent},
		{tool(refusal(`split(input.args.path, "/")[1]`, isX)), `w.rego:3:46: split(input.args.path, "/")[1] ` + absent},
		{tool(refusal(`input.args.tags[0]`, isX)), "input.args.tags[0] " + absent},
		{tool(refusal(`input.args.shape.size`, isX)), "input.args.shape.size " + absent},
		{tool(refusal(`sprintf("%d", [max([n | some n in [input.args.bytes]])])`, isX)), "max([n | some n in [input.args.bytes]]) " + undefined},
		{tool(refusal(`object.get(input.args.shape, "kind", "")`, isX)), "input.args.shape " + absent},
		{tool(refusal(`name(input.args.path)`, isX) + `name(p) := "a" if startswith(p, "x")`), `w.rego:3:46: name(input.args.path) ` + undefined},
		{tool(refusal(`name(input.args.path)`, isX) + `name(p) := split(p, "/")[1]`), `name(input.args.path) ` + undefined},
		{tool(refusal(`name(input.args.path)`, isX) + `name("x") := "a"`), `name(input.args.path) ` + undefined},
		{tool(refusal(`name(input.args.path)`, isX) + "name(p) := \"a\" if {\n\tstartswith(p, \"x\")\n} else := split(p, \"/\")[1]"), `name(input.args.path) ` + undefined},
		{tool(refusal(`texts.big`, isX) + `texts := {"big": "b"} if input.args.bytes > 1`), `texts.big ` + absent},
		{tool(refusal(`texts[input.args.path]`, isX) + `texts := {"big": "b"}`), `texts[input.args.path] ` + absent},
		{tool(refusal(`name`, isX) + `name := "a" if input.args.bytes > 1`), `w.rego:3:46: name ` + absent},
		{tool(refusal(`m`, isX+"\n\tm := sprintf(\"%s\", [input.args.note])")), "w.rego:5:22: input.args.note " + absent},
		{tool(refusal(`m`, isX+"\n\tn := split(input.args.path, \"/\")[1]\n\tm := concat(\" \", [\"not\", n])")), `w.rego:5:7: split(input.args.path, "/")[1] ` + absent},
		{tool(refusal(`m`, isX+"\n\tm := name(input.args.path)") + `name(p) := split(p, "/")[1]`), `w.rego:5:7: name(input.args.path) ` + undefined},
		{tool(refusal(`m`, isX+"\n\tm = input.args.note")), "w.rego:5:6: input.args.note " + absent},
		{tool(refusal(`m`, isX+"\n\tsome m\n\tinput.args.note = m")), "w.rego:6:2: input.args.note " + absent},
		{tool(refusal(`m`, isX+"\n\t[_, m] := split(input.args.path, \"/\")")), `w.rego:5:12: split(input.args.path, "/")[1] ` + absent},
		{tool(refusal(`sprintf("%s", [a.note])`, "a := input.args\n\ta.path == \"x\"")), "a.note " + absent},
		{tool(refusal(`sprintf("%s", [i.name])`, "some i in input.args.items")), "i.name " + absent},
		{tool(refusal(`input.args.note`, `not input.args.note == "x"`)), "w.rego:3:46: input.args.note " + absent},
		{tool(refusal(`input.args.note`, `count([n | n := input.args.note]) == 0`)), "w.rego:3:46: input.args.note " + absent},
		{org(refusal(`input.args.path`, `input.behavior == "x"`)), "o.rego:3:46: input.args.path " + absent},
		{org(refusal(`input.args.content`, `input.tool.name in {"file_write", "file_read"}`)), "o.rego:3:46: input.args.content " + absent},
		{org(refusal(`data.ambit.declared.tools[input.tool.name].consent.message`, `input.behavior == "x"`)), `consent.message ` + absent},
		{tool(`ask contains {"id": "a", "message": input.args.note}`), "input.args.note " + absent},
		{tool(`modify contains {"code": "a", "pointer": "/path", "value": input.args.note}`), "input.args.note " + absent},
		{tool(`obligations contains {"code": "notify", "args": {"to": input.args.note}}`), "input.args.note " + absent},
	} {
		name := "w.rego"
		if test.text[:len("package ambit.p")] == "package ambit.p" {
			name = "o.rego"
		}
		assert.ErrorContains(t, checkDir(dir(name, test.text)), test.want, test.text)
	}
}

func TestEntriesThatStay(t *testing.T) {
	for _, text := range []string{
		tool(refusal(`input.args.path`, isX)),
		tool(refusal(`sprintf("%s %d", [upper(input.args.path), input.args.tries])`, isX)),
		tool(refusal(`sprintf("%s", [input.args.meta.owner])`, isX)),
		tool(refusal(`input.args.shape.kind`, `input.args.shape`)),
		tool(refusal(`input.args.note`, `input.args.note != "x"`)),
		tool(refusal(`input.args.tags[0]`, `startswith(input.args.tags[0], "x")`)),
		tool(refusal(`object.get(input.args, "note", "")`, isX)),
		tool(refusal(`sprintf("%d", [count([t | some t in input.args.tags; t != "x"])])`, isX)),
		tool(refusal(`sprintf("%v", [{t | t := input.args.note}])`, isX)),
		tool(refusal(`$"about {input.args.note}"`, isX)),
		tool(refusal(`name(input.args.path)`, isX) + "default name(_) := \"\"\n\nname(p) := split(p, \"/\")[1]"),
		tool(refusal(`name(input.args.path)`, isX) + `name(p) := concat("", ["a", p])`),
		tool(refusal(`name(input.args.path)`, isX) + "name(p) := \"a\" if {\n\tstartswith(p, \"x\")\n} else := p"),
		tool(refusal(`name(input.args.path)`, `name(input.args.path) != "x"`) + `name(p) := split(p, "/")[1]`),
		tool(refusal(`name`, isX) + "default name := \"\"\n\nname := \"a\" if input.args.bytes > 1"),
		tool(refusal(`sprintf("%v", [names])`, isX) + "names contains n if n := input.args.note"),
		tool(refusal(`limit`, isX) + `limit := "9"`),
		tool(refusal(`sprintf("%d", [max([count(input.args.path), 3])])`, isX)),
		tool(refusal(`texts.big`, isX) + `texts := {"big": "too big", "small": "too small"}`),
		tool(refusal(`sprintf("%s", [texts.of.big])`, isX) + `texts := {"of": {"big": "too big"}}`),
		tool(refusal(`m`, isX+"\n\tm := sprintf(\"%s\", [object.get(input.args, \"note\", \"\")])")),
		tool(refusal(`m`, "m := input.args.note\n\tm != \"x\"")),
		tool(refusal(`m`, "n := input.args.note\n\tn != \"x\"\n\tm := upper(n)")),
		tool(refusal(`sprintf("%s", [i.name])`, "some i in input.args.items\n\ti.name != \"x\"")),
		tool(refusal(`limit`, "limit = input.args.note") + `limit := "9"`),
		tool(refusal(`m`, "[first, m] := split(input.args.path, \"/\")\n\tfirst == \"x\"")),
		tool(refusal(`t`, "some t in input.args.tags\n\tt != \"x\"")),
		tool("import input.args as a\n\n" + refusal(`a.path`, `a.path != "x"`) + refusal(`a.content`, `a.path != "y"`)),
		org(refusal(`input.args.path`, `input.tool.name == "file_write"`)),
		org(refusal(`input.args.path`, `input.tool.name in {"file_write", "file_read"}`)),
		org(refusal(`input.args.path`, `startswith(input.args.path, "x")`)),
		org(refusal(`sprintf("%d of %s", [input.run.counts[input.tool.name], input.tool.name])`, `input.behavior == "x"`)),
		org(refusal(`sprintf("%d", [input.run.counts.file_write])`, `input.behavior == "x"`)),
		org(refusal(`data.ambit.declared.set`, `input.behavior == "x"`)),
	} {
		name := "w.rego"
		if text[:len("package ambit.p")] == "package ambit.p" {
			name = "o.rego"
		}
		assert.NoError(t, checkDir(dir(name, text)), text)
	}
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
		err := checkDir(dir("w.rego", tool(rule)))
		assert.ErrorContains(t, err, want, rule)
	}
}
