package wire

import "regexp"

// MatchBoth matches a string against a pattern that has spans, once by them
// and once by the regular expression from which they were made.
func MatchBoth(source, s string) (spans, re2 bool) {
	e := ecma{src: source}
	if err := e.rewrite(); err != nil {
		panic(err)
	}
	p, err := CompilePattern(source)
	if err != nil {
		panic(err)
	}
	return p.match(s), regexp.MustCompile(e.out.String()).MatchString(s)
}

// Match reports whether a string matches a pattern.
func (p *Pattern) Match(s string) bool { return p.match(s) }

// Match reports whether a string has a format.
func (f Format) Match(s string) bool { return f.match(s) }
