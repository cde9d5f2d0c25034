package legible_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/runtime/host/internal/legible"
)

// TestLineAndBlock: a block keeps its line feeds and nothing else that a line escapes. What looks
// escaped already is escaped by its backslash.
func TestLineAndBlock(t *testing.T) {
	for text, want := range map[string][2]string{
		"plain":             {"plain", "plain"},
		"two\nlines":        {`two\u{A}lines`, "two\nlines"},
		"tab\tcr\r\x1b[2J":  {`tab\u{9}cr\u{D}\u{1B}[2J`, `tab\u{9}cr\u{D}\u{1B}[2J`},
		"a\u202eb\n\u200bc": {`a\u{202E}b\u{A}\u{200B}c`, `a\u{202E}b` + "\n" + `\u{200B}c`},
		"a\u2028b":          {`a\u{2028}b`, `a\u{2028}b`},
		`\u{202E}`:          {`\u{5C}u{202E}`, `\u{5C}u{202E}`},
		"\xff":              {`\x{FF}`, `\x{FF}`},
		"größe 東京":          {"größe 東京", "größe 東京"},
	} {
		assert.Equal(t, want, [2]string{legible.Line(text), legible.Block(text)}, "%q", text)
	}
}
