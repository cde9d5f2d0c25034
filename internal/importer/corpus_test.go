package importer_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/importer"
)

// corpusVariable names the folder of tools.jsonl, a list of tools as servers list them.
const corpusVariable = "AMBIT_REAL_SCHEMAS"

// corpusBar is the part of the corpus that is imported at the least.
const corpusBar = 0.995

// A listed tool is one line of the corpus.
type listed struct {
	Server       string          `json:"server"`
	Name         string          `json:"tool"`
	Title        json.RawMessage `json:"title,omitempty"`
	Description  json.RawMessage `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"inputSchema,omitempty"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	Annotations  json.RawMessage `json:"annotations,omitempty"`
}

// corpus returns the answers of the servers, by server, and the tools of each.
func corpus(t testing.TB) (servers []string, tools map[string][]listed) {
	dir := os.Getenv(corpusVariable)
	if dir == "" {
		t.Skipf("%s names no folder", corpusVariable)
	}
	f, err := os.Open(filepath.Join(dir, "tools.jsonl"))
	require.NoError(t, err)
	defer f.Close()
	tools = map[string][]listed{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var one listed
		require.NoError(t, json.Unmarshal(lines.Bytes(), &one))
		if tools[one.Server] == nil {
			servers = append(servers, one.Server)
		}
		tools[one.Server] = append(tools[one.Server], one)
	}
	require.NoError(t, lines.Err())
	return servers, tools
}

// answers are the lists of tools of a server in which no name comes twice: some sources
// record several servers under one name.
func answers(tools []listed) [][]listed {
	var out [][]listed
	for _, one := range tools {
		i := slices.IndexFunc(out, func(list []listed) bool {
			return !slices.ContainsFunc(list, func(other listed) bool { return importer.Name(other.Name) == importer.Name(one.Name) })
		})
		if i < 0 {
			out, i = append(out, nil), len(out)
		}
		out[i] = append(out[i], one)
	}
	return out
}

// answer is what the server of these tools answers to tools/list.
func answer(t testing.TB, tools []listed) []byte {
	t.Helper()
	var list []map[string]json.RawMessage
	for _, one := range tools {
		text, err := json.Marshal(one)
		require.NoError(t, err)
		var entry map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(text, &entry))
		entry["name"] = entry["tool"]
		delete(entry, "tool")
		delete(entry, "server")
		list = append(list, entry)
	}
	out, err := json.Marshal(map[string]any{"tools": list})
	require.NoError(t, err)
	return out
}

// TestCorpus imports every server of the corpus, generates what is imported, and compares what
// is left out with testdata/corpus_left.txt.
func TestCorpus(t *testing.T) {
	servers, tools := corpus(t)
	var left []string
	all, imported := 0, 0
	for _, server := range servers {
		all += len(tools[server])
		for _, list := range answers(tools[server]) {
			r, err := importer.MCP(answer(t, list), options)
			require.NoError(t, err, server)
			if imported += len(r.Tools); r.Text != nil {
				generated(t, r)
			}
			for _, l := range r.Left {
				left = append(left, fmt.Sprintf("%s\t%s\t%s\t%s", server, l.Tool, l.Pointer, l.Reason))
			}
		}
	}
	require.Equal(t, all, imported+len(left))
	slices.Sort(left)
	t.Logf("%d of %d tools are imported: %.2f %%", imported, all, 100*float64(imported)/float64(all))
	const path = "testdata/corpus_left.txt"
	text := fmt.Sprintf("# %d of %d tools are imported. The others, by server:\n%s", imported, all, strings.Join(append(left, ""), "\n"))
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), text, "run TestCorpus with -update, and read the diff")
	require.Greater(t, float64(imported), corpusBar*float64(all))
}
