package pattern

import "regexp/syntax"

// A Span is a run of Min to Max bytes of a class. Max -1 is unbounded.
type Span struct {
	Class    [2]uint64 // bitmap of ASCII
	Min, Max int
}

// lower turns an expression that is anchored at both ends and made of
// characters and classes of ASCII, each with a repetition at most, into spans;
// nil when it is anything else, or when taking as many bytes as possible for
// each span would not always be right.
func lower(re2 string) []Span {
	re, err := syntax.Parse(re2, syntax.Perl)
	if err != nil || re.Op != syntax.OpConcat || len(re.Sub) < 3 {
		return nil
	}
	last := len(re.Sub) - 1
	if re.Sub[0].Op != syntax.OpBeginText || re.Sub[last].Op != syntax.OpEndText {
		return nil
	}
	spans, ok := appendSpans(nil, re.Sub[1:last])
	if !ok || !greedy(spans) {
		return nil
	}
	return spans
}

func appendSpans(dst []Span, subs []*syntax.Regexp) ([]Span, bool) {
	for _, re := range subs {
		switch re.Op {
		case syntax.OpConcat:
			var ok bool
			if dst, ok = appendSpans(dst, re.Sub); !ok {
				return nil, false
			}
		case syntax.OpEmptyMatch:
		case syntax.OpLiteral:
			for _, c := range re.Rune {
				if c >= 0x80 || re.Flags&syntax.FoldCase != 0 {
					return nil, false
				}
				dst = append(dst, oneOf([]rune{c, c}))
			}
		default:
			s, ok := span(re)
			if !ok {
				return nil, false
			}
			if s.Max != 0 {
				dst = append(dst, s)
			}
		}
	}
	return dst, true
}

// span lowers a class, or a repetition of a class or of one character.
func span(re *syntax.Regexp) (Span, bool) {
	atLeast, atMost := 1, 1
	sub := re
	switch re.Op {
	case syntax.OpStar:
		atLeast, atMost, sub = 0, -1, re.Sub[0]
	case syntax.OpPlus:
		atLeast, atMost, sub = 1, -1, re.Sub[0]
	case syntax.OpQuest:
		atLeast, atMost, sub = 0, 1, re.Sub[0]
	case syntax.OpRepeat:
		atLeast, atMost, sub = re.Min, re.Max, re.Sub[0]
	}
	ranges := sub.Rune
	switch {
	case sub.Op == syntax.OpLiteral && len(ranges) == 1 && sub.Flags&syntax.FoldCase == 0:
		ranges = []rune{ranges[0], ranges[0]}
	case sub.Op != syntax.OpCharClass || len(ranges) == 0:
		return Span{}, false
	}
	if ranges[len(ranges)-1] >= 0x80 {
		return Span{}, false
	}
	s := oneOf(ranges)
	s.Min, s.Max = atLeast, atMost
	return s, true
}

// oneOf returns the span of one character in pairs of bounds.
func oneOf(ranges []rune) Span {
	s := Span{Min: 1, Max: 1}
	for i := 0; i < len(ranges); i += 2 {
		for c := ranges[i]; c <= ranges[i+1]; c++ {
			s.Class[c>>6] |= 1 << (c & 63)
		}
	}
	return s
}

// greedy reports whether no span can take a byte that a later one needs: the
// class of a span of variable length meets none of those that may follow it.
func greedy(spans []Span) bool {
	for i, s := range spans {
		if s.Min == s.Max {
			continue
		}
		for _, t := range spans[i+1:] {
			if s.Class[0]&t.Class[0] != 0 || s.Class[1]&t.Class[1] != 0 {
				return false
			}
			if t.Min > 0 {
				break
			}
		}
	}
	return len(spans) > 0
}
