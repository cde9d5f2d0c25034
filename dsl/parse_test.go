package dsl

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGood(t *testing.T) {
	paths, err := filepath.Glob("testdata/good/*.yaml")
	require.NoError(t, err)
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			src, err := os.ReadFile(path)
			require.NoError(t, err)
			_, err = Parse(filepath.Base(path), src)
			require.NoError(t, err)
		})
	}
}
