package metadata_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime/internal/metadata"
)

func TestMain(m *testing.M) { battery.Main(m) }

func TestCheck(t *testing.T) {
	many := map[string]string{}
	for i := range 64 {
		many[fmt.Sprint(i)] = "v"
	}
	require.NoError(t, metadata.Check(nil))
	require.NoError(t, metadata.Check(many))
	require.NoError(t, metadata.Check(map[string]string{"a": strings.Repeat("v", 8<<10-1)}))
	require.NoError(t, metadata.Check(map[string]string{"request_id": strings.Repeat("v", 256)}))
	many["64"] = ""
	require.ErrorContains(t, metadata.Check(many), "65 members")
	require.ErrorContains(t, metadata.Check(map[string]string{"a": strings.Repeat("v", 8<<10)}), "8193 bytes")
	require.ErrorContains(t, metadata.Check(map[string]string{"request_id": strings.Repeat("v", 257)}), "request_id of 257 bytes")
	require.ErrorContains(t, metadata.Check(map[string]string{"a\xff": ""}), "UTF-8")
	require.ErrorContains(t, metadata.Check(map[string]string{"a": "\xff"}), "UTF-8")
}

func TestMerge(t *testing.T) {
	run, call := map[string]string{"a": "run", "b": "run"}, map[string]string{"b": "call", "c": "call"}
	assert.Equal(t, map[string]string{"a": "run", "b": "call", "c": "call"}, metadata.Merge(run, call))
	assert.Equal(t, map[string]string{"a": "run", "b": "run"}, run, "the run is as it was")
	assert.Equal(t, run, metadata.Merge(run, nil))
	assert.Equal(t, call, metadata.Merge(nil, call))
	assert.Empty(t, metadata.Merge(nil, nil))
}

// TestAdd: what Check refuses is not added.
func TestAdd(t *testing.T) {
	inner := map[string]string{"a": "2"}
	m := map[string]string{"a": "1", "b": "1"}
	require.NoError(t, metadata.Add(&m, inner))
	assert.Equal(t, map[string]string{"a": "2", "b": "1"}, m)
	require.ErrorContains(t, metadata.Add(&m, map[string]string{"c": "\xff"}), "UTF-8")
	assert.Equal(t, map[string]string{"a": "2", "b": "1"}, m)
	m = nil
	require.NoError(t, metadata.Add(&m, inner))
	inner["a"] = "3"
	assert.Equal(t, "2", m["a"], "it is copied")
}

func TestRequest(t *testing.T) {
	assert.Empty(t, metadata.Request(nil))
	assert.Empty(t, metadata.Request(map[string]string{"a": "b"}))
	assert.Equal(t, "r-1", metadata.Request(map[string]string{"request_id": "r-1"}))
	assert.Equal(t, strings.Repeat("v", 255), metadata.Request(map[string]string{"request_id": strings.Repeat("v", 255) + "ü"}))
	assert.Len(t, metadata.Request(map[string]string{"request_id": strings.Repeat("\xbf", 1000)}), 0, "no character begins there")
}
