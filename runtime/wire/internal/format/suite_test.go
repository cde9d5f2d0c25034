package format

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// testdata/suite holds optional/format of the official suite for draft 2020-12,
// json-schema-org/JSON-Schema-Test-Suite at 44401e0c, under the license beside it.

type suiteGroup struct {
	Description string
	Tests       []struct {
		Description string
		Data        any
		Valid       bool
	}
}

func suite(t *testing.T, name string) []suiteGroup {
	content, err := os.ReadFile("testdata/suite/" + name + ".json")
	require.NoError(t, err)
	var groups []suiteGroup
	require.NoError(t, json.Unmarshal(content, &groups))
	return groups
}

// TestFormatSuite holds every format that is checked to all its cases.
func TestFormatSuite(t *testing.T) {
	for f, check := range checks {
		cases := 0
		for _, group := range suite(t, f) {
			for _, c := range group.Tests {
				if text, ok := c.Data.(string); ok { // a format says nothing of other types
					assert.Equal(t, c.Valid, check(text), "%s: %q: %s", f, text, c.Description)
					cases++
				}
			}
		}
		assert.Greater(t, cases, 15, f)
	}
}

// TestLabelSuite holds the check of A-labels to the cases of idn-hostname, each
// label of which is encoded first.
func TestLabelSuite(t *testing.T) {
	separators := strings.NewReplacer("\u3002", ".", "\uff0e", ".", "\uff61", ".")
	for _, group := range suite(t, "idn-hostname") {
		for _, c := range group.Tests {
			text, ok := c.Data.(string)
			if !ok {
				continue
			}
			name := strings.Split(separators.Replace(text), ".")
			for i, label := range name {
				if runes := []rune(label); slices.ContainsFunc(runes, func(r rune) bool { return r > unicode.MaxASCII }) {
					name[i] = "xn--" + encodePunycode(runes)
				}
			}
			assert.Equal(t, c.Valid, isHostname(strings.Join(name, ".")), "%q: %s", text, c.Description)
		}
	}
}
