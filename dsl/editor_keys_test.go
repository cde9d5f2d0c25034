package dsl

import (
	"bytes"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// values are tried as the value of every key.
var values = []string{
	`null`, `true`, `false`, `0`, `1`, `2`, `-1`, `1.5`, `1e2`, `12000`, `""`, `" "`, `x`, `a.b`, `A-1`, `"0"`, `0s`, `2s`, `5m`, `1h30m`, `64KiB`, `4 KiB`,
	`annotate`, `read`, `destructive`, `always`, `never`, `policy`, `exact`, `tool`, `v1`, `1.0.0`, `1.0.0-rc.1`, `text/plain`, `filetools`, `object`, `string`, `date`, `email`,
	`"^a$"`, `"#/types/Meta"`, `https://json-schema.org/draft/2020-12/schema`, `"http://json-schema.org/draft-07/schema#"`,
	`[]`, `[a]`, `[a, b]`, `[a, a]`, `[1]`, `[1, a, true, null]`, `[[a]]`, `[object]`, `[object, "null"]`, `[{type: object}]`,
	`{}`, `{a: b}`, `{a: [b]}`, `{a: {type: string, description: One.}}`, `{type: object}`, `{type: string}`, `{max: 1}`, `{max: 1, each: true}`, `{for: 0}`, `{for: 5s}`,
	`{tools: [a]}`, `{any: true, tools: [a, b]}`, `{ask: always}`, `{since: 1.0.0, message: Use b.}`, `{state: {type: object}}`, `{arg: a, values: [b]}`,
	`sandbox`, `process`, `loopback`, `json_lines`, `resource_exhausted`, `advisory`, `[/usr, $HOME]`, `{"1": ok}`, `{script: a}`, `{run: [a, {arg: b}, {literal: --, terminator: true}]}`,
	`{a: {version: 1.0.0, description: One., input: {type: object}, output: {type: object}}}`, `{key: [a], window: 1h}`, `{queue: 0, concurrency: 1}`, `{initial: 0}`, `{timeout: 5m}`, `{type: text/plain}`,
}

// TestEditorSchemaAcceptsWhatIsRead: a value of which the reader of a key reports nothing
// is one that the editor schema allows there.
func TestEditorSchemaAcceptsWhatIsRead(t *testing.T) {
	text, err := EditorSchema()
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("ambit.json", doc))
	l := newLevels()
	agree(t, c, l.file)
	agree(t, c, l.tool)
	agree(t, c, l.limits)
	agree(t, c, l.defaults)
	agree(t, c, l.defaultConsent)
	agree(t, c, l.retry)
	agree(t, c, l.idempotency)
	agree(t, c, l.consent)
	agree(t, c, l.undo)
	agree(t, c, l.artifact)
	agree(t, c, l.deprecated)
	agree(t, c, l.setRules)
	agree(t, c, l.rules)
	agree(t, c, l.maxCalls)
	agree(t, c, l.cooldown)
	agree(t, c, l.preceding)
	agree(t, c, l.operations)
	agree(t, c, l.schema)
	agree(t, c, l.command)
	agree(t, c, l.element)
	agree(t, c, l.shell)
	agree(t, c, l.exit)
	agree(t, c, l.memoryBound)
	agree(t, c, l.sizeBound)
	agree(t, c, l.countBound)
	agree(t, c, l.timeBound)
}

// later are keys of which Parse checks the value once the whole mapping, or the file, is
// known; their readers take more than Parse does.
var later = map[string]bool{"deprecated.use": true, "a schema.$ref": true, "a schema.enum": true, "a schema.multipleOf": true}

func agree[T any](t *testing.T, c *jsonschema.Compiler, l level[T]) {
	t.Helper()
	at := "ambit.json#"
	if l.def != "" {
		at += "/$defs/" + l.def
	}
	for _, k := range l.keys {
		schema, err := c.Compile(at + "/properties/" + k.name)
		require.NoError(t, err)
		taken := 0
		for _, value := range values {
			p := newTestParser()
			n := p.load([]byte("v: " + value + "\n")).pairs[0].val
			dst := new(T)
			switch dst := any(dst).(type) {
			case *schemaWork:
				*dst = schemaWork{Schema: new(Schema), root: new(schemaRoot), top: true, owner: "x", node: &node{kind: nodeMap}}
				dst.Composed = true
			case *Tool:
				dst.Idempotent, dst.Command = true, new(Command) // which retry and isolation need
			}
			k.read(p, n, dst)
			if l.def == "" && k.name == "defaults" { // which is read before the others
				walk(p, n, p.levels.defaults, "defaults", n.pos, &p.defaults)
			}
			for i := 0; i < len(p.checks); i++ {
				p.checks[i]()
			}
			if len(p.found) > 0 {
				continue
			}
			taken++
			if !later[l.what+"."+k.name] {
				assert.NoError(t, schema.Validate(n.plain()), "%s: %s: %s", l.what, k.name, value)
			}
		}
		assert.True(t, taken > 0 && (taken < len(values) || strings.Contains("default const", k.name)), "%s: %s reads %d of %d values", l.what, k.name, taken, len(values))
	}
}

// newTestParser returns a parser of a file that declares the tools a and b.
func newTestParser() *parser {
	return &parser{
		src: source{path: "x"}, file: new(File), levels: newLevels(), defaults: newDefaults(), enums: make(map[*Schema]map[string]bool),
		tools: map[string]*Tool{"a": {Name: "a"}, "b": {Name: "b"}},
	}
}
