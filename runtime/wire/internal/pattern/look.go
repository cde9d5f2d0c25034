package pattern

import (
	"regexp/syntax"
	"slices"
)

// A Look is a look-around: it holds at a position where what it says begins, or ends, there. The n-th of an expression
// stands where that has its n-th group, which is empty.
type Look struct {
	RE2    string
	Looks  []Look // those in it
	Behind bool   // what it says ends at the position
	Not    bool   // it holds where it otherwise does not
}

// A Matcher matches an expression with look-around. It is safe for concurrent use.
type Matcher struct {
	prog  *syntax.Prog
	looks []looker
}

type looker struct {
	Matcher
	behind, not bool
}

// NewMatcher returns the matcher of what Translate returned.
func NewMatcher(re2 string, looks []Look) (*Matcher, error) {
	m, err := newMatcher(re2, looks, false)
	return &m, err
}

func newMatcher(re2 string, looks []Look, reversed bool) (m Matcher, err error) {
	re, err := syntax.Parse(re2, syntax.Perl)
	if err != nil {
		return m, err
	}
	if reversed {
		re = reverse(re)
	}
	if m.prog, err = syntax.Compile(re.Simplify()); err != nil {
		return m, err
	}
	for _, l := range looks {
		in, err := newMatcher(l.RE2, l.Looks, !l.Behind)
		if err != nil {
			return m, err
		}
		m.looks = append(m.looks, looker{in, l.Behind, l.Not})
	}
	return m, nil
}

// reverse returns an expression turned round: what re matches from left to right it matches from right to left.
func reverse(re *syntax.Regexp) *syntax.Regexp {
	out := *re
	out.Sub = make([]*syntax.Regexp, len(re.Sub))
	for i, sub := range re.Sub {
		out.Sub[i] = reverse(sub)
	}
	switch re.Op {
	case syntax.OpConcat:
		slices.Reverse(out.Sub)
	case syntax.OpLiteral:
		out.Rune = slices.Clone(re.Rune)
		slices.Reverse(out.Rune)
	}
	return &out
}

// Match reports whether a part of s matches. It takes time in proportion to the length of s.
func (m *Matcher) Match(s string) bool {
	text := []rune(s)
	return slices.Contains(m.positions(text, false), true)
}

// positions returns at which positions of a text a match ends, or, with back, begins.
func (m *Matcher) positions(text []rune, back bool) []bool {
	holds := make([][]bool, len(m.looks)) // at which positions a look-around holds
	for i := range m.looks {
		l := &m.looks[i]
		holds[i] = l.positions(text, !l.behind)
		if l.not {
			for at := range holds[i] {
				holds[i][at] = !holds[i][at]
			}
		}
	}
	r := run{prog: m.prog, holds: holds, text: text, seen: make([]int, len(m.prog.Inst))}
	out := make([]bool, len(text)+1)
	for step := range len(text) + 1 {
		at := step
		if back {
			at = len(text) - step
		}
		r.step = step + 1
		r.add(uint32(m.prog.Start), at)
		for _, pc := range r.carried {
			r.add(pc, at)
		}
		out[at] = r.accepted
		r.accepted, r.carried = false, r.carried[:0]
		if step == len(text) {
			break
		}
		c := rune(0)
		if back {
			c = text[at-1]
		} else {
			c = text[at]
		}
		for _, pc := range r.threads {
			if in := &m.prog.Inst[pc]; in.MatchRune(c) {
				r.carried = append(r.carried, in.Out)
			}
		}
		r.threads = r.threads[:0]
	}
	return out
}

// A run follows all ways through a program at once.
type run struct {
	prog     *syntax.Prog
	holds    [][]bool
	text     []rune
	step     int
	seen     []int    // the last step at which an instruction was reached
	threads  []uint32 // the instructions that take the next character
	carried  []uint32 // where the last character led
	stack    []uint32
	accepted bool
}

// add follows what takes no character from an instruction on.
func (r *run) add(pc uint32, at int) {
	r.stack = append(r.stack[:0], pc)
	for len(r.stack) > 0 {
		pc := r.stack[len(r.stack)-1]
		r.stack = r.stack[:len(r.stack)-1]
		if r.seen[pc] == r.step {
			continue
		}
		r.seen[pc] = r.step
		switch in := &r.prog.Inst[pc]; in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			r.stack = append(r.stack, in.Arg, in.Out)
		case syntax.InstCapture:
			if i := int(in.Arg)/2 - 1; i < 0 || r.holds[i][at] {
				r.stack = append(r.stack, in.Out)
			}
		case syntax.InstNop:
			r.stack = append(r.stack, in.Out)
		case syntax.InstEmptyWidth:
			before, after := rune(-1), rune(-1)
			if at > 0 {
				before = r.text[at-1]
			}
			if at < len(r.text) {
				after = r.text[at]
			}
			if syntax.EmptyOp(in.Arg)&^syntax.EmptyOpContext(before, after) == 0 {
				r.stack = append(r.stack, in.Out)
			}
		case syntax.InstMatch:
			r.accepted = true
		case syntax.InstFail:
		default:
			r.threads = append(r.threads, pc)
		}
	}
}
