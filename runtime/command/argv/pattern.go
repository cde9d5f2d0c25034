package argv

import "regexp/syntax"

// mayBegin says whether a text that has a match of a pattern can begin with a dash, or be empty.
// What it does not understand may. nonEmpty is whether another rule forbids the empty text.
func mayBegin(pattern string, nonEmpty bool) bool {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return true
	}
	begins, empty, dash := anchored(re.Simplify())
	if empty && nonEmpty && endsThere(re) {
		empty = false
	}
	return !begins || empty || dash
}

// anchored says whether each match begins where the text does, and whether what follows may be
// empty or begin with a dash.
func anchored(re *syntax.Regexp) (begins, empty, dash bool) {
	switch re.Op {
	case syntax.OpBeginText:
		return true, true, false
	case syntax.OpCapture:
		return anchored(re.Sub[0])
	case syntax.OpConcat:
		if begins, empty, dash = anchored(re.Sub[0]); !begins || !empty {
			return begins, empty, dash
		}
		e, d := first(re.Sub[1:])
		return true, e, dash || d
	case syntax.OpAlternate:
		begins = true
		for _, s := range re.Sub {
			b, e, d := anchored(s)
			begins, empty, dash = begins && b, empty || e, dash || d
		}
		return begins, empty, dash
	}
	return false, true, true
}

// endsThere says whether a pattern ends with the end of the text: then a match of nothing is
// one of the empty text.
func endsThere(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpEndText:
		return true
	case syntax.OpCapture:
		return endsThere(re.Sub[0])
	case syntax.OpConcat:
		return endsThere(re.Sub[len(re.Sub)-1])
	}
	return false
}

// first says whether a sequence may match nothing, and whether it may begin with a dash.
func first(list []*syntax.Regexp) (empty, dash bool) {
	for _, re := range list {
		e, d := begin(re)
		if dash = dash || d; !e {
			return false, dash
		}
	}
	return true, dash
}

func begin(re *syntax.Regexp) (empty, dash bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune) == 0, len(re.Rune) > 0 && re.Rune[0] == '-'
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			dash = dash || re.Rune[i] <= '-' && '-' <= re.Rune[i+1]
		}
		return false, dash
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return false, true
	case syntax.OpCapture, syntax.OpPlus:
		return begin(re.Sub[0])
	case syntax.OpStar, syntax.OpQuest:
		_, dash = begin(re.Sub[0])
		return true, dash
	case syntax.OpRepeat:
		empty, dash = begin(re.Sub[0])
		return empty || re.Min == 0, dash
	case syntax.OpConcat:
		return first(re.Sub)
	case syntax.OpAlternate:
		for _, s := range re.Sub {
			e, d := begin(s)
			empty, dash = empty || e, dash || d
		}
		return empty, dash
	case syntax.OpEmptyMatch, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true, false
	}
	return true, true
}
