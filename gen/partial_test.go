package gen_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen"
	"github.com/ambit-tools/ambit/internal/battery"
)

// TestGeneratePart breaks declarations that can be generated, line by line: what
// is whole of them can still be, so that one fault makes no second one.
func TestGeneratePart(t *testing.T) {
	paths, err := filepath.Glob("../dsl/testdata/good/*.yaml")
	require.NoError(t, err)
	sources := map[string]string{}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		sources[path] = string(content)
	}
	for _, g := range goldens(t, "*.txtar") {
		sources[g.name] = string(g.file("tools.yaml"))
	}
	parts := 0
	for name, source := range sources {
		lines := strings.Split(source, "\n")
		for i, line := range lines {
			if !battery.Full(t) && i%10 != 0 {
				continue
			}
			for _, broken := range [][]string{nil, {strings.Replace(line, ": ", ": !", 1)}, {line + " x"}, {line, line}, {strings.Replace(line, "e", "i", 1)}} {
				src := strings.Join(slices.Concat(lines[:i], broken, lines[i+1:]), "\n")
				_, _ = dsl.Parse(name, []byte(src), dsl.WithPart(func(p dsl.Part) {
					if p.Tools == nil {
						return
					}
					parts++
					_, err := gen.Generate(p.Tools, gen.Options{})
					require.NoError(t, err, "line %d of %s is %q", i+1, name, broken)
				}))
			}
		}
	}
	require.Greater(t, parts, 100)
}
