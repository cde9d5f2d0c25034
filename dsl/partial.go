package dsl

import (
	"cmp"
	"sort"
)

// A Part is what can be judged further of a file that has faults.
type Part struct {
	// Rules has every tool, without the rules of those where these have faults.
	// Nothing of it is whole but names and rules.
	Rules *File
	// Tools has only the tools without faults, and all else; nil when there are
	// faults elsewhere.
	Tools *File
}

// WithPart makes Parse call use with the parts without faults of a file for which
// it returns an error, so that the caller can find more faults in one run. Parse
// does not call use for a file that is not YAML.
func WithPart(use func(Part)) Option {
	return func(p *parser) { p.part = use }
}

// handPart calls the function of WithPart.
func (p *parser) handPart(root *node, found Diagnostics) {
	if root == nil || root.kind != nodeMap || len(p.found) > maxFaults {
		return // not all faults are known
	}
	for _, d := range found {
		if d.Pos.File != p.src.path {
			return // it is of no single tool
		}
	}
	p.file.source = p.src
	rules, tools := *p.file, *p.file
	rules.Tools, tools.Tools = nil, nil
	inTools := 0
	for i, t := range p.file.Tools {
		end := following(p.places, p.places["tools"], Pos{})
		if i+1 < len(p.file.Tools) {
			end = p.file.Tools[i+1].Pos // they are in the order of the file
		}
		n := found.between(t.Pos, end)
		inTools += n
		if n == 0 {
			tools.Tools = append(tools.Tools, t)
		}
		known := *t
		if at, ok := t.Keys["rules"]; ok && found.between(at, following(t.Keys, at, end)) > 0 {
			known.Rules = nil
		}
		rules.Tools = append(rules.Tools, &known)
	}
	if at, ok := p.places["rules"]; ok && found.between(at, following(p.places, at, Pos{})) > 0 {
		rules.Rules = nil
	}
	part := Part{Rules: &rules}
	if inTools == len(found) {
		part.Tools = &tools
	}
	p.part(part)
}

// between counts the faults from one place on and before another, the zero Pos
// standing for the end of the file. The faults are in the order of their places.
func (ds Diagnostics) between(from, to Pos) int {
	first := func(at Pos) int {
		return sort.Search(len(ds), func(i int) bool { return !before(ds[i].Pos, at) })
	}
	if to == (Pos{}) {
		return len(ds) - first(from)
	}
	return first(to) - first(from)
}

// following is the first of some places after at, or else end.
func following(places map[string]Pos, at, end Pos) Pos {
	for _, pos := range places {
		if before(at, pos) && (end == (Pos{}) || before(pos, end)) {
			end = pos
		}
	}
	return end
}

func before(a, b Pos) bool {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col)) < 0
}
