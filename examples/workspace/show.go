package main

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
)

// oneLine returns a text as one line without characters that a terminal would obey
// or hide: texts of an agent must not look like ours. What is left out is
// written as an escape of Go.
func oneLine(s string) string {
	var b strings.Builder
	for _, r := range s {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		q := strconv.QuoteRuneToASCII(r)
		b.WriteString(q[1 : len(q)-1])
	}
	return b.String()
}

// word returns a name as it is, or quoted when it would not be taken for one word.
func word(s string) string {
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == ' ' || r == '"' }) {
		return strconv.Quote(s)
	}
	return s
}

// plainJSON returns a JSON text with escapes for what oneLine would not print.
func plainJSON(text []byte) string {
	var b strings.Builder
	for _, r := range string(text) {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			b.WriteString(`\u` + strconv.FormatInt(0x10000+int64(unit), 16)[1:])
		}
	}
	return b.String()
}

// plural returns a number of things.
func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + one + "s"
}
