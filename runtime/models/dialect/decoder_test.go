package dialect_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen"
	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/internal/importer"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/models/dialect"
	"github.com/ambit-tools/ambit/runtime/models/internal/samples"
)

// declared returns the tools of a declaration, with the decoders that generated code has.
func declared(t *testing.T, path string, text []byte) []*runtime.Tool {
	t.Helper()
	f, err := dsl.Parse(path, text, dsl.WithPatterns(gen.PatternFault))
	require.NoError(t, err, "%s", text)
	tools, err := dynamic.Tools(f, nil)
	require.NoError(t, err)
	return tools
}

// declarations returns the tools of the examples, of declarations made of the schemas of a public
// server, and of so many made ones. A schema that no declaration can say is left out.
func declarations(t *testing.T, made int) []*runtime.Tool {
	t.Helper()
	files, err := filepath.Glob("../../../examples/*/*/tools.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	var tools []*runtime.Tool
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		tools = append(tools, declared(t, file, text)...)
	}
	list, err := samples.Real()
	require.NoError(t, err)
	for _, s := range list {
		tools = append(tools, imported(t, s)...)
	}
	for seed := uint64(0); made > 0; seed++ {
		require.Less(t, seed, uint64(10_000), "few schemas can be declared")
		one := imported(t, samples.Random(seed))
		tools, made = append(tools, one...), made-len(one)
	}
	for seed := range max(60, battery.Count(t, 60, 300)) {
		tools = append(tools, imported(t, samples.Complete(uint64(seed)))...)
	}
	return tools
}

// imported returns the tool of a declaration that is made of a schema, if one can say it.
func imported(t *testing.T, s samples.Sample) []*runtime.Tool {
	t.Helper()
	list, err := json.Marshal(map[string]any{"tools": []any{map[string]any{"name": s.Name, "description": "Does it.", "inputSchema": s.Schema}}})
	require.NoError(t, err)
	r, err := importer.MCP(list, importer.Options{Package: "made", Path: "tools.yaml"})
	require.NoError(t, err, s.Name)
	if r.Text == nil {
		return nil
	}
	return declared(t, "tools.yaml", r.Text)
}

// TestNotesNameWhatTheDecoderRefuses: when a tool refuses a value that a dialect allows, a note names each
// keyword that the value breaks, at its place, as an independent validator finds them in the published schema.
func TestNotesNameWhatTheDecoderRefuses(t *testing.T) {
	tried, refused := 0, map[string]int{}
	for i, tool := range declarations(t, max(40, battery.Count(t, 40, 200))) {
		text := []byte(*tool.Spec().InputSchema)
		published := compile(t, text)
		for _, d := range append([]dialect.Dialect{dialect.JSONSchema}, everyDialect...) {
			s, err := dialect.Rewrite(text, d)
			require.NoError(t, err)
			rewritten := compile(t, s.JSON)
			for _, input := range written(t, s, rand.New(rand.NewPCG(uint64(i), uint64(d)))) {
				if rewritten.Validate(parsed(t, input)) != nil {
					continue
				}
				tried++
				input = s.Restore(input)
				_, violations := tool.Decode(input)
				if len(violations) == 0 {
					continue
				}
				for _, v := range violations {
					refused[v.Keyword]++
				}
				var broken *jsonschema.ValidationError
				require.ErrorAs(t, published.Validate(parsed(t, input)), &broken, "%s: %s: %v", tool.Name(), input, violations)
				require.True(t, named(broken, s.Notes), "%s in %v allows %s: %v\n%s\n%s\nnotes %v", tool.Name(), d, input, violations, text, s.JSON, s.Notes)
			}
		}
	}
	t.Logf("%d values, refused for %v", tried, refused)
	require.Greater(t, tried, 1_000)
	for _, keyword := range []string{"maxLength", "pattern", "minimum", "multipleOf", "maxItems", "anyOf", "not"} {
		require.Positive(t, refused[keyword], keyword)
	}
}

// rootUnion returns a declared input that has members of its own beside a union, and a value of each alternative.
func rootUnion(r *rand.Rand) (input string, values []string) {
	own, must, value := `s: {type: string, description: S.}`, `[]`, ``
	if r.IntN(2) == 0 {
		must, value = `[s]`, `"s":"x",`
	}
	keyword := []string{"oneOf", "anyOf"}[r.IntN(2)]
	typed := []string{"", "type: object, ", "type: object, additionalProperties: true, "}[r.IntN(3)]
	var branches []string
	for i := range 2 + r.IntN(3) {
		members, required, has := fmt.Sprintf(`k: {const: v%d, description: K.}`, i), `k`, fmt.Sprintf(`"k":"v%d"`, i)
		if keyword == "anyOf" && r.IntN(2) == 0 { // no tag
			members, required, has = fmt.Sprintf(`k%d: {type: string, description: K.}`, i), fmt.Sprint("k", i), fmt.Sprintf(`"k%d":"a"`, i)
		}
		for n := range r.IntN(3) {
			name := fmt.Sprint("m", i+n) // the next alternative may have it too
			members += `, ` + name + `: {type: integer, description: M.}`
			if r.IntN(2) == 0 {
				required += `, ` + name
				has += fmt.Sprintf(`,%q:1`, name)
			} else if r.IntN(2) == 0 {
				has += fmt.Sprintf(`,%q:2`, name)
			}
		}
		branches = append(branches, `{`+typed+`properties: {`+members+`}, required: [`+required+`]}`)
		values = append(values, `{`+value+has+`}`)
	}
	union := keyword + `: [` + strings.Join(branches, `, `) + `]`
	if r.IntN(3) == 0 {
		return `{type: object, allOf: [{properties: {` + own + `}, required: ` + must + `}, {` + union + `}], unevaluatedProperties: false}`, values
	}
	return `{type: object, properties: {` + own + `}, required: ` + must + `, ` + union + `, unevaluatedProperties: false}`, values
}

// TestDeclaredRootUnionsAllowWhatTheyTake: an object with members beside a union, which unevaluatedProperties closes, takes
// a value of each alternative, and so do the schema that is published and what it is rewritten to.
func TestDeclaredRootUnionsAllowWhatTheyTake(t *testing.T) {
	strict := map[dialect.Dialect]int{}
	for seed := range uint64(max(40, battery.Count(t, 40, 1_000))) {
		input, values := rootUnion(rand.New(rand.NewPCG(seed, 11)))
		tool := declared(t, "tools.yaml", []byte("ambit: v1\npackage: made\ntools:\n  t:\n    version: 1.0.0\n    description: Does it.\n    effect: read\n"+
			"    input: "+input+"\n    output: {type: object, properties: {}}\n"))[0]
		text := []byte(*tool.Spec().InputSchema)
		published := compile(t, text)
		for _, value := range values {
			_, violations := tool.Decode([]byte(value))
			require.Empty(t, violations, "%s\n%s", input, value)
			require.NoError(t, published.Validate(parsed(t, []byte(value))), "%s\n%s", input, text)
		}
		for _, d := range everyDialect {
			s, err := dialect.Rewrite(text, d)
			require.NoError(t, err)
			rewritten := compile(t, s.JSON)
			var members struct{ Properties map[string]json.RawMessage }
			require.NoError(t, json.Unmarshal(s.JSON, &members))
			if s.Strict {
				strict[d]++
			}
			for _, value := range values {
				full := value
				for name := range members.Properties {
					if s.Strict && d == dialect.OpenAIStrict && !strings.Contains(value, fmt.Sprintf("%q:", name)) {
						full = strings.TrimSuffix(full, "}") + fmt.Sprintf(`,%q:null}`, name)
					}
				}
				require.NoError(t, rewritten.Validate(parsed(t, []byte(full))), "%v\n%s\n%s", d, input, s.JSON)
				assert.JSONEq(t, value, string(s.Restore([]byte(full))), "%v\n%s", d, s.JSON)
			}
		}
	}
	require.Greater(t, strict[dialect.OpenAIStrict], 10)
	require.Greater(t, strict[dialect.AnthropicStrict], 10)
}
