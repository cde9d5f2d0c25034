package gen_test

import (
	"go/format"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen"
)

// TestGolden compares the text of every generated file with what was reviewed.
func TestGolden(t *testing.T) {
	for _, g := range goldens(t, "*.txtar") {
		t.Run(g.name, func(t *testing.T) {
			for _, f := range generate(t, g.file("tools.yaml")) {
				g.expect(t, f.Name, f.Content)
				if path.Ext(f.Name) == ".go" {
					formatted, err := format.Source(f.Content)
					require.NoError(t, err)
					require.Equal(t, string(formatted), string(f.Content), "gofmt changes %s", f.Name)
				}
			}
			g.save(t)
		})
	}
}

// TestRefused compares what is said of declarations that the language allows
// and Go code cannot express.
// SEMANTICS 7.5.9
func TestRefused(t *testing.T) {
	for _, g := range goldens(t, "refused/*.txtar") {
		t.Run(g.name, func(t *testing.T) {
			f, err := dsl.Parse("tools.yaml", g.file("tools.yaml"))
			if err == nil {
				_, err = gen.Generate(f, gen.Options{})
			}
			require.Error(t, err)
			g.expect(t, "errors.txt", []byte(err.Error()))
			g.save(t)
		})
	}
}

// TestNoLogicInRegistry holds the file that people read to what they expect of
// it: declarations, and calls of the runtime.
func TestNoLogicInRegistry(t *testing.T) {
	for _, g := range goldens(t, "*.txtar") {
		for _, line := range strings.Split(string(g.file("tools_ambit.go")), "\n") {
			code, _, _ := strings.Cut(strings.TrimSpace(line), "//")
			require.NotRegexp(t, `^(if|for|switch|select|go|defer) `, code, g.path)
		}
	}
}
