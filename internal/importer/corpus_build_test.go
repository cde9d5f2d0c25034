package importer_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen"
	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/internal/buildcache"
	"github.com/ambit-tools/ambit/internal/importer"
)

// pastedBar is the part of the corpus of which a declaration takes the schema as it is, at
// the least.
const pastedBar = 0.62

// TestCorpusPasted pastes the input schema of each tool into a declaration.
func TestCorpusPasted(t *testing.T) {
	servers, tools := corpus(t)
	all, taken := 0, 0
	for _, server := range servers {
		for _, tool := range tools[server] {
			all++
			if pasted(t, tool) == nil {
				taken++
			}
		}
	}
	t.Logf("%d of %d schemas are taken as they are: %.2f %%", taken, all, 100*float64(taken)/float64(all))
	require.Greater(t, float64(taken), pastedBar*float64(all))
}

// pasted reads and generates a declaration with the input schema of one tool.
func pasted(t *testing.T, tool listed) error {
	t.Helper()
	src, err := json.Marshal(map[string]any{"ambit": "v1", "package": "pasted", "tools": map[string]any{
		importer.Name(tool.Name): map[string]any{
			"version": "1.0.0", "description": "Any.", "effect": "read", "input": tool.InputSchema,
			"output": map[string]any{"type": "object", "properties": map[string]any{}},
		},
	}})
	require.NoError(t, err)
	f, err := dsl.Parse("tools.yaml", src, dsl.WithPatterns(gen.PatternFault))
	if err != nil {
		return err
	}
	_, err = gen.Generate(f, gen.Options{})
	return err
}

// linter is the variable that names the module of staticcheck, with its version.
const linter = "AMBIT_STATICCHECK"

// built is how many tools are in a package that TestCorpusCompiles builds.
const built = 100

// TestCorpusCompiles imports tools from all over the corpus and builds what is generated of
// them: neither the compiler nor go vet nor staticcheck has a word to say.
func TestCorpusCompiles(t *testing.T) {
	servers, tools := corpus(t)
	staticcheck := os.Getenv(linter)
	if staticcheck == "" && battery.Full(t) {
		t.Fatalf("%s names no module", linter)
	}
	var all []listed
	for _, server := range servers {
		all = append(all, tools[server]...)
	}
	most := battery.Count(t, 20, built) // one package, or ten
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	dir := buildcache.Dir(t, "corpus")
	keep(t, dir, "go.mod", fmt.Appendf(nil, "module corpus\n\ngo 1.26.0\n\nrequire github.com/ambit-tools/ambit v0.0.0\n\nreplace github.com/ambit-tools/ambit => %s\n", root))
	written := 0
	for i, list := range spread(all, most) {
		o := options
		o.Package = fmt.Sprintf("corpus%d", i)
		r, err := importer.MCP(answer(t, list), o)
		require.NoError(t, err)
		written += len(r.Tools)
		for _, f := range generated(t, r) {
			keep(t, dir, o.Package+"/"+f.Name, f.Content)
		}
	}
	require.GreaterOrEqual(t, written, most)
	t.Logf("%d tools", written)
	silent(t, dir, "go", "build", "./...")
	silent(t, dir, "go", "vet", "./...")
	if staticcheck != "" {
		silent(t, dir, "go", "run", staticcheck, "-checks", "all", "./...")
	}
}

// generated is the code of an imported declaration.
func generated(t *testing.T, r *importer.Result) []gen.OutputFile {
	t.Helper()
	files, err := gen.Generate(read(t, r), gen.Options{})
	require.NoError(t, err)
	return files
}

// spread picks so many tools, and one in a hundred more in the place of those that are left out,
// from all over a list. It returns lists of at most built tools in which no name comes twice.
func spread(all []listed, most int) [][]listed {
	most = min(most+most/100+1, len(all))
	picked := make([]listed, most)
	for i := range picked {
		picked[i] = all[i*len(all)/most]
	}
	var out [][]listed
	for _, list := range answers(picked) {
		for len(list) > built+1 {
			out, list = append(out, list[:built]), list[built:]
		}
		out = append(out, list)
	}
	return out
}

func keep(t *testing.T, dir, name string, content []byte) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, content, 0o644))
}

// silent runs a command that prints nothing.
func silent(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	var said []string
	for line := range strings.Lines(string(out)) {
		if !strings.HasPrefix(line, "go: ") { // downloads
			said = append(said, line)
		}
	}
	require.Empty(t, said)
}
