package values

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// A Set is what a term can be.
type Set struct {
	list []Candidate
	open bool // or anything else
	of   *Set // the collection of which it is some element; nil: it is not that of a loop
	made bool // a function makes it of that element, and may have no answer for it
	not  bool // the element was passed to a function behind a not
}

// A Candidate is one of the values that a term can have.
type Candidate interface {
	// member returns what a constant index leads to.
	member(a *Analysis, index *ast.Term) Set
	// elements returns what any index leads to.
	elements(a *Analysis) Set
	// keys returns the indexes that lead somewhere; of a set its elements.
	keys(a *Analysis) Set
}

// Anything is the set of a term that nothing is known of.
func Anything() Set { return Set{open: true} }

// Only returns the set of one candidate.
func Only(c Candidate) Set { return Set{list: []Candidate{c}} }

// and adds the candidates of another set.
func (s Set) and(other Set) Set {
	return Set{list: append(s.list[:len(s.list):len(s.list)], other.list...), open: s.open || other.open}
}

// Open says that the term can be anything else, too.
func (s Set) Open() bool { return s.open }

// Candidates returns all candidates.
func (s Set) Candidates() []Candidate { return s.list }

// LoopOver returns the collection of which the term is some element, since the rule goes through all of them.
func (s Set) LoopOver() (Set, bool) {
	if s.of == nil {
		return Set{}, false
	}
	return *s.of, true
}

// Made says that the term is what a function makes of an element.
func (s Set) Made() bool { return s.made }

// BehindNot says that the element was passed to a function behind a not: where the function requires that it is equal
// to something, the call requires that it differs.
func (s Set) BehindNot() bool { return s.not }

// PassedBehindNot returns the set as it is passed to a function behind a not.
func (s Set) PassedBehindNot() Set {
	s.not = s.of != nil && !s.not
	return s
}

// madeOf returns the set as made by a function of what it was called with: of an element and constants alone.
func (s Set) madeOf(args []Set) Set {
	out := s
	for _, arg := range args {
		if _, constant := arg.AllConstants(); arg.of != nil {
			out.of, out.made, out.not = arg.of, true, arg.not
		} else if !constant {
			return s
		}
	}
	return out
}

// Single returns the set as that of one value, which no loop gives.
func (s Set) Single() Set {
	s.of, s.made, s.not = nil, false, false
	return s
}

// computed says that a candidate is known by its function alone.
func (s Set) computed() bool {
	return slices.ContainsFunc(s.list, func(c Candidate) bool { _, ok := c.(Made); return ok })
}

// Each joins what f returns for every candidate.
func (s Set) Each(f func(Candidate) Set) Set {
	out := Set{open: s.open}
	for _, c := range s.list {
		out = out.and(f(c))
	}
	return out
}

// Constants returns the constants among the candidates.
func (s Set) Constants() []Constant {
	var all []Constant
	for _, c := range s.list {
		switch c := c.(type) {
		case Constant:
			all = append(all, c)
		case document:
			if k, ok := c.constant(); ok {
				all = append(all, k)
			}
		}
	}
	return all
}

// Parts returns the parts of the input among the candidates.
func (s Set) Parts() []InputPart {
	var all []InputPart
	for _, c := range s.list {
		if p, ok := c.(InputPart); ok {
			all = append(all, p)
		}
	}
	return all
}

// PartsNamed returns the parts of the input whose members' names are among the
// candidates, as those of object.keys.
func (s Set) PartsNamed() []InputPart {
	var all []InputPart
	for _, c := range s.list {
		if names, ok := c.(memberNames); ok {
			all = append(all, names.of)
		}
	}
	return all
}

// Literals returns the collections among the candidates that are written out.
func (s Set) Literals() []Literal {
	var all []Literal
	for _, c := range s.list {
		if l, ok := c.(Literal); ok {
			all = append(all, l)
		}
	}
	return all
}

// AllConstants returns the constants of a set that holds nothing else.
func (s Set) AllConstants() ([]Constant, bool) {
	all := s.Constants()
	return all, !s.open && len(all) == len(s.list) && len(all) > 0
}

// AllParts returns the parts of a set that holds nothing else.
func (s Set) AllParts() ([]InputPart, bool) {
	all := s.Parts()
	return all, !s.open && len(all) == len(s.list) && len(all) > 0
}
