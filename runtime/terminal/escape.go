package terminal

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape makes text safe to show: what a terminal would obey, what changes the
// direction of writing, what cannot be seen and marks that pile up are written
// as \u{202E}, and bytes that are no UTF-8 as \x{FF}. What looks like such a name
// already is escaped by its backslash, so that nothing can pass itself off as
// escaped.
func Escape(text string) string {
	if plain(text) {
		return text
	}
	var b strings.Builder
	marks := maxMarks // there is nothing yet to put one on
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if marks++; !unicode.Is(unicode.Mn, r) {
			marks = 0
		}
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x{%02X}`, text[i])
		case r == '\\' && looksEscaped(text[i+1:]):
			b.WriteString(`\u{5C}`)
		case shown(r) && marks <= maxMarks:
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\u{%X}`, r)
		}
		i += size
	}
	return b.String()
}

// maxMarks is how many marks a letter may have: more of them grow into the lines
// above and below.
const maxMarks = 3

// looksEscaped reports whether what follows a backslash reads as an escape.
func looksEscaped(rest string) bool {
	return strings.HasPrefix(rest, "u{") || strings.HasPrefix(rest, "x{")
}

// plain reports whether text is ASCII that needs no escapes.
func plain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '\\' {
			return false
		}
	}
	return true
}

// shown reports whether a rune has a visible form of its own.
func shown(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r >= ' ' && r <= '~'
	case !unicode.IsGraphic(r): // controls, formats, private use, unassigned
		return false
	case unicode.Is(unicode.Z, r): // looks like a space, or ends a line
		return false
	case unicode.Is(unicode.Variation_Selector, r), unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r):
		return false
	case unicode.Is(unicode.Me, r): // drawn around its neighbors
		return false
	}
	return r != '\u2800' // a pattern without dots
}

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
