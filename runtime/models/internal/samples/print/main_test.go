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

// TestVendorsTransforms: the vendors' own transforms, openai/lib/transform and
// @anthropic-ai/sdk/lib/transform-json-schema, change nothing of a strict schema. Of the nine inputs of
// examples/workspace OpenAI's refuses six as published, and takes all nine as they are rewritten.
func TestVendorsTransforms(t *testing.T) {
	asked, err := lines("../../../../..")
	require.NoError(t, err)
	answers, err := os.ReadFile(verdicts)
	require.NoError(t, err)
	said := strings.Split(strings.TrimSuffix(string(answers), "\n"), "\n")
	questions := bytes.Split(bytes.TrimSuffix(asked, []byte("\n")), []byte("\n"))
	require.Len(t, said, len(questions), "the verdicts are of other schemas: record them again")
	strict, asPublished, rewritten := map[string]int{}, map[string]string{}, map[string]bool{}
	for i, question := range questions {
		var q struct{ Tool, Dialect string }
		require.NoError(t, json.Unmarshal(question, &q))
		digest := sha256.Sum256(question)
		verdict, ok := strings.CutPrefix(said[i], hex.EncodeToString(digest[:8])+" "+q.Dialect+" "+q.Tool+" ")
		require.True(t, ok, "the verdict is of another schema: record it again\n%s\n%s", said[i], question)
		_, workspace := published[q.Tool]
		if q.Dialect == "json_schema" {
			if workspace {
				asPublished[q.Tool], _, _ = strings.Cut(verdict, ":")
			}
			continue
		}
		require.Equal(t, "same", verdict, "%s in %s", q.Tool, q.Dialect)
		strict[q.Dialect]++
		if workspace && q.Dialect == "openai_strict" {
			rewritten[q.Tool] = true
		}
	}
	require.Equal(t, published, asPublished)
	require.Len(t, rewritten, len(published))
	require.Greater(t, strict["openai_strict"], 150)
	require.Greater(t, strict["anthropic_strict"], 150)
}
