package dialect_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/models/dialect"
)

// corpusVariable names a file with the answers of public MCP servers to tools/list, a tool a line,
// with its inputSchema.
const corpusVariable = "AMBIT_TOOL_CORPUS"

// corpusTools is how many tools the corpus has: the figure of docs/internal/testing.md is of that corpus.
const corpusTools = 2_306

// TestMostPublicToolsCanBeStrict measures how many tools of public servers OpenAI can hold a model to.
// It wants a refused note from the others. The corpus has the licenses of its servers, and is not a
// part of this module.
func TestMostPublicToolsCanBeStrict(t *testing.T) {
	path := os.Getenv(corpusVariable)
	if path == "" {
		t.Skipf("%s does not name a corpus of tools", corpusVariable)
	}
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	tools, strict := 0, 0
	why := map[string]int{}
	for line := range bytes.Lines(text) {
		var tool struct {
			Tool        string          `json:"tool"`
			InputSchema json.RawMessage `json:"inputSchema"`
		}
		require.NoError(t, json.Unmarshal(line, &tool))
		tools++
		s, err := dialect.Rewrite(tool.InputSchema, dialect.OpenAIStrict)
		if !assert.NoError(t, err, tool.Tool) {
			continue
		}
		require.NotEmpty(t, tool.InputSchema, tool.Tool)
		if s.Strict {
			strict++
			continue
		}
		refused := ""
		for _, n := range s.Notes {
			if n.Effect == dialect.Refused {
				refused = n.Text
			}
		}
		assert.NotEmpty(t, refused, "%s is not strict, and no note says why", tool.Tool)
		why[refused]++
	}
	t.Logf("%d of %d tools can be strict (%.1f %%)", strict, tools, 100*float64(strict)/float64(tools))
	for text, n := range why {
		t.Logf("%d: %s", n, text)
	}
	assert.Equal(t, corpusTools, tools, "the corpus is another one than that of the figure")
	assert.GreaterOrEqual(t, float64(strict), 0.93*float64(tools))
}
