package lint

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/internal/rego/regotest"
)

// helper is a package that is not part of the decision itself.
func helper(body string) string { return "package lib.paths\n\nimport rego.v1\n\n" + body + "\n" }

const useSecret = "import data.lib.paths\n\ndeny contains " + entryM + " if paths.secret"

// Load finds a misspelt member everywhere: it would be undefined, and a denial would
// not apply.
func TestMisspeltMembers(t *testing.T) {
	for _, test := range []struct{ name, file, text, want string }{
		{"in a helper", "lib.rego", helper(`secret if startswith(input.args.pth, "x")`), `lib.rego:5:33: input.args has no member "pth", whatever the tool (did you mean "path"?)`},
		{"in a helper, by another name", "lib.rego", helper("secret if {\n\ta := input.args\n\tstartswith(a.pth, \"x\")\n}"), `has no member "pth", whatever the tool`},
		{"in a helper, by a constant", "lib.rego", helper("k := \"pth\"\n\nsecret if startswith(input.args[k], \"x\")"), `lib.rego:7:33: input.args has no member "pth"`},
		{"in a helper, of an element", "lib.rego", helper("secret if {\n\tsome item in input.args.items\n\titem.nme == \"x\"\n}"), `lib.rego:7:7: input.args.items[_] has no member "nme" (did you mean "name"?)`},
		{"in a helper, of every element", "lib.rego", helper("secret if every item in input.args.items { item.nme == \"x\" }"), `has no member "nme"`},
		{"in a rule that is the arguments", "lib.rego", helper("args := input.args\n\nsecret if startswith(args.pth, \"x\")"), `has no member "pth", whatever the tool`},
		{"in a helper, of a union", "lib.rego", helper("secret if input.args.shape.sze > 1"), `lib.rego:5:28: input.args.shape has no member "sze" (did you mean "size"?)`},
		{"in an organisation's package", "o.rego", regotest.Org("deny contains " + entryM + " if {\n\tk := \"pth\"\n\tinput.args[k] == \"x\"\n}"), `o.rego:5:13: input.args has no member "pth"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			pairs := []string{test.file, test.text}
			if test.file == "lib.rego" {
				pairs = append(pairs, "w.rego", regotest.Tool(useSecret))
			}
			assert.ErrorContains(t, checkDir(regotest.Dir(pairs...)), test.want)
		})
	}
}

func TestMisspeltMembersOfParameters(t *testing.T) {
	rule := func(condition string) string { return "deny contains " + entryM + " if " + condition + "\n\n" }
	for _, test := range []struct{ name, text, want string }{
		{"arguments", rule(`secret(input.args)`) + `secret(args) if startswith(args.pth, "x")`,
			`w.rego:5:33: input.args has no member "pth" (did you mean "path"?)`},
		{"input", rule(`secret(input)`) + `secret(i) if startswith(i.args.pth, "x")`, `w.rego:5:32: input.args has no member "pth" (did you mean "path"?)`},
		{"part of the arguments", rule(`secret(input.args.meta)`) + `secret(m) if m.ownr == "x"`, `w.rego:5:16: input.args.meta has no member "ownr" (did you mean "owner"?)`},
		{"by another name", rule("{\n\ta := input.args\n\tsecret(a)\n}") + "secret(args) if {\n\tb := args\n\tb.pth == \"x\"\n}", `input.args has no member "pth" (did you mean "path"?)`},
		{"through a function", rule(`secret(input.args)`) + "secret(args) if hidden(args, 1)\n\nhidden(a, 1) if a.pth == \"x\"", `w.rego:7:19: input.args has no member "pth"`},
		{"object.get", rule(`secret(input.args)`) + `secret(args) if object.get(args, "pth", "") == "x"`, `w.rego:5:34: input.args has no member "pth"`},
		{"object.get by a path", rule(`secret(input.args)`) + `secret(args) if object.get(args, ["meta", "ownr"], "") == "x"`, `input.args.meta has no member "ownr"`},
		{"constant index", rule(`secret(input.args)`) + "secret(args) if {\n\tk := \"pth\"\n\targs[k] == \"x\"\n}", `w.rego:7:7: input.args has no member "pth"`},
		{"one of some constants", rule(`secret(input.args)`) + "secret(args) if {\n\tsome k in [\"path\", \"pth\"]\n\targs[k] == \"x\"\n}", `w.rego:7:7: input.args has no member "pth"`},
		{"constant that is passed", rule(`secret(input, "args", "pth")`) + `secret(i, a, b) if i[a][b] == "x"`, `w.rego:5:25: input.args has no member "pth"`},
		{"inside a new object", rule(`secret({"a": input.args, "b": 1})`) + `secret(x) if x.a.pth == "x"`, `w.rego:5:18: input.args has no member "pth"`},
		{"inside different objects", rule(`secret({"a": input.args})`) + rule(`secret({"a": input.args.meta})`) + `secret(x) if x.a.path == "x"`,
			`w.rego:7:16: x is a new object or another one, and nothing tells whether it has the member "a"`},
		{"negated", rule(`not secret(input.args)`) + `secret(args) if startswith(args.pth, "x")`, `input.args has no member "pth"`},
		{"in the entry", `deny contains {"code": "too_big", "message": name(input.args)}` + "\n\ndefault name(_) := \"x\"\n\nname(args) := args.pth", `input.args has no member "pth"`},
		{"different parts", rule(`secret(input.args)`) + rule(`secret(input.args.meta)`) + `secret(x) if x.path == "x"`,
			`w.rego:7:16: x is input.args or input.args.meta, and nothing tells whether it has the member "path" (pass the function the members that it needs, not what they belong to)`},
		{"not only the input", rule(`secret(input.args)`) + rule(`secret({"path": "x"})`) + `secret(x) if x.path == "x"`,
			`x is input.args or something else, and nothing tells whether it has the member "path"`},
		{"not only the input, through a function", rule(`secret(input.args)`) + rule(`secret({"path": "x"})`) + "secret(x) if hidden(x)\n\nhidden(y) if y.path == \"x\"",
			`w.rego:9:16: y is input.args or something else`},
	} {
		t.Run(test.name, func(t *testing.T) {
			assert.ErrorContains(t, checkDir(regotest.Dir("w.rego", regotest.Tool(test.text))), test.want)
		})
	}
}

// An argument that some tool has, what a function makes of scalars, and what
// nothing is declared about are all right.
func TestPartsThatAreRight(t *testing.T) {
	rule := func(condition string) string { return "deny contains " + entryM + " if " + condition + "\n\n" }
	for _, text := range []string{
		rule(`secret(input.args)`) + `secret(args) if startswith(args.path, "x")`,
		rule(`secret(input.args.path)`) + rule(`secret(input.args.content)`) + `secret(s) if startswith(s, "x")`,
		rule(`secret(input.args.tags)`) + rule(`secret(["a"])`) + `secret(s) if s[_] == "x"`,
		rule(`secret({"a": input.args, "b": 1})`) + `secret(x) if x.a.path == "x"`,
		rule(`secret({"path": input.args.path})`) + `secret(x) if x.path == "y"`,
		rule(`secret(input.args)`) + "secret(args) if {\n\tsome k in [\"path\", \"content\"]\n\tstartswith(args[k], \"x\")\n}",
		rule(`secret(input.args, "path")`) + `secret(args, k) if startswith(args[k], "x")`,
		rule(`secret(input.args)`) + rule(`secret(input.args.meta)`) + `secret(x) if count(x) > 9`,
	} {
		assert.NoError(t, checkDir(regotest.Dir("w.rego", regotest.Tool(text))), text)
	}
	secret := helper("secret if {\n\tstartswith(input.args.query, \"x\")\n}\n\nbelow(args) if startswith(args.path, \"x\")\n\n" +
		"below(args) if startswith(args.query, \"x\")")
	assert.NoError(t, checkDir(regotest.Dir("lib.rego", secret, "w.rego", regotest.Tool(useSecret),
		"o.rego", regotest.Org("import data.lib.paths\n\ndeny contains "+entryM+" if paths.below(input.args)"))))
}
