package author

import (
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
