package wire

import (
	"regexp"
	"sync"
)

// A Pattern is a regular expression of a schema. Generated code holds it as
// static data: nothing is compiled before it is first used.
type Pattern struct {
	Source string // as declared, in the syntax of ECMA-262
	RE2    string // the same in the syntax of Go; empty when Spans says it all
	Spans  []Span // what a whole string is made of, in order

	once sync.Once
	re   *regexp.Regexp
}

// A Span is a run of Min to Max bytes of a class. Max -1 is unbounded.
type Span struct {
	Class    [2]uint64 // bitmap of ASCII
	Min, Max int
}

// match reports whether a string matches.
func (p *Pattern) match(s string) bool {
	if p.Spans != nil {
		return matchSpans(p.Spans, s)
	}
	p.once.Do(func() { p.re = regexp.MustCompile(p.RE2) })
	return p.re.MatchString(s)
}

// matchSpans takes as many bytes for each span as its class allows. That is
// exact: no span's class meets that of the one after it (see lower).
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
