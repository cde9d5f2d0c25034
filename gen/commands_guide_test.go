package gen_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen"
)

// TestCommandsGuide: the declaration of docs/commands.md is one that is read and generated.
func TestCommandsGuide(t *testing.T) {
	page, err := os.ReadFile("../docs/commands.md")
	require.NoError(t, err)
	_, text, _ := strings.Cut(string(page), "```yaml\n")
	text, _, _ = strings.Cut(text, "```\n")
	f, err := dsl.Parse("commands.md", []byte(text))
	require.NoError(t, err)
	require.Len(t, f.Tools, 4)
	_, err = gen.Generate(f, gen.Options{})
	require.NoError(t, err)
}
