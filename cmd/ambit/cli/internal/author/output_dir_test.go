package author

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStagingLeavesNothingBehind puts a folder where the second file must go.
func TestStagingLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer root.Close()
	require.NoError(t, root.WriteFile("taken", nil, 0o644))

	var st staging
	require.NoError(t, st.add(root, "made/on/the/way/a.txt", []byte("a")))
	require.Error(t, st.add(root, "taken/b.txt", []byte("b")))
	st.discard(root)

	entries, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(dir, "taken")}, entries)
}
