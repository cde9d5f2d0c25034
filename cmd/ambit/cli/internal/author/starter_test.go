package author

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProgramName(t *testing.T) {
	for base, want := range map[string]string{
		"notes": "notes", "My Notes": "my-notes", "9lives": "app-9lives", "": "app", "...": "app", "/": "app",
		"日本": "app", "com1": "app-com1", "vendor": "app-vendor", "-x-": "x", "a\n\"b": "a-b",
		"an extraordinarily long name of a folder that goes on": "an-extraordinarily-long-name-of-a-folder",
	} {
		require.Equal(t, want, programName(base), "%q", base)
	}
}

func TestRequirements(t *testing.T) {
	require.Equal(t, []string{"a.b/c v1.2.3", "d.e/f/v2 v2.0.0-x+incompatible", "g.h/i v0.1.0"}, requirements(`module m

go 1.26.0

require (
	a.b/c v1.2.3 // indirect
	d.e/f/v2 v2.0.0-x+incompatible
)

require g.h/i v0.1.0

replace a.b/c => ../c
`))
}

// TestModelPage: the programs of docs/models.md are what init writes, in 20 lines.
func TestModelPage(t *testing.T) {
	page, err := os.ReadFile("../../../../../docs/models.md")
	require.NoError(t, err)
	for _, p := range providers {
		a := &application{Name: "notes", Module: "example.com/notes", Package: starterPackage, Model: p}
		var text bytes.Buffer
		require.NoError(t, executeStarter(&text, agentTemplate, a))
		_, body, _ := strings.Cut(text.String(), "\nfunc converse(")
		body, _, _ = strings.Cut(body, "\n}\n")
		program := "func converse(" + body + "\n}\n"
		require.LessOrEqual(t, strings.Count(program, "\n"), 20, program)
		require.Contains(t, string(page), "```go\n"+program+"```\n", p.Name)
	}
}

func TestNewest(t *testing.T) {
	require.Equal(t, []string{"a v1.10.0", "b v1.0.0", "c v0.1.0"}, newest([]string{"a v1.9.0", "b v1.0.0"}, []string{"a v1.10.0", "c v0.1.0"}))
	require.Equal(t, "a 1\nb 2\n", string(mergeSums([]byte("b 2\na 1\n"), []byte("a 1\n"))))
}
