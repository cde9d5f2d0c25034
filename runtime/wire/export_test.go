package wire

import (
	"regexp"
	"testing"

	"github.com/ambit-tools/ambit/runtime/wire/internal/pattern"
)

// MatchBoth matches a string against a pattern that has spans, once by them
// and once by a regular expression: an alternative, which s must not have, is no spans.
func MatchBoth(source, s string) (spans, re2 bool) {
	p, err := CompilePattern(source)
	if err != nil {
		panic(err)
	}
	text, _, none, err := pattern.Translate("(?:" + source + `)|\u{10FFFF}`)
	if err != nil || none != nil {
		panic("the alternative has spans")
	}
	return p.match(s), regexp.MustCompile(text).MatchString(s)
}

// Match reports whether a string matches a pattern.
func (p *Pattern) Match(s string) bool { return p.match(s) }

// Match reports whether a string has a format.
func (f Format) Match(s string) bool { return f.match(s) }

// Work holds a valid text against a schema and returns how much was looked at: how often a
// node was held against a value, and how many members, elements and bytes. It also says
// whether the text fits.
func (s *Schema) Work(text []byte) (steps int, fits bool) {
	var n notes
	c := s.checker(&n, 0, text)
	fits = c.node(1, 0, nil, nil)
	return c.visits + c.steps, fits
}

// Remember has every checker remember from the start until the test ends.
func Remember(t *testing.T) {
	before := patience
	patience = 0
	t.Cleanup(func() { patience = before })
}

// Decoded returns what holds a valid text against a schema once more, without reading it.
func (s *Schema) Decoded(text []byte) (fits func() bool) {
	c := s.checker(new(notes), 0, text)
	return func() bool {
		c.visits, c.scanned, c.canonized = 0, 0, 0
		return c.node(1, 0, nil, nil)
	}
}
