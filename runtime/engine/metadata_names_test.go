package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCheck(t *testing.T) {
	many := map[string]string{}
	for i := range 64 {
		many[fmt.Sprint(i)] = "v"
	}
	require.NoError(t, checkMetadata(nil))
	require.NoError(t, checkMetadata(many))
	require.NoError(t, checkMetadata(map[string]string{"a": strings.Repeat("v", 8<<10-1)}))
	require.NoError(t, checkMetadata(map[string]string{"request_id": strings.Repeat("v", 256)}))
	many["64"] = ""
	require.ErrorContains(t, checkMetadata(many), "65 members")
	require.ErrorContains(t, checkMetadata(map[string]string{"a": strings.Repeat("v", 8<<10)}), "8193 bytes")
	require.ErrorContains(t, checkMetadata(map[string]string{"request_id": strings.Repeat("v", 257)}), "request_id of 257 bytes")
	require.ErrorContains(t, checkMetadata(map[string]string{"a\xff": ""}), "UTF-8")
	require.ErrorContains(t, checkMetadata(map[string]string{"a": "\xff"}), "UTF-8")
}

func TestMerge(t *testing.T) {
	run, call := map[string]string{"a": "run", "b": "run"}, map[string]string{"b": "call", "c": "call"}
	assert.Equal(t, map[string]string{"a": "run", "b": "call", "c": "call"}, mergeMetadata(run, call))
	assert.Equal(t, map[string]string{"a": "run", "b": "run"}, run, "the run is as it was")
	assert.Equal(t, run, mergeMetadata(run, nil))
	assert.Equal(t, call, mergeMetadata(nil, call))
	assert.Empty(t, mergeMetadata(nil, nil))
}

// TestAdd: what Check refuses is not added.
func TestAdd(t *testing.T) {
	inner := map[string]string{"a": "2"}
	m := map[string]string{"a": "1", "b": "1"}
	require.NoError(t, addMetadata(&m, inner))
	assert.Equal(t, map[string]string{"a": "2", "b": "1"}, m)
	require.ErrorContains(t, addMetadata(&m, map[string]string{"c": "\xff"}), "UTF-8")
	assert.Equal(t, map[string]string{"a": "2", "b": "1"}, m)
	m = nil
	require.NoError(t, addMetadata(&m, inner))
	inner["a"] = "3"
	assert.Equal(t, "2", m["a"], "it is copied")
}

func TestRequest(t *testing.T) {
	assert.Empty(t, clientRequest(nil))
	assert.Empty(t, clientRequest(map[string]string{"a": "b"}))
	assert.Equal(t, "r-1", clientRequest(map[string]string{"request_id": "r-1"}))
	assert.Equal(t, strings.Repeat("v", 255), clientRequest(map[string]string{"request_id": strings.Repeat("v", 255) + "ü"}))
	assert.Len(t, clientRequest(map[string]string{"request_id": strings.Repeat("\xbf", 1000)}), 0, "no character begins there")
}
