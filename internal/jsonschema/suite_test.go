package jsonschema_test

import (
	"encoding/json"
	"errors"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	oracle "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/jsonschema"
)

// counting counts the members that were looked at.
type counting struct {
	jsonschema.Values
	members int
}

// Members implements jsonschema.Tree.
func (c *counting) Members(v *jsonschema.Value) iter.Seq2[string, *jsonschema.Value] {
	return func(yield func(string, *jsonschema.Value) bool) {
		for name, m := range c.Values.Members(v) {
			if c.members++; !yield(name, m) {
				return
			}
		}
	}
}

// suiteFolder is the variable that names the folder of the official suite for JSON Schema.
const suiteFolder = "AMBIT_JSONSCHEMA_SUITE"

// TestOfficialSuite writes the references of the schemas of the official suite as pointers to what they lead to, without
// any $id or anchor, and asks a validator of other hands for the verdicts of the suite.
func TestOfficialSuite(t *testing.T) {
	folder := os.Getenv(suiteFolder)
	if folder == "" {
		t.Skipf("%s names no folder", suiteFolder)
	}
	files, err := filepath.Glob(filepath.Join(folder, "tests", "draft2020-12", "*.json"))
	require.NoError(t, err)
	for _, name := range []string{"anchor", "id", "refOfUnknownKeyword", "unknownKeyword"} {
		files = append(files, filepath.Join(folder, "tests", "draft2020-12", "optional", name+".json"))
	}
	schemas, refs, values := 0, 0, 0
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		var groups []struct {
			Description string
			Schema      json.RawMessage
			Tests       []struct {
				Data  json.RawMessage
				Valid bool
			}
		}
		require.NoError(t, json.Unmarshal(content, &groups))
		for _, g := range groups {
			name := filepath.Base(file) + ": " + g.Description
			text, n, ok := pointed(t, g.Schema)
			if !ok || n == 0 {
				continue
			}
			schemas, refs = schemas+1, refs+n
			doc, err := oracle.UnmarshalJSON(strings.NewReader(text))
			require.NoError(t, err)
			c := oracle.NewCompiler()
			require.NoError(t, c.AddResource("tool.json", doc))
			compiled, err := c.Compile("tool.json")
			require.NoError(t, err, "%s\n%s", name, text)
			for _, v := range g.Tests {
				values++
				value, err := oracle.UnmarshalJSON(strings.NewReader(string(v.Data)))
				require.NoError(t, err)
				assert.Equal(t, v.Valid, compiled.Validate(value) == nil, "%s: %s\n%s", name, v.Data, text)
			}
		}
	}
	t.Logf("%d schemas, %d references, %d values", schemas, refs, values)
	assert.Greater(t, schemas, 50)
	assert.Greater(t, refs, 70)
}

// pointed returns a schema of the suite with pointers as references, and how many. It reports false where one leads to
// another document or depends on the scope.
func pointed(t *testing.T, text []byte) (string, int, bool) {
	root, err := jsonschema.Parse(text, 256)
	require.NoError(t, err)
	if strings.Contains(string(text), `"$dynamicRef"`) {
		return "", 0, false
	}
	x := jsonschema.NewIndex(jsonschema.Values{}, root)
	targets := map[*jsonschema.Value]string{}
	seen := map[*jsonschema.Value]bool{}
	outside := false
	var visit func(s *jsonschema.Value)
	visit = func(s *jsonschema.Value) {
		if seen[s] {
			return
		}
		seen[s] = true
		if ref := s.Get("$ref"); ref.Is(jsonschema.String) {
			switch to, err := x.Find(s, ref.Text); {
			case errors.Is(err, jsonschema.ErrOutside):
				outside = true
			default:
				require.NoError(t, err, "%s\n%s", ref.Text, text)
				targets[ref] = "#" + (&url.URL{Path: to.Pointer}).EscapedPath()
				visit(to)
			}
		}
		for _, sub := range jsonschema.Subschemas(jsonschema.Values{}, s) {
			visit(sub)
		}
	}
	visit(root)
	for ref, to := range targets {
		ref.Text = to
	}
	for s := range seen {
		for _, keyword := range []string{"$id", "$anchor", "$schema"} {
			s.Delete(keyword)
		}
	}
	return string(jsonschema.JSON(root)), len(targets), !outside
}
