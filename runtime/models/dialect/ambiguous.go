package dialect

import (
	"slices"

	"github.com/ambit-tools/ambit/internal/jsonschema"
)

// ambiguous notes the members that were made nullable and that Schema.Restore may not take the null out of:
// an object may be of another branch of the union too, in which the schema itself allows null there.
func (w *rewriter) ambiguous(root *value) {
	a := &ambiguity{w: w, reader: w.reader(root), walked: map[*value]bool{}, compared: map[[2]*value]bool{}, both: map[[2]*value]bool{}}
	if a.walk(root); a.pairs > maxPairs {
		w.noteAt("", "anyOf", Refused, "its unions have too many branches to find those that null may belong to")
	}
}

// maxPairs bounds how many pairs of branches are compared.
const maxPairs = 1_000_000

type ambiguity struct {
	w        *rewriter
	reader   reader
	walked   map[*value]bool
	compared map[[2]*value]bool
	both     map[[2]*value]bool // what meet is asked of, and its answers
	pairs    int                // that were compared
}

// walk looks at the unions of a schema and of all in it.
func (a *ambiguity) walk(node *value) {
	if !node.Is(jsonschema.Object) || a.walked[node] {
		return
	}
	a.walked[node] = true
	branches := a.reader.expand([]*value{node})
	for i, x := range branches {
		for _, y := range branches[:i] {
			if a.pairs++; a.pairs > maxPairs {
				return
			}
			if a.meet(x, y) {
				a.compare(x, y)
			}
		}
	}
	for _, s := range branches {
		for _, m := range s.ObjectOf("properties").Fields() {
			a.walk(m.Value)
		}
		tuple := a.reader.tuples[s]
		for _, element := range tuple {
			a.walk(element)
		}
		if tuple == nil {
			a.walk(s.ObjectOf("items"))
		}
	}
}

// compare notes the members of which null means something else in x than in y: a value may be of both.
func (a *ambiguity) compare(x, y *value) {
	key := [2]*value{x, y}
	if a.compared[key] {
		return
	}
	a.compared[key] = true
	for _, m := range x.ObjectOf("properties").Fields() {
		in, other := m.Value, y.ObjectOf("properties").ObjectOf(m.Name)
		if !in.Is(jsonschema.Object) || other == nil {
			continue
		}
		madeIn, madeOther := a.reader.made[x][m.Name], a.reader.made[y][m.Name]
		switch {
		case madeIn != "" && madeOther == "" && a.reader.admitsNull(other):
			a.note(madeIn)
		case madeIn == "" && madeOther != "" && a.reader.admitsNull(in):
			a.note(madeOther)
		}
		a.each(in, other)
	}
	for i := range max(1, len(a.reader.tuples[x]), len(a.reader.tuples[y])) {
		if in, other := a.reader.element(x, i), a.reader.element(y, i); in != nil && other != nil {
			a.each(in, other)
		}
	}
}

func (a *ambiguity) each(x, y *value) {
	for _, in := range a.reader.expand([]*value{x}) {
		for _, other := range a.reader.expand([]*value{y}) {
			if a.pairs++; a.pairs > maxPairs {
				return
			}
			if in != other && a.meet(in, other) {
				a.compare(in, other)
			}
		}
	}
}

func (a *ambiguity) note(at string) {
	a.w.noteAt(at, "required", Changed, "null may be left where the member could be left out: another branch of the union, which allows null here, may allow the same object")
}

// meet reports whether a value may be of both x and y, which are no unions, as far as names, types and listed
// values say.
func (a *ambiguity) meet(x, y *value) bool {
	key := [2]*value{x, y}
	if answer, ok := a.both[key]; ok {
		return answer
	}
	if len(a.both) > maxNodes {
		return true
	}
	a.both[key] = true // while it is asked: what refers to itself meets unless something else says no
	a.both[key] = a.couldMeet(x, y)
	return a.both[key]
}

func (a *ambiguity) couldMeet(x, y *value) bool {
	if !slices.ContainsFunc(kinds(x), func(k string) bool { return slices.Contains(kinds(y), k) }) {
		return false
	}
	if one, ok := listed(x); ok {
		if two, ok := listed(y); ok {
			return slices.ContainsFunc(one, func(v *value) bool {
				return slices.ContainsFunc(two, func(u *value) bool { return sameScalar(v, u) })
			})
		}
	}
	props, others := x.ObjectOf("properties"), y.ObjectOf("properties")
	if props == nil || others == nil {
		return true
	}
	if len(props.Members) != len(others.Members) {
		return false
	}
	for _, m := range props.Members {
		in, other := m.Value, others.ObjectOf(m.Name)
		if !in.Is(jsonschema.Object) || other == nil || !slices.ContainsFunc(a.reader.expand([]*value{in}), func(x *value) bool {
			return slices.ContainsFunc(a.reader.expand([]*value{other}), func(y *value) bool { return a.meet(x, y) })
		}) {
			return false
		}
	}
	return true
}

// kinds returns the types of a rewritten schema that is neither a union nor a reference, numbers as one.
func kinds(s *value) []string {
	types := slices.Clone(typesOf(s))
	for i, t := range types {
		if t == "integer" {
			types[i] = "number"
		}
	}
	return types
}
