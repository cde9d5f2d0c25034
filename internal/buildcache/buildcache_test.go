package buildcache_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/buildcache"
)

func TestDirIsTheSameAgain(t *testing.T) {
	var first string
	t.Run("first", func(t *testing.T) {
		first = buildcache.Dir(t, "x")
		require.NoError(t, os.WriteFile(filepath.Join(first, "left"), nil, 0o600))
		beside := buildcache.Dir(t, "x")
		require.NotEqual(t, first, beside, "two that use it at the same time")
		require.DirExists(t, beside)
	})
	require.NoDirExists(t, first)
	second := buildcache.Dir(t, "x")
	require.Equal(t, first, second)
	list, err := os.ReadDir(second)
	require.NoError(t, err)
	require.Empty(t, list)
}

func TestProgram(t *testing.T) {
	path := buildcache.Program(t, "../../gen/internal/fixture")
	out, err := exec.Command(path).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NotEmpty(t, out)
	require.ErrorContains(t, buildcache.Copy("./nowhere", filepath.Join(t.TempDir(), "x")), "build ./nowhere")
}
