package wire

import (
	"regexp"
	"sync"

	"github.com/ambit-tools/ambit/runtime/wire/internal/pattern"
)

// A Pattern is a regular expression of a schema. Generated code holds it as
// static data: nothing is compiled before it is first used.
type Pattern struct {
	Source string // as declared, in the syntax of ECMA-262
	RE2    string // the same in the syntax of Go, without Looks; empty when Spans says it all
	Looks  []Look // what stands at the groups of RE2, in order: RE2 alone matches more
	Spans  []Span // what a whole string is made of, in order

	once    sync.Once
	re      *regexp.Regexp
	matcher *pattern.Matcher // in the place of re, with Looks
}

// A Look is a look-around of a pattern.
type Look = pattern.Look

// A Span is a run of Min to Max bytes of a class. Max -1 is unbounded.
type Span struct {
	Class    [2]uint64 // bitmap of ASCII
	Min, Max int
}

// CompilePattern translates a regular expression of ECMA-262 (with the u flag,
// as JSON Schema has it). Back references are refused: nothing matches them in linear
// time.
func CompilePattern(src string) (*Pattern, error) {
	re2, looks, spans, err := pattern.Translate(src)
	if err != nil {
		return nil, err
	}
	p := &Pattern{Source: src, RE2: re2, Looks: looks}
	for _, s := range spans {
		p.Spans = append(p.Spans, Span(s))
	}
	return p, nil
}

// RespellPattern writes a regular expression that ECMA-262 takes without the u flag alone, as JSON Schema does not, so that
// [CompilePattern] takes it: ^\-$ as ^-$. ok is false when there is no such spelling.
func RespellPattern(src string) (out string, ok bool) { return pattern.Respell(src) }

// match reports whether a string matches.
func (p *Pattern) match(s string) bool {
	if p.Spans != nil {
		return matchSpans(p.Spans, s)
	}
	p.once.Do(func() {
		if p.Looks == nil {
			p.re = regexp.MustCompile(p.RE2)
			return
		}
		matcher, err := pattern.NewMatcher(p.RE2, p.Looks)
		if err != nil {
			panic(err) // as MustCompile: CompilePattern has compiled it
		}
		p.matcher = matcher
	})
	if p.matcher != nil {
		return p.matcher.Match(s)
	}
	return p.re.MatchString(s)
}

// matchSpans takes as many bytes for each span as its class allows. That is
// exact: no span's class meets that of the one after it (see package pattern).
func matchSpans(spans []Span, s string) bool {
	i := 0
	for k := range spans {
		p := &spans[k]
		class := p.Class
		start, end := i, len(s)
		if p.Max >= 0 && p.Max < end-i {
			end = i + p.Max
		}
		for i < end && s[i] < 0x80 && class[s[i]>>6&1]>>(s[i]&63)&1 != 0 {
			i++
		}
		if i-start < p.Min {
			return false
		}
	}
	return i == len(s)
}
