package importer_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/ambit-tools/ambit/internal/importer"
	"github.com/ambit-tools/ambit/internal/importer/normalize"
)

var update = flag.Bool("update", false, "rewrite the expected output in testdata")

// goldens are the archives of testdata/golden, by name: in.json is the source, tools.yaml
// the declaration, and notes what was changed and left out. over.yaml is what to import
// into, if it is there.
func goldens(t testing.TB) map[string]*txtar.Archive {
	t.Helper()
	paths, err := filepath.Glob("testdata/golden/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	out := map[string]*txtar.Archive{}
	for _, path := range paths {
		if out[path], err = txtar.ParseFile(path); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func file(a *txtar.Archive, name string) *txtar.File {
	for i := range a.Files {
		if a.Files[i].Name == name {
			return &a.Files[i]
		}
	}
	return nil
}

// notes are the changes of a result and what is left out, a line each.
func notes(r *importer.Result) string {
	var b strings.Builder
	for _, c := range r.Changes {
		narrows := ""
		if c.Narrows {
			narrows = " (narrows)"
		}
		fmt.Fprintf(&b, "%d:%d %s %s %s: %s%s\n", c.Pos.Line, c.Pos.Col, c.Tool, c.Pointer, c.Kind, c.Text, narrows)
	}
	for _, l := range r.Left {
		fmt.Fprintf(&b, "%d:%d %q %s left out: %s\n", l.Pos.Line, l.Pos.Col, l.Tool, l.Pointer, l.Reason)
		if l.Hint != "" {
			fmt.Fprintf(&b, "\t%s\n", l.Hint)
		}
	}
	if r.More.Line > 0 {
		fmt.Fprintf(&b, "%d:%d more pages\n", r.More.Line, r.More.Col)
	}
	return b.String()
}

var options = importer.Options{Package: "imported", Path: "tools.yaml"}

func TestGolden(t *testing.T) {
	shown := map[normalize.Kind]bool{}
	for path, a := range goldens(t) {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			o := options
			if over := file(a, "over.yaml"); over != nil {
				o.Over = over.Data
			}
			r, err := importer.MCP(file(a, "in.json").Data, o)
			require.NoError(t, err)
			for _, c := range r.Changes {
				shown[c.Kind] = true
			}
			if *update {
				file(a, "tools.yaml").Data, file(a, "notes").Data = r.Text, []byte(notes(r))
				require.NoError(t, os.WriteFile(path, txtar.Format(a), 0o644))
				return
			}
			assert.Equal(t, string(file(a, "tools.yaml").Data), string(r.Text))
			assert.Equal(t, string(file(a, "notes").Data), notes(r))
		})
	}
	for _, k := range importer.Kinds() {
		assert.True(t, shown[k.Kind], "no case of testdata/golden shows %s", k.Kind)
	}
}

// TestImportAgainChangesNothing: importing twice gives the same bytes, from nothing and
// over what the import wrote.
func TestImportAgainChangesNothing(t *testing.T) {
	for path, a := range goldens(t) {
		first, err := importer.MCP(file(a, "in.json").Data, options)
		require.NoError(t, err)
		second, err := importer.MCP(file(a, "in.json").Data, options)
		require.NoError(t, err)
		require.Equal(t, string(first.Text), string(second.Text), path)
		over := options
		over.Over = first.Text
		third, err := importer.MCP(file(a, "in.json").Data, over)
		require.NoError(t, err, path)
		require.Equal(t, string(first.Text), string(third.Text), path)
		require.Equal(t, first.Tools, third.Tools, path)
		require.Empty(t, third.Stay, path)
	}
}
