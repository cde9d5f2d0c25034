package dsl

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/fuzz"
)

// FuzzParse checks that no text makes Parse panic and that every fault has its
// place inside the text.
func FuzzParse(f *testing.F) {
	for _, folder := range []string{"good", "bad"} {
		for _, path := range fixtures(f, folder) {
			f.Add(read(f, path))
		}
	}
	for _, src := range hostile() {
		f.Add([]byte(src))
	}
	fuzz.Run(f, func(t *testing.T, src []byte) {
		file, err := Parse("tools.yaml", src)
		if err == nil {
			require.NotNil(t, file)
			return
		}
		requireDiagnostics(t, src, err)
	})
}

func requireDiagnostics(t *testing.T, src []byte, err error) {
	t.Helper()
	var ds Diagnostics
	require.True(t, errors.As(err, &ds))
	require.NotEmpty(t, ds)
	text := strings.ToValidUTF8(strings.TrimPrefix(string(src), "\ufeff"), "\ufffd")
	requireInside(t, []byte(text), ds)
	ds.Format(io.Discard)
}

func hostile() []string {
	return []string{
		"\xff\xfea\x00", "a\x00b", "\xc3", "\ufeff", "---\n---\n", "%YAML 1.2\n---\nambit: v1\n", "? ? ? a", "- - - -",
		"ambit: \"\\x00\"\npackage: \"\\u2028\"\n", "a: !<tag:x> b", "{a: 1, a: 2, A: 3}", "*a", "&a *a", "<<: *a",
		"a\u0085b: c\u2028d: e\u2029f", "a: |\n  b\n\tc", "tools: {a: {input: {type: object, properties: {x: {$ref: \"#/types/\"}}}}}",
		"ambit: v1\rpackage: x\r", "a: 'b", "a: \"\\q\"", "[" + strings.Repeat("{a: ", 70),
	}
}

func TestHostileTexts(t *testing.T) {
	for _, src := range hostile() {
		_, err := Parse("tools.yaml", []byte(src))
		require.Error(t, err, "%q", src)
		requireDiagnostics(t, []byte(src), err)
	}
}

func TestTooLarge(t *testing.T) {
	src := append([]byte("ambit: v1\n"), bytes.Repeat([]byte("# x\n"), maxSource/4)...)
	_, err := Parse("tools.yaml", src)
	require.EqualError(t, err, "tools.yaml:1:1: the file has 1048586 bytes, more than the limit of 1048576")
	// A caller may stop reading there, so Parse reports no exact size.
	_, err = Parse("tools.yaml", bytes.Repeat([]byte("#"), maxCounted+1))
	require.EqualError(t, err, "tools.yaml:1:1: the file has more than 64 MiB; the limit is 1048576 bytes")

	fits := append(read(t, filepath.Join("testdata", "good", "minimal.yaml")), '\n')
	fits = append(fits, bytes.Repeat([]byte("#"), maxSource-len(fits))...)
	_, err = Parse("tools.yaml", fits)
	require.NoError(t, err)
}

func TestDeepNesting(t *testing.T) {
	for _, open := range []string{"[", "{a: ", "- ", "? "} {
		_, err := Parse("tools.yaml", []byte("tools: "+strings.Repeat(open, 20000)))
		require.Error(t, err)
	}
	_, err := Parse("tools.yaml", []byte(strings.Repeat("- ", 5000)+"x"))
	require.ErrorContains(t, err, "nested deeper than 256 levels")
}

func TestAliasBomb(t *testing.T) {
	var b strings.Builder
	b.WriteString("a0: &a0 [x]\n")
	for i := range 60 {
		b.WriteString("a" + string(rune('A'+i)) + ": &b [" + strings.Repeat("*a0, ", 500) + "*a0]\n")
	}
	_, err := Parse("tools.yaml", []byte(b.String()))
	require.ErrorContains(t, err, `alias "*a0" is not allowed`)
}

func TestEveryAliasHasItsPlace(t *testing.T) {
	_, err := Parse("tools.yaml", []byte("a: &x 1\nb: [*x, *x, *x]\n"))
	for _, place := range []string{"2:5", "2:9", "2:13"} {
		require.ErrorContains(t, err, "tools.yaml:"+place+`: alias "*x" is not allowed`)
	}
}

// TestManyFaults keeps a hostile file from taking minutes, one long line with many
// faults: what the report of a fault takes does not grow with the line.
func TestManyFaults(t *testing.T) {
	var b strings.Builder
	for i := range 12000 {
		fmt.Fprintf(&b, "k%d: 1, ", i)
	}
	_, err := Parse("tools.yaml", []byte("{"+b.String()+"}"))
	var ds Diagnostics
	require.True(t, errors.As(err, &ds))
	require.Len(t, ds, maxFaults+1)
	var out strings.Builder
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	ds.Format(&out)
	runtime.ReadMemStats(&after)
	require.Less(t, out.Len(), len(ds)<<10)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(len(ds))<<16)
}
