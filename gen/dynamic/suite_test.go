package dynamic_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen"
	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/gen/dynamic/internal/answer"
)

// suiteFolder is the variable that names the folder of the official suite for JSON Schema.
const suiteFolder = "AMBIT_JSONSCHEMA_SUITE"

// A suiteCase is one value of the suite.
type suiteCase struct {
	name  string
	valid bool
}

// A suiteGroup is a schema of the suite, with the tool that has it and its values.
type suiteGroup struct {
	tool   string
	schema []byte
	values []json.RawMessage
}

// TestOfficialSuite holds generated code, and package dynamic, to the official suite of JSON
// Schema: every schema of it is an entry of types, and a member of the input of one tool.
// SEMANTICS 7.6.1
func TestOfficialSuite(t *testing.T) {
	folder := os.Getenv(suiteFolder)
	if folder == "" {
		t.Skipf("%s names no folder", suiteFolder)
	}
	remotes := suiteRemotes(t, folder)
	tests := filepath.Join(folder, "tests", "draft2020-12")
	// A declaration enforces formats. They are annotations where the schema holds its own
	// meta-schema, whose $vocabulary says so: that is what the required files mean.
	annotated := passSuite(t, remotes, true, glob(t, tests, "*.json"))
	assert.Equal(t, 1299, annotated.count)
	assert.Empty(t, annotated.refused)
	assert.Empty(t, annotated.failed)
	enforcing := passSuite(t, remotes, false, glob(t, tests, "*.json"))
	assert.Len(t, enforcing.failed, len(enforced))
	for _, name := range enforcing.failed {
		assert.Regexp(t, `^format.json: (`+strings.Join(enforced, "|")+`) format: invalid .* string is only an annotation by default$`, name)
	}
	optional := passSuite(t, remotes, false, glob(t, filepath.Join(tests, "optional"), "*.json"))
	assert.Equal(t, 162, optional.count)
	assert.GreaterOrEqual(t, optional.count-len(optional.failed), 145, optional.failed)
	var files []string
	for _, name := range enforced {
		files = append(files, filepath.Join(tests, "optional", "format", name+".json"))
	}
	formats := passSuite(t, remotes, false, files)
	assert.Greater(t, formats.count, 300)
	assert.Empty(t, formats.failed)
}

// enforced are the formats that a declaration enforces.
var enforced = []string{"date-time", "date", "time", "duration", "uuid", "ipv4", "ipv6", "uri", "email", "hostname"}

func glob(t *testing.T, elements ...string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(elements...))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

// A result says which cases do not have the verdict of the suite, and which schemas
// were refused: their cases failed too.
type result struct {
	count           int
	failed, refused []string
}

// passSuite asks generated code and package dynamic for their verdicts. Whole says that
// schemas with a format hold the meta-schema that they name.
func passSuite(t *testing.T, remotes map[string]any, whole bool, files []string) result {
	t.Helper()
	s := &suite{types: map[string]any{}, tools: map[string]any{}, remotes: remotes, whole: whole}
	for _, file := range files {
		s.add(t, file)
	}
	f, err := declare(s.types, s.tools)
	require.NoError(t, err)
	tools, err := dynamic.Tools(f, nil)
	require.NoError(t, err)
	out := run(t, f, strings.NewReplacer("agreed/agree", "agreed/suite", "agree.", "suite.").Replace(program), s.inputs)
	require.True(t, out.Scan(), "the specifications")
	for i, in := range s.inputs {
		require.True(t, out.Scan(), s.cases[i].name)
		got, err := json.Marshal(answer.To(tools, in.Tool, in.Text))
		require.NoError(t, err)
		assert.Equal(t, out.Text(), string(got), s.cases[i].name)
		if strings.HasPrefix(out.Text(), `{"violations":null`) != s.cases[i].valid {
			s.failed = append(s.failed, s.cases[i].name)
			t.Logf("%s: want %v, have %.300s", s.cases[i].name, s.cases[i].valid, out.Text())
		}
	}
	s.count += len(s.inputs)
	t.Logf("%d of %d", s.count-len(s.failed), s.count)
	return s.result
}

// declare reads a declaration.
func declare(types, tools map[string]any) (*dsl.File, error) {
	src, err := json.MarshalIndent(map[string]any{"ambit": "v1", "package": "suite", "types": types, "tools": tools}, "", " ")
	if err != nil {
		return nil, err
	}
	f, err := dsl.Parse("suite.yaml", src, dsl.WithPatterns(gen.PatternFault))
	if err != nil {
		return nil, err
	}
	_, err = dynamic.Load(f)
	return f, err
}

// A suite is the declaration of all schemas.
type suite struct {
	types, tools, remotes map[string]any
	whole                 bool
	inputs                []answer.Input
	cases                 []suiteCase
	groups                []suiteGroup
	result
}

// add adds the schemas and the cases of a file.
func (s *suite) add(t *testing.T, file string) {
	t.Helper()
	src, err := os.ReadFile(file)
	require.NoError(t, err)
	var groups []struct {
		Description string
		Schema      any
		Tests       []struct {
			Description string
			Data        json.RawMessage
			Valid       bool
		}
	}
	require.NoError(t, json.Unmarshal(src, &groups))
	for _, g := range groups {
		n := len(s.tools) + len(s.refused)
		name := fmt.Sprintf("G%d", n)
		text, err := json.Marshal(g.Schema)
		require.NoError(t, err)
		s.types[name] = s.bundle(g.Schema)
		if !strings.Contains(string(text), "unevaluated") {
			open(s.types[name])
		}
		member := map[string]any{"$ref": "#/types/" + name, "description": "Any."}
		tool := fmt.Sprintf("g%d", n)
		s.tools[tool] = map[string]any{
			"version": "1.0.0", "description": "Any.", "effect": "read",
			// No member is required, since some schemas of the suite take no value; each case gives it.
			"input":  map[string]any{"type": "object", "properties": map[string]any{"x": member}},
			"output": map[string]any{"type": "object", "properties": map[string]any{}},
		}
		if _, err := declare(map[string]any{name: s.types[name]}, map[string]any{tool: s.tools[tool]}); err != nil {
			delete(s.types, name)
			delete(s.tools, tool)
			s.refused = append(s.refused, filepath.Base(file)+": "+g.Description)
			t.Logf("%s: %s: refused: %v", filepath.Base(file), g.Description, err)
			for _, c := range g.Tests {
				s.count++
				s.failed = append(s.failed, c.Description)
			}
			continue
		}
		group := suiteGroup{tool: tool, schema: text}
		for _, c := range g.Tests {
			group.values = append(group.values, c.Data)
			s.inputs = append(s.inputs, answer.Input{Tool: tool, Text: []byte(`{"x":` + string(c.Data) + `}`)})
			s.cases = append(s.cases, suiteCase{filepath.Base(file) + ": " + g.Description + ": " + c.Description, c.Valid})
		}
		s.groups = append(s.groups, group)
	}
}

// bundle adds to a schema those that it refers to, as the specification bundles them.
func (s *suite) bundle(schema any) any {
	root, ok := schema.(map[string]any)
	if !ok {
		return schema
	}
	known, wanted := map[string]bool{}, map[string]bool{}
	base, _ := url.Parse("ambit:/")
	uris(root, base, known, wanted)
	if dialect, ok := root["$schema"].(string); ok && s.whole && root["format"] != nil {
		wanted[dialect] = true
	}
	for {
		next := ""
		for uri := range wanted {
			if s.remotes[uri] != nil && !known[uri] && (next == "" || uri < next) {
				next = uri
			}
		}
		if next == "" {
			return root
		}
		defs, _ := root["$defs"].(map[string]any)
		if defs == nil {
			defs = map[string]any{}
			root["$defs"] = defs
		}
		at, _ := url.Parse(next)
		remote := copied(s.remotes[next]).(map[string]any)
		id, _ := remote["$id"].(string)
		real, _ := at.Parse(id)
		remote["$id"] = real.String()
		if real.String() != next {
			remote = map[string]any{"$id": next, "$ref": real.String(), "$defs": map[string]any{"real": remote}}
		}
		defs[fmt.Sprintf("bundled%d", len(defs))] = remote
		uris(remote, base, known, wanted)
	}
}

// uris notes which schemas a value has, and which it refers to.
func uris(v any, base *url.URL, known, wanted map[string]bool) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			uris(item, base, known, wanted)
		}
	case map[string]any:
		if id, ok := v["$id"].(string); ok {
			if at, err := base.Parse(id); err == nil {
				base = at
				known[at.String()] = true
			}
		}
		for _, key := range []string{"$ref", "$dynamicRef", "$schema"} {
			if ref, ok := v[key].(string); ok {
				if at, err := base.Parse(ref); err == nil && (key != "$schema" || !strings.HasPrefix(ref, "https://json-schema.org/")) {
					at.Fragment = ""
					wanted[at.String()] = true
				}
			}
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if key != "const" && key != "enum" {
				uris(v[key], base, known, wanted)
			}
		}
	}
}

// open says of every object of a schema what a declaration has to say and JSON Schema
// need not: that other members are allowed, and what a member means.
func open(v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			open(item)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if key != "const" && key != "enum" {
				open(v[key])
			}
		}
		if v["type"] == "number" && v["default"] == 5.0 && v["maximum"] == 3.0 {
			delete(v, "default") // a declaration refuses a default that does not fit, as an import drops it
		}
		properties, _ := v["properties"].(map[string]any)
		if v["type"] == "object" {
			if v["additionalProperties"] == nil {
				v["additionalProperties"] = true
			}
			for _, p := range properties {
				if p, ok := p.(map[string]any); ok {
					p["description"] = "Any."
				}
			}
		}
	}
}

func copied(v any) any {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	var out any
	if err := json.Unmarshal(text, &out); err != nil {
		panic(err)
	}
	return out
}

// suiteRemotes are the documents that schemas of the suite refer to: its own, and the
// meta-schemas, which come with a validator that is used by tests only.
func suiteRemotes(t *testing.T, folder string) map[string]any {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/santhosh-tekuri/jsonschema/v6").Output()
	require.NoError(t, err)
	remotes := map[string]any{}
	read := func(root, base string) {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			name, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			src, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			var doc any
			if json.Unmarshal(src, &doc) == nil {
				remotes[base+filepath.ToSlash(name)] = doc
			}
			return nil
		})
		require.NoError(t, err)
	}
	read(filepath.Join(folder, "remotes"), "http://localhost:1234/")
	read(filepath.Join(strings.TrimSpace(string(dir)), "metaschemas", "draft", "2020-12"), "https://json-schema.org/draft/2020-12/")
	return remotes
}
