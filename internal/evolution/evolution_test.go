package evolution_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/internal/evolution"
)

const frame = `ambit: v1
package: shop
tools:
  buy:
    version: %s
    description: Buy something.
    input: {type: object, properties: {a: {description: A., %s}, z: {type: string, description: Z.}}}
    output: {type: object, properties: {a: {description: A., %s}}}
`

func parse(t *testing.T, version, schema string) *dsl.File {
	t.Helper()
	f, err := dsl.Parse("tools.yaml", fmt.Appendf(nil, frame, version, schema, schema))
	require.NoError(t, err, schema)
	return f
}

// TestNarrowerAndWider: a narrower input breaks callers and a wider output does, whatever
// says so; the way back does the opposite.
func TestNarrowerAndWider(t *testing.T) {
	for _, c := range []struct{ wide, narrow string }{
		{`type: string`, `type: string, maxLength: 3`},
		{`type: string, minLength: 1`, `type: string, minLength: 2`},
		{`type: string`, `type: string, pattern: a`},
		{`type: string`, `type: string, format: date`},
		{`type: string`, `type: string, enum: [x]`},
		{`type: string, enum: [x, y]`, `type: string, const: x`},
		{`type: [string, "null"]`, `type: string`},
		{`type: number`, `type: integer`},
		{`type: number, minimum: 1`, `type: number, minimum: 1.5`},
		{`type: number, exclusiveMaximum: 2`, `type: number, exclusiveMaximum: 1`},
		{`type: number`, `type: number, multipleOf: 2`},
		{`type: array`, `type: array, items: {type: string}`},
		{`type: integer, minimum: 1, maximum: 3`, `type: integer, enum: [1, 2]`},
		{`type: array, items: {type: string}`, `type: array, items: {type: string}, uniqueItems: true`},
		{`type: array, items: {type: string}, maxItems: 4`, `type: array, items: {type: string}, maxItems: 3`},
		{`type: array, items: {type: string}`, `type: array, items: {type: string, minLength: 1}`},
		{`type: object, properties: {b: {type: string, description: B.}}`, `type: object, properties: {b: {type: string, description: B.}}, required: [b]`},
		{`type: object, additionalProperties: true`, `type: object, properties: {}`},
		{`type: object, additionalProperties: true`, `type: object, additionalProperties: {type: string}`},
		{`type: object, properties: {b: {type: string, description: B.}}`, `type: object, properties: {}`},
		{`type: object, additionalProperties: {type: string}`, `type: object, additionalProperties: {type: string, minLength: 1}`},
	} {
		t.Run(c.narrow, func(t *testing.T) {
			wide, narrow := parse(t, "1.2.0", c.wide), parse(t, "1.3.0", c.narrow)
			narrowed := said(evolution.Compare(wide, narrow))
			assert.Contains(t, narrowed, "callers: input")
			assert.Contains(t, narrowed, "handlers: output")
			assert.NotContains(t, narrowed, "callers: output")
			widened := said(evolution.Compare(narrow, wide))
			assert.Contains(t, widened, "callers: output")
			assert.NotContains(t, widened, "callers: input")
			assert.Empty(t, evolution.Compare(wide, wide))
			assert.Empty(t, evolution.Compare(narrow, narrow))
			for _, b := range evolution.Compare(wide, parse(t, "2.0.0", c.narrow)) {
				assert.True(t, b.Allowed, "%+v", b)
			}
			for _, b := range evolution.Compare(wide, narrow) {
				assert.False(t, b.Allowed, "%+v", b)
				assert.Contains(t, b.Hint, "2.0.0")
			}
		})
	}
}

// TestSameValues: what takes the same values in other words breaks no caller.
func TestSameValues(t *testing.T) {
	for _, c := range [][2]string{
		{`type: array`, `type: array, items: {}`},
		{`type: array`, `type: array, items: true`},
		{`type: integer, enum: [1, 2, 3]`, `type: integer, minimum: 1, maximum: 3`},
		{`type: string, enum: [aa]`, `type: string, enum: [aa], minLength: 2`},
		{`type: string, enum: [aa]`, `type: string, enum: [aa], maxLength: 2`},
	} {
		assert.NotContains(t, said(evolution.Compare(parse(t, "1.2.0", c[0]), parse(t, "1.3.0", c[1]))), "callers: input", c[1])
	}
	for _, c := range [][2]string{
		{`type: integer, enum: [1, 2, 3]`, `type: integer, minimum: 1, maximum: 2`},
		{`type: string, enum: [aa]`, `type: string, minLength: 3`},
	} {
		assert.Contains(t, said(evolution.Compare(parse(t, "1.2.0", c[0]), parse(t, "1.3.0", c[1]))), "callers: input", c[1])
	}
}

// TestCheckedKeywords: keywords for which Go has no type are compared where that can be decided;
// where it cannot, the change is both narrower and wider, and says so.
func TestCheckedKeywords(t *testing.T) {
	for _, c := range []struct{ wide, narrow string }{
		{`enum: [1, a, [x]]`, `enum: [1, a]`},
		{`anyOf: [{type: string}, {type: string, maxLength: 3}]`, `anyOf: [{type: string, maxLength: 2}, {type: string, maxLength: 3}]`},
		{`anyOf: [{type: string}, {type: integer}]`, `type: string`},
		{`anyOf: [{type: string}, {type: integer}, {type: boolean}]`, `anyOf: [{type: string}, {type: integer}]`},
		{`anyOf: [{type: string}, {type: integer}]`, `anyOf: [{type: string}, {type: integer, minimum: 1}]`},
		{`anyOf: [{type: string}, {type: "null"}]`, `type: string`},
		{`anyOf: [{type: string}, {type: "null"}]`, `anyOf: [{type: string, minLength: 1}, {type: "null"}]`},
		{`type: [string, integer]`, `type: [string]`},
		{`not: {const: 1}`, `not: {enum: [1, 2]}`},
		{`title: Any`, `type: string`},
		{`type: object, additionalProperties: true, patternProperties: {"^x": {type: number}}`, `type: object, additionalProperties: true, patternProperties: {"^x": {type: integer}}`},
		{`type: array, items: {type: string}, contains: {minLength: 1}`, `type: array, items: {type: string}, contains: {minLength: 2}`},
		{`type: object, properties: {b: {type: string, description: B.}, c: {type: string, description: C.}}`, `type: object, properties: {b: {type: string, description: B.}, c: {type: string, description: C.}}, dependentRequired: {b: [c]}`},
		{`type: object, properties: {b: {type: string, description: B.}}, unevaluatedProperties: {type: number}`, `type: object, properties: {b: {type: string, description: B.}}, unevaluatedProperties: false`},
	} {
		t.Run(c.narrow, func(t *testing.T) {
			wide, narrow := parse(t, "1.2.0", c.wide), parse(t, "1.3.0", c.narrow)
			narrowed, widened := said(evolution.Compare(wide, narrow)), said(evolution.Compare(narrow, wide))
			assert.Contains(t, narrowed, "callers: input")
			assert.NotContains(t, narrowed, "callers: output")
			assert.Contains(t, widened, "callers: output")
			assert.NotContains(t, widened, "callers: input")
			assert.Empty(t, evolution.Compare(wide, wide))
			assert.Empty(t, evolution.Compare(narrow, narrow))
		})
	}
	breaks := evolution.Compare(parse(t, "1.0.0", `anyOf: [{pattern: a}, {type: integer}]`), parse(t, "1.0.0", `anyOf: [{pattern: b}, {type: integer}]`))
	text := said(breaks)
	assert.Contains(t, text, "callers: input")
	assert.Contains(t, text, "callers: output")
	assert.Equal(t, "input: /a: whether the same values are taken cannot be told from pattern: treated as breaking", breaks[0].Text)
	assert.Equal(t, 7, breaks[0].Pos.Line)
	assert.Contains(t, said(evolution.Compare(parse(t, "1.0.0", `type: string`), parse(t, "1.0.0", `anyOf: [{type: string}, {type: integer}]`))), "handlers: input", "the type in Go is another")
}

// said is who is concerned, with the part of the tool.
func said(breaks []evolution.Break) string {
	var b strings.Builder
	for _, x := range breaks {
		part, _, _ := strings.Cut(x.Text, ":")
		for _, who := range x.For {
			fmt.Fprintf(&b, "%s: %s\n", who, part)
		}
	}
	return b.String()
}

// TestUnions compares branches by their tag, and recursive schemas without end.
func TestUnions(t *testing.T) {
	branch := func(tag, member string) string {
		return `{type: object, required: [kind], properties: {kind: {type: string, const: ` + tag + `, description: K.}` + member + `}}`
	}
	was := parse(t, "1.0.0", `oneOf: [`+branch("x", "")+`, `+branch("y", "")+`]`)
	more := parse(t, "1.0.0", `oneOf: [`+branch("y", `, m: {type: string, description: M.}`)+`, `+branch("x", "")+`, `+branch("z", "")+`]`)
	assert.NotContains(t, said(evolution.Compare(was, more)), "callers: input")
	assert.Contains(t, said(evolution.Compare(was, more)), "callers: output")
	assert.Contains(t, said(evolution.Compare(more, was)), "callers: input")
	assert.Contains(t, said(evolution.Compare(was, parse(t, "1.0.0", `type: string`))), "callers: input")

	tree := func(max int) *dsl.File {
		f, err := dsl.Parse("tools.yaml", fmt.Appendf(nil, `ambit: v1
package: shop
types:
  Tree: {type: object, description: T., properties: {name: {type: string, maxLength: %d, description: N.}, down: {type: array, description: D., items: {$ref: "#/types/Tree"}}}}
tools:
  buy: {version: 1.0.0, description: Buy., input: {$ref: "#/types/Tree"}, output: {type: object, properties: {}}}
`, max))
		require.NoError(t, err)
		return f
	}
	assert.Empty(t, evolution.Compare(tree(8), tree(8)))
	breaks := evolution.Compare(tree(8), tree(7))
	require.Len(t, breaks, 1)
	assert.Equal(t, "input: /name: maxLength was 8 and is 7", breaks[0].Text)
	assert.Equal(t, 4, breaks[0].Pos.Line)
}

// TestRemoval: a tool goes two minor versions after it was deprecated, or under another name.
func TestRemoval(t *testing.T) {
	file := func(tools string) *dsl.File {
		f, err := dsl.Parse("tools.yaml", []byte("ambit: v1\npackage: shop\ntools:\n"+tools), nil...)
		require.NoError(t, err)
		return f
	}
	const end = ", description: D., input: {type: object, properties: {}}, output: {type: object, properties: {}}}\n"
	left := file("  other: {version: 1.0.0" + end)
	for version, allowed := range map[string]bool{"1.2.0": false, "1.3.0": false, "1.4.0": true, "2.0.0": true} {
		breaks := evolution.Compare(file("  other: {version: 1.0.0"+end+"  old: {version: "+version+", deprecated: {since: 1.2.0, message: Use other.}"+end), left)
		require.Len(t, breaks, 1)
		assert.Equal(t, allowed, breaks[0].Allowed, version)
		assert.Equal(t, 3, breaks[0].Pos.Line, "the key tools: no tool that is left has to do with it")
	}
	for version, allowed := range map[string]bool{"1.9.0": false, "2.0.0": true, "3.1.0": true} {
		in := "4.0.0"
		if version < "2.9" {
			in = "3.0.0"
		}
		breaks := evolution.Compare(file("  other: {version: 1.0.0"+end+"  old: {version: "+version+", deprecated: {since: 1.2.0, message: Use other., remove_in: "+in+"}"+end), left)
		require.Len(t, breaks, 1)
		assert.Equal(t, allowed, breaks[0].Allowed, version)
		if !allowed {
			assert.Equal(t, "remove it once its version is 2.0.0 or later", breaks[0].Hint)
		}
	}
	breaks := evolution.Compare(file("  old: {version: 1.0.0"+end), left)
	require.Len(t, breaks, 1)
	assert.False(t, breaks[0].Allowed)
	renamed := evolution.Compare(file("  old: {version: 1.0.0, alias: Old"+end), file("  other: {version: 2.0.0, renamed_from: [old]"+end))
	assert.Equal(t, "policies: tool \"old\" is now \"other\"\nhandlers: tool \"old\" is now \"other\"\ncallers: the alias \"Old\" names no tool any more\n", said(renamed))
}

// TestForWhom: who is concerned by each kind of change.
func TestForWhom(t *testing.T) {
	const tool = `ambit: v1
package: shop
%s
tools:
  buy:
    version: 1.0.0
    description: Buy something.
    effect: %s
%s
    input: {type: object, properties: {a: {type: string, description: A.%s}%s}}
    output: {type: object, properties: {b: {type: string, description: B.%s}}}
    undo: {state: {type: object, properties: {c: {type: string, description: C.%s}}}}
`
	file := func(reasons, effect, keys, a, more, b, c string) *dsl.File {
		f, err := dsl.Parse("tools.yaml", fmt.Appendf(nil, tool, reasons, effect, keys, a, more, b, c))
		require.NoError(t, err)
		return f
	}
	const reasons, keys, member = "reasons: {dear: Too dear.}", "    idempotent: true\n    alias: Buy", ", z: {type: integer, description: Z.}"
	was := file(reasons, "write", keys, "", member, "", "")
	for _, c := range []struct {
		what string
		now  *dsl.File
		want []string
	}{
		{"the input takes fewer values", file(reasons, "write", keys, ", maxLength: 3", member, "", ""), []string{evolution.Callers, evolution.Approvals, evolution.Journals}},
		{"a member is gone", file(reasons, "write", keys, "", "", "", ""), []string{evolution.Callers, evolution.Approvals, evolution.Journals, evolution.Handlers, evolution.Policies}},
		{"the output takes fewer values", file(reasons, "write", keys, "", member, ", maxLength: 3", ""), []string{evolution.Handlers, evolution.Undo}},
		{"the state takes fewer values", file(reasons, "write", keys, "", member, "", ", maxLength: 3"), []string{evolution.Undo}},
		{"the effect is worse", file(reasons, "destructive", keys, "", member, "", ""), []string{evolution.Policies, evolution.Callers}},
		{"a call may not be made again", file(reasons, "write", "    alias: Buy", "", member, "", ""), []string{evolution.Callers}},
		{"the alias is gone", file(reasons, "write", "    idempotent: true", "", member, "", ""), []string{evolution.Callers}},
		{"a reason is gone", file("", "write", keys, "", member, "", ""), []string{evolution.Policies, evolution.Callers}},
		{"the input takes more values", file(reasons, "write", keys, "", member+", y: {type: integer, description: Y.}", "", ""), nil},
	} {
		t.Run(c.what, func(t *testing.T) {
			var whom []string
			for _, b := range evolution.Compare(was, c.now) {
				whom = append(whom, b.For...)
			}
			assert.Equal(t, c.want, whom)
		})
	}
	wider := evolution.Compare(file(reasons, "write", keys, "", member, ", maxLength: 3", ""), was)
	require.Len(t, wider, 1)
	assert.Equal(t, []string{evolution.Callers}, wider[0].For, "the output takes more values")
	without, err := dsl.Parse("tools.yaml", []byte("ambit: v1\npackage: shop\nreasons: {dear: Too dear.}\ntools:\n  buy:\n    version: 1.0.0\n    description: Buy something.\n    effect: write\n"+keys+
		"\n    input: {type: object, properties: {a: {type: string, description: A.}"+member+"}}\n    output: {type: object, properties: {b: {type: string, description: B.}}}\n"))
	require.NoError(t, err)
	gone := evolution.Compare(was, without)
	require.Len(t, gone, 1)
	assert.Equal(t, []string{evolution.Undo}, gone[0].For, "undo is gone")
}
