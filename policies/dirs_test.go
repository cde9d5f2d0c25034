package policies_test

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/rego/regotest"
	"github.com/ambit-tools/ambit/policies"
)

// A joined file system opens what an error or a decision names.
func TestOpenJoinedDirectories(t *testing.T) {
	joined := policies.Join(policies.Dir{FS: regotest.Folder("o.rego", "own")}, policies.Dir{Name: "../org", FS: regotest.Folder("a/o.rego", "shared")}, policies.Dir{Name: "none"})
	for name, want := range map[string]string{"o.rego": "own", "../org/a/o.rego": "shared"} {
		got, err := fs.ReadFile(joined, name)
		require.NoError(t, err, name)
		assert.Equal(t, want, string(got))
	}
	for _, name := range []string{"a/o.rego", "../org/o.rego", "../org/../o.rego", "../org", "none/o.rego", ""} {
		_, err := joined.Open(name)
		assert.ErrorIs(t, err, fs.ErrNotExist, name)
	}
}
