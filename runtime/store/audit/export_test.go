package audit_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/audit"
)

func TestExport(t *testing.T) {
	var m journal.Memory
	list := entries(t, 0, 3000)
	list[6].Private = []byte(`secret`)
	require.NoError(t, m.Append(t.Context(), list))
	var out bytes.Buffer
	last, err := audit.Export(t.Context(), &out, &m, 5)
	require.NoError(t, err)
	assert.EqualValues(t, 3000, last)
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	require.Len(t, lines, 2995)
	for i, line := range lines {
		var got struct {
			Seq      uint64          `json:"seq"`
			LeafHash string          `json:"leaf_hash"`
			Record   json.RawMessage `json:"record"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &got))
		require.EqualValues(t, i+6, got.Seq)
		sum := tlog.RecordHash(got.Record)
		require.Equal(t, hex.EncodeToString(sum[:]), got.LeafHash)
	}
	assert.NotContains(t, out.String(), "secret")

	for _, leaf := range []string{"{\n}", "{"} {
		s := &store{entries: []journal.Entry{{Seq: 1, Leaf: []byte(leaf)}}}
		_, err = audit.Export(t.Context(), &out, s, 0)
		require.ErrorContains(t, err, "entry 1")
	}
}

func TestExportDecisions(t *testing.T) {
	var m journal.Memory
	records := []*journal.Record{
		{Kind: "tool.validated", At: start, Session: "s", Call: "c1", Tool: "t", Args: &journal.Payload{Value: []byte(`{"a":1}`)}},
		{
			Kind: "tool.authorized", At: start, Session: "s", Run: "r", Call: "c1", Principal: "alice", Tool: "t", Revision: "r7",
			Decision: []byte(`{"effect":"allow","asks":[]}`),
		},
		{
			Kind: "tool.denied", At: start, Call: "c2", Tool: "t", Args: &journal.Payload{Value: []byte(`{}`)}, Final: &journal.Payload{Value: []byte(`{"b":2}`)},
			Decision: []byte(`{"effect":"deny"}`), Outcome: []byte(`{"kind":"denied"}`),
		},
		{Kind: "tool.denied", At: start, Call: "c3", Tool: "t"},
		{Kind: journal.KindShadow, At: start, Session: "s", Call: "c1", Tool: "t", Decision: []byte(`{"active":{"effect":"allow"},"shadow":{"effect":"deny"}}`)},
	}
	for i, r := range records {
		e, err := journal.NewEntry(uint64(i+1), r, nil)
		require.NoError(t, err)
		require.NoError(t, m.Append(t.Context(), []journal.Entry{e}))
	}
	var out bytes.Buffer
	last, err := audit.ExportDecisions(t.Context(), &out, &m, 0, map[string]string{"app": "demo"})
	require.NoError(t, err)
	assert.EqualValues(t, 5, last)
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	require.Len(t, lines, 2)
	var got map[string]any
	require.NoError(t, json.Unmarshal([]byte(lines[0]), &got))
	assert.Len(t, got["decision_id"], 64)
	delete(got, "decision_id")
	assert.Equal(t, map[string]any{
		"labels": map[string]any{"app": "demo", "seq": "2"}, "bundles": map[string]any{"ambit": map[string]any{"revision": "r7"}},
		"path": "ambit/decision", "timestamp": "2026-01-02T03:04:05.000000678Z",
		"input":  map[string]any{"event": "tool.authorized", "session": "s", "run": "r", "call": "c1", "principal": "alice", "tool": "t", "args": map[string]any{"a": 1.0}},
		"result": map[string]any{"effect": "allow", "asks": []any{}},
	}, got)
	assert.Contains(t, lines[1], `"args":{"b":2}`)
	assert.Contains(t, lines[1], `"result":{"effect":"deny"}`)
	assert.NotContains(t, lines[1], "bundles")
}
