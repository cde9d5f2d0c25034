package dialect_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/models/dialect"
)

// suiteFolder is the variable that names the folder of the official suite for JSON Schema.
const suiteFolder = "AMBIT_JSONSCHEMA_SUITE"

// everyDialect are the dialects that change a schema.
var everyDialect = []dialect.Dialect{dialect.OpenAI, dialect.OpenAIStrict, dialect.Anthropic, dialect.AnthropicStrict, dialect.Gemini}

// TestNotesOverTheSuite: every schema of the official suite, as a member of an input, is rewritten, and a
// note names each keyword that a value breaks which the dialect allows: of the suite's values, and of those that a
// model writes that is held to the dialect.
func TestNotesOverTheSuite(t *testing.T) {
	folder := os.Getenv(suiteFolder)
	if folder == "" {
		t.Skipf("%s names no folder", suiteFolder)
	}
	files, err := filepath.Glob(filepath.Join(folder, "tests", "draft2020-12", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	schemas, values, wider := 0, 0, 0
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		var groups []struct {
			Description string
			Schema      json.RawMessage
			Tests       []struct{ Data json.RawMessage }
		}
		require.NoError(t, json.Unmarshal(content, &groups))
		for i, g := range groups {
			schema, ok := asMember(g.Schema)
			if !ok {
				continue
			}
			published, err := compiled(schema)
			if err != nil {
				continue
			}
			schemas++
			for _, d := range everyDialect {
				s, err := dialect.Rewrite(schema, d)
				require.NoError(t, err)
				rewritten, err := compiled(s.JSON)
				require.NoError(t, err, "%s", s.JSON)
				var inputs [][]byte
				for _, v := range g.Tests {
					inputs = append(inputs, []byte(`{"e":`+string(v.Data)+`}`))
				}
				inputs = append(inputs, written(t, s, rand.New(rand.NewPCG(uint64(i), uint64(d))))...)
				for _, input := range inputs {
					if rewritten.Validate(parsed(t, input)) != nil {
						continue
					}
					values++
					restored := s.Restore(input)
					if err := published.Validate(parsed(t, restored)); err != nil {
						wider++
						if !named(err.(*jsonschema.ValidationError), s.Notes) {
							t.Errorf("%s: %s: %v allows %s, given out as %s: %v\n%s\n%s\nnotes %v", filepath.Base(file), g.Description, d, input, restored, err, schema, s.JSON, s.Notes)
						}
					}
				}
			}
		}
	}
	t.Logf("%d schemas, %d values, of which the published schemas refuse %d", schemas, values, wider)
	require.Greater(t, schemas, 300)
	require.Greater(t, wider, 500)
}

// asMember returns the schema of an input with a member that has a schema of the suite, whose local references it
// prefixes. It reports false for one that leads elsewhere.
func asMember(schema []byte) ([]byte, bool) {
	text := string(schema)
	if strings.Contains(text, "localhost") || strings.Contains(text, "$ref\": \"http") || strings.Contains(text, "$schema\": \"http://") {
		return nil, false
	}
	text = strings.ReplaceAll(text, `"#/`, `"#/properties/e/`)
	text = strings.ReplaceAll(text, `"$ref": "#"`, `"$ref": "#/properties/e"`)
	return []byte(`{"type":"object","properties":{"e":` + text + `},"required":["e"],"additionalProperties":false}`), true
}

func compiled(text []byte) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseRegexpEngine(func(s string) (jsonschema.Regexp, error) { return pattern(s), nil })
	if err := c.AddResource("tool.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("tool.json")
}
