// Package legible writes hostile text so that a person reads what it says: a terminal and a page show it
// in the same form.
package legible

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line makes text safe to show on one line: what a terminal would obey, what changes the
// direction of writing, what cannot be seen and marks that pile up are written
// as \u{202E}, and bytes that are no UTF-8 as \x{FF}. What looks like such a name
// already is escaped by its backslash, so that nothing can pass itself off as
// escaped.
func Line(text string) string { return escape(text, "") }

// Block is Line for text whose line feeds remain as they are.
func Block(text string) string { return escape(text, "\n") }

// escape escapes all that is not shown but the controls to keep.
func escape(text, keep string) string {
	if plain(text, keep) {
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
		case shown(r) && marks <= maxMarks, r < utf8.RuneSelf && strings.ContainsRune(keep, r):
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
func plain(text, keep string) bool {
	for i := range len(text) {
		if c := text[i]; (c < ' ' && strings.IndexByte(keep, c) < 0) || c > '~' || c == '\\' {
			return false
		}
	}
	return true
}

// shown reports whether a rune has a visible form of its own (SEMANTICS 7.5).
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
