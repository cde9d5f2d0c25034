package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/models/internal/samples"
)

// verdicts is what .ci/referee answered. Each line begins with the digest of what it was asked, so that
// it holds for the schemas as they are. After a change of the rewriting it is recorded again:
//
//	(cd .ci/referee && npm ci --ignore-scripts)
//	go run ./runtime/models/internal/samples/print | node .ci/referee/check.js > runtime/models/internal/samples/print/testdata/verdicts.txt
const verdicts = "testdata/verdicts.txt"

// published says what OpenAI's transform does with the inputs of examples/workspace as published.
var published = map[string]string{
	"crash": "refused", "file_edit": "refused", "file_list": "refused", "file_read": "refused", "text_search": "refused", "web_search": "refused",
	"file_write": "same", "message_send": "same", "slow_write": "same",
}

// unrecorded are tools of examples that no verdict is of yet.
var unrecorded []string

// recorded returns the verdicts by what was asked: the digest, the dialect and the tool.
func recorded(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(verdicts)
	require.NoError(t, err)
	out := map[string]string{}
	for line := range strings.Lines(string(text)) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 4)
		require.Len(t, fields, 4, line)
		out[strings.Join(fields[:3], " ")] = fields[3]
	}
	return out
}

// TestVendorsTransforms: the vendors' own transforms, openai/lib/transform and
// @anthropic-ai/sdk/lib/transform-json-schema, change nothing of a strict schema. Of the nine inputs of
// examples/workspace OpenAI's refuses six as published, and takes all nine as they are rewritten. Those that
// unrecorded lists came after the recording, and are judged by .ci/nightly.
func TestVendorsTransforms(t *testing.T) {
	asked, err := lines("../../../../..", samples.All)
	require.NoError(t, err)
	said := recorded(t)
	strict, asPublished, rewritten := map[string]int{}, map[string]string{}, map[string]bool{}
	for question := range bytes.Lines(asked) {
		question = bytes.TrimSuffix(question, []byte("\n"))
		var q struct{ Tool, Dialect string }
		require.NoError(t, json.Unmarshal(question, &q))
		digest := sha256.Sum256(question)
		verdict, ok := said[hex.EncodeToString(digest[:8])+" "+q.Dialect+" "+q.Tool]
		_, workspace := published[q.Tool]
		switch {
		case !ok:
			require.Contains(t, unrecorded, q.Tool, "the verdict is of another schema: record it again\n%s", question)
		case q.Dialect != "json_schema":
			require.Equal(t, "same", verdict, "%s in %s", q.Tool, q.Dialect)
			strict[q.Dialect]++
			rewritten[q.Tool] = rewritten[q.Tool] || workspace && q.Dialect == "openai_strict"
		case workspace:
			asPublished[q.Tool], _, _ = strings.Cut(verdict, ":")
		}
	}
	require.Equal(t, published, asPublished)
	for tool := range published {
		require.True(t, rewritten[tool], "%s is not strict", tool)
	}
	require.Greater(t, strict["openai_strict"], 350)
	require.Greater(t, strict["anthropic_strict"], 350)
}
