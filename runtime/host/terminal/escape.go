package terminal

import (
	"unicode"

	"github.com/ambit-tools/ambit/runtime/host/internal/legible"
)

// Escape makes text safe to show: what a terminal would obey, what changes the
// direction of writing, what cannot be seen and marks that pile up are written
// as \u{202E}, and bytes that are no UTF-8 as \x{FF}. What looks like such a name
// already is escaped by its backslash, so that nothing can pass itself off as
// escaped.
func Escape(text string) string { return legible.Line(text) }

// width is about how many columns an escaped text takes: marks take none, the
// scripts of East Asia and pictures take two.
func width(text string) int {
	n := 0
	for _, r := range text {
		switch {
		case unicode.Is(unicode.Mn, r):
		case wide(r):
			n += 2
		default:
			n++
		}
	}
	return n
}

func wide(r rune) bool {
	return r >= 0x1100 && r <= 0x115f || r >= 0x2e80 && r <= 0xa4cf || r >= 0xac00 && r <= 0xd7a3 ||
		r >= 0xf900 && r <= 0xfaff || r >= 0xfe30 && r <= 0xfe6f || r >= 0xff00 && r <= 0xff60 || r >= 0x1f300 && r <= 0x1faff || r >= 0x20000 && r <= 0x3fffd
}
