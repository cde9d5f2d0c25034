package dsl

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write golden files anew")

// fixtures returns the files of a folder of testdata.
func fixtures(t testing.TB, folder string) []string {
	paths, err := filepath.Glob("testdata/" + folder + "/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	return paths
}

func read(t testing.TB, path string) []byte {
	src, err := os.ReadFile(path)
	require.NoError(t, err)
	return src
}

// golden compares got with a file, or writes it.
func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(path, got, 0o644))
		return
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run go test -update")
	assert.Equal(t, string(want), string(got))
}

func TestGood(t *testing.T) {
	for _, path := range fixtures(t, "good") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			f, err := Parse(filepath.Base(path), read(t, path))
			require.NoError(t, err)
			require.NotNil(t, f)
		})
	}
}

// SEMANTICS 4.17.1, 6.2.1, 7.6.1
func TestBad(t *testing.T) {
	for _, path := range fixtures(t, "bad") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			src := read(t, path)
			f, err := Parse(filepath.Base(path), src)
			require.Nil(t, f)
			var ds Diagnostics
			require.True(t, errors.As(err, &ds))
			requireInside(t, src, ds)
			var out bytes.Buffer
			ds.Format(&out)
			golden(t, strings.TrimSuffix(path, ".yaml")+".err", out.Bytes())
		})
	}
}

// requireInside checks that every fault has a place in the file and a message of one line.
func requireInside(t testing.TB, src []byte, ds Diagnostics) {
	lines := newSource("", string(src)).lines
	for _, d := range ds {
		require.True(t, d.Pos.Line >= 1 && d.Pos.Line <= len(lines), "%v", d)
		require.True(t, d.Pos.Col >= 1 && d.Pos.Col <= len([]rune(lines[d.Pos.Line-1]))+1, "%v", d)
		require.NotEmpty(t, d.Message)
		require.NotEmpty(t, d.Hint, "%v: no remedy", d)
		require.NotContains(t, d.Error()+d.Hint, "\n")
	}
}
