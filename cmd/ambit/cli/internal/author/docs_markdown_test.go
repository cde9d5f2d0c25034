package author

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestTextIsNoMarkup: what a declaration says, which may have been imported, is text in the catalog.
func TestTextIsNoMarkup(t *testing.T) {
	for in, want := range map[string]inline{
		"a | b":                    `a \| b`,
		"[x](javascript:alert(1))": `\[x\](javascript:alert(1))`,
		"<img src=x>":              `\<img src=x\>`,
		"one\n\n# two":             `one \# two`,
		"https://a.b www.a.b":      `https\://a.b www\.a.b`,
		"a\u202eb":                 `a\\u\{202E\}b`,
		"`code` **bold** &lt;":     "\\`code\\` \\*\\*bold\\*\\* \\&lt;",
		"version 1.2.0":            "version 1.2.0",
	} {
		assert.Equal(t, want, text(in), in)
	}
	assert.Equal(t, inline("`a_b`"), code("a_b"))
	assert.Equal(t, inline("a\\`\\|b"), code("a`|b"))
	for in, want := range map[string]inline{"- a": `\- a`, "1. a": `1\. a`, "10) a": `10\) a`, "a. b": "a. b"} {
		assert.Equal(t, want, paragraph(in), in)
	}
}
