package policydir

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/policies"
)

// The offset of each value is known by its path.
func TestScanJSON(t *testing.T) {
	f := ScanJSON("x", []byte("{\n \"a\": [1, {\"b\": true}],\n \"c\": \"d\"}"))
	for path, want := range map[string]string{"": "x:1:1", "\x00a": "x:2:7", "\x00a\x000": "x:2:8", "\x00a\x001\x00b": "x:2:17", "\x00c": "x:3:7"} {
		offset, ok := f.found[path]
		require.True(t, ok, "%q", path)
		at := f.Location(offset)
		assert.Equal(t, want, (&policies.Diagnostic{File: at.File, Line: at.Row, Col: at.Col, Message: ""}).Error()[:len(want)])
	}
}
