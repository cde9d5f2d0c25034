// Package inclusion finds whether every value of one schema is one of another.
//
// It answers yes where it has a proof, by comparing keyword with keyword, and no wherever it has
// none: inclusion of schemas cannot be decided cheaply, and a change that is taken for a break by
// mistake costs less than one that is missed.
package inclusion

import (
	"slices"

	"github.com/ambit-tools/ambit/dsl"
)

// effort bounds the steps of one comparison, which branches that contain branches multiply.
const effort = 200_000

// maxDepth bounds how deep schemas are followed.
const maxDepth = 200

// A Side is the schemas of one declaration.
type Side struct{ names *names }

// Of returns the schemas of f.
func Of(f *dsl.File) *Side { return &Side{newNames(f)} }

// Included reports whether every value of a, which is of s, is one of b, which is of other. Where
// that is not known, why is the keyword, of b or of a schema within it, from which it cannot be told.
func (s *Side) Included(a *dsl.Schema, other *Side, b *dsl.Schema) (ok bool, why string) {
	c := &comparer{open: map[pair]bool{}, failed: map[pair]bool{}, alike: map[pair]bool{}}
	ok = c.in(s.names.of(a), other.names.of(b))
	return ok, c.why
}

type pair struct{ a, b node }

type comparer struct {
	open   map[pair]bool // being proved: a value that refutes one of these refutes it by a smaller value
	failed map[pair]bool
	alike  map[pair]bool // the same, or taken to be
	path   []pair        // those of alike that are not proved
	steps  int
	depth  int
	why    string // the first keyword that nothing proved
}

// in reports whether every value of a is known to be one of b.
func (c *comparer) in(a, b node) bool {
	a, b = a.plain(), b.plain()
	if b.any() || a.never() {
		return true
	}
	if b.never() {
		return c.no("false")
	}
	key := pair{a, b}
	if c.open[key] {
		return true
	}
	c.steps++
	if c.failed[key] || c.steps > effort || c.depth > maxDepth {
		return c.no("$ref")
	}
	if c.same(a, b) {
		return true
	}
	c.open[key] = true
	c.depth++
	defer func() {
		c.depth--
		delete(c.open, key)
	}()
	for _, m := range b.v.Members {
		if !c.satisfies(a, b, m.Name) {
			c.failed[key] = true
			return c.no(m.Name)
		}
	}
	return true
}

func (c *comparer) no(keyword string) bool {
	if c.why == "" {
		c.why = keyword
	}
	return false
}

// satisfies reports whether the values of a fulfill one keyword of b: by what a says itself, by
// one of the schemas that they all fit, or by each of those of which they fit one.
func (c *comparer) satisfies(a, b node, key string) bool {
	if c.keyword(a, b, key) {
		return true
	}
	if c.steps++; c.steps > effort || c.depth > maxDepth {
		return false
	}
	c.depth++
	defer func() { c.depth-- }()
	by := func(n node) bool { n = n.plain(); return n.never() || c.satisfies(n, b, key) }
	if to, ok := a.target(); ok && by(to) {
		return true
	}
	if slices.ContainsFunc(a.list("allOf"), by) {
		return true
	}
	for _, union := range []string{"anyOf", "oneOf"} {
		if branches := a.list(union); len(branches) > 0 && !slices.ContainsFunc(branches, func(n node) bool { return !by(n) }) {
			return true
		}
	}
	return false
}

// keyword reports whether what a says itself makes its values fulfill one keyword of b.
func (c *comparer) keyword(a, b node, key string) bool {
	if c.types(a, 0)&about(key) == 0 {
		return true
	}
	switch key {
	case "$ref":
		to, ok := b.target()
		return ok && c.in(a, to)
	case "type":
		return c.types(a, 0)&^named(b.get("type")) == 0
	case "enum", "const":
		return c.listedIn(a, b)
	case "allOf":
		return !slices.ContainsFunc(b.list(key), func(n node) bool { return !c.in(a, n) })
	case "anyOf":
		return slices.ContainsFunc(b.list(key), func(n node) bool { return c.in(a, n) })
	case "oneOf":
		return c.oneOf(a, b)
	case "not":
		to := b.sub(key)
		return a.has(key) && c.in(to, a.sub(key)) || c.disjoint(a, to)
	case "if":
		return c.conditional(a, b)
	case "unevaluatedProperties", "unevaluatedItems":
		return c.unevaluated(a, b, key)
	}
	if silent[key] {
		return true
	}
	if holds, known := bounds[key]; known {
		return holds(a, b, key) || listedWithin(a, b, key)
	}
	return c.structure(a, b, key)
}

// oneOf: every value fits a branch, and branches that exclude each other do not both fit. Else
// the branches have to be the same sets.
func (c *comparer) oneOf(a, b node) bool {
	branches := b.list("oneOf")
	apart := true
	for i, x := range branches {
		for _, y := range branches[i+1:] {
			apart = apart && c.disjoint(x, y)
		}
	}
	if apart {
		return slices.ContainsFunc(branches, func(n node) bool { return c.in(a, n) })
	}
	was := a.list("oneOf")
	if len(was) != len(branches) {
		return false
	}
	for i := range was {
		if !c.in(was[i], branches[i]) || !c.in(branches[i], was[i]) {
			return false
		}
	}
	return true
}

func (c *comparer) conditional(a, b node) bool {
	if !b.has("then") && !b.has("else") {
		return true
	}
	if c.in(a, b.sub("then")) && c.in(a, b.sub("else")) {
		return true
	}
	return a.has("if") && c.in(a.sub("if"), b.sub("if")) && c.in(b.sub("if"), a.sub("if")) &&
		c.in(a.sub("then"), b.sub("then")) && c.in(a.sub("else"), b.sub("else"))
}

// unevaluated compares where everything that evaluates members is the same.
func (c *comparer) unevaluated(a, b node, key string) bool {
	if !a.has(key) || !c.in(a.sub(key), b.sub(key)) {
		return false
	}
	return c.assuming(func() bool {
		return !slices.ContainsFunc(applicators, func(k string) bool { return !c.sameKeyword(a, b, k) })
	})
}

// disjoint reports whether no value is known to fit both: they have no type in common, or a
// member that both require has no value in common.
func (c *comparer) disjoint(x, y node) bool {
	x, y = x.plain(), y.plain()
	both := c.types(x, 0) & c.types(y, 0)
	if both == 0 {
		return true
	}
	if disjointValues(x, y) {
		return true
	}
	if both != object {
		return false
	}
	for _, name := range x.texts("required") {
		if !slices.Contains(y.texts("required"), name) {
			continue
		}
		p, q := x.member(name), y.member(name)
		if p != nil && q != nil && disjointValues(p.plain(), q.plain()) {
			return true
		}
	}
	return false
}

func disjointValues(x, y node) bool {
	a, b := x.values(), y.values()
	return a != nil && b != nil && !slices.ContainsFunc(a, func(v *dsl.Value) bool { return Holds(b, v) })
}
