package wire

import (
	"regexp"

	"github.com/ambit-tools/ambit/runtime/wire/internal/pattern"
)

// MatchBoth matches a string against a pattern that has spans, once by them
// and once by a regular expression: an alternative, which s must not have, is no spans.
func MatchBoth(source, s string) (spans, re2 bool) {
	p, err := CompilePattern(source)
	if err != nil {
		panic(err)
	}
	text, none, err := pattern.Translate("(?:" + source + `)|\u{10FFFF}`)
	if err != nil || none != nil {
		panic("the alternative has spans")
	}
	return p.match(s), regexp.MustCompile(text).MatchString(s)
}

// Match reports whether a string matches a pattern.
func (p *Pattern) Match(s string) bool { return p.match(s) }

// Match reports whether a string has a format.
func (f Format) Match(s string) bool { return f.match(s) }
