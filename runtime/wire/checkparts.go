package wire

import "slices"

// object applies the schemas of the members of an object.
func (c *checker) object(id, v int, in *scope, seen *evaluated) bool {
	n := &c.schema.Nodes[id-1]
	ok := c.required(id, v)
	for _, d := range n.Dependencies {
		if !ok && c.trials > 0 {
			return false
		}
		if c.find(v, d.Name).cell > 0 {
			ok = c.node(d.Node, v, in, seen) && ok
		}
	}
	if len(n.Properties) == 0 && len(n.Patterns) == 0 && n.Additional == 0 && n.Names == 0 {
		return ok
	}
	if 16*len(n.Properties) < c.tape.cells[v].size && len(n.Patterns) == 0 && n.Additional == 0 && n.Names == 0 {
		return c.fewMembers(id, v, in, seen, ok)
	}
	for m, i := v+1, 0; m < c.tape.cells[v].next; m, i = c.tape.cells[m].next, i+1 {
		if !ok && c.trials > 0 {
			return false
		}
		ok = c.oneMember(id, v, m, i, in, seen) && ok
	}
	return ok
}

// fewMembers is object for a node that describes few of many members, and says nothing of the others.
func (c *checker) fewMembers(id, v int, in *scope, seen *evaluated, ok bool) bool {
	var found []named
	for _, p := range c.schema.Nodes[id-1].Properties {
		if m := c.find(v, p.Name); m.cell > 0 {
			found = append(found, m)
		}
	}
	slices.SortFunc(found, func(a, b named) int { return a.cell - b.cell })
	for _, m := range found {
		if !ok && c.trials > 0 {
			return false
		}
		ok = c.oneMember(id, v, m.cell, m.number, in, seen) && ok
	}
	return ok
}

// oneMember applies the schemas of member number i, which stands at m, of an object.
func (c *checker) oneMember(id, v, m, i int, in *scope, seen *evaluated) bool {
	c.steps++
	n, name := &c.schema.Nodes[id-1], c.tape.cells[m].name
	ok, hit := true, false
	if n.Names > 0 {
		ok = c.name(id, m, in)
	}
	if part := c.schema.prepared[id-1].index[name]; part > 0 {
		hit = true
		ok = c.below(failNever, id, part, m, in) && ok
	}
	for k := range n.Patterns {
		if p := &n.Patterns[k]; p.Pattern.match(name) {
			hit = true
			ok = c.below(failNever, id, p.Node, m, in) && ok
		}
	}
	if !hit && n.Additional > 0 {
		hit = true
		ok = c.below(failAdditional, id, n.Additional, m, in) && ok
	}
	if hit {
		seen.add(i)
	}
	return ok
}

// below applies a node to a part of the value. Where the node allows nothing, what
// says which keyword of node id rules the part out.
func (c *checker) below(what failureKind, id, part, v int, in *scope) bool {
	if c.schema.Nodes[part-1].Never {
		return c.fail(failure{what: what, node: id, value: v})
	}
	return c.node(part, v, in, nil)
}

// name applies the schema of names to the name of a member.
func (c *checker) name(id, m int, in *scope) bool {
	n := &c.schema.Nodes[id-1]
	text := appendString(nil, c.tape.cells[m].name)
	names := checker{schema: c.schema, notes: c.notes, tape: tape{b: text, cells: []cell{{kind: TypeString, end: len(text), next: 1}}}}
	if names.trial(n.Names, 0, in, nil) {
		return true
	}
	return c.fail(failure{what: failName, node: names.last.node, value: m, of: names.last.what, arg: names.last.arg})
}

// A named is where a member of an object stands, and its number. The cell of none is 0.
type named struct{ cell, number int }

// find returns the member of an object that has a name. What has taken longer than values
// and nodes explain is looked up from then on.
func (c *checker) find(v int, name string) named {
	all, indexed := c.names[v]
	if !indexed && c.scanned > patience*(len(c.tape.cells)+len(c.schema.Nodes)) {
		all, indexed = c.index(v), true
	}
	if indexed {
		c.steps++
		return all[name]
	}
	for m, i := v+1, 0; m < c.tape.cells[v].next; m, i = c.tape.cells[m].next, i+1 {
		c.scanned++
		c.steps++
		if c.tape.cells[m].name == name {
			return named{m, i}
		}
	}
	return named{}
}

// index makes the names of the members of an object known.
func (c *checker) index(v int) map[string]named {
	all := make(map[string]named, c.tape.cells[v].size)
	for m, i := v+1, 0; m < c.tape.cells[v].next; m, i = c.tape.cells[m].next, i+1 {
		c.steps++
		all[c.tape.cells[m].name] = named{m, i}
	}
	if c.names == nil {
		c.names = map[int]map[string]named{}
	}
	c.names[v] = all
	return all
}

// required notes the members that an object lacks.
func (c *checker) required(id, v int) bool {
	n := &c.schema.Nodes[id-1]
	ok := true
	for i, name := range n.Required {
		if c.find(v, name).cell == 0 {
			if ok = c.fail(failure{what: failRequired, node: id, value: v, arg: i}); c.trials > 0 {
				return false
			}
		}
	}
	for i, need := range n.Needs {
		if c.find(v, need.Name).cell == 0 {
			continue
		}
		for j, name := range need.Required {
			if c.find(v, name).cell == 0 {
				if ok = c.fail(failure{what: failNeed, node: id, value: v, arg: i, other: j}); c.trials > 0 {
					return false
				}
			}
		}
	}
	return ok
}

// array applies the schemas of the elements of an array.
func (c *checker) array(id, v int, in *scope, seen *evaluated) bool {
	n := &c.schema.Nodes[id-1]
	if n.Prefix == nil && n.Rest == 0 && n.Contains == 0 {
		return true
	}
	ok, found := true, 0
	for m, i := v+1, 0; m < c.tape.cells[v].next; m, i = c.tape.cells[m].next, i+1 {
		if !ok && c.trials > 0 {
			return false
		}
		c.steps++
		switch {
		case i < len(n.Prefix):
			seen.add(i)
			ok = c.below(failNever, id, n.Prefix[i], m, in) && ok
		case n.Rest > 0:
			seen.add(i)
			ok = c.below(failItems, id, n.Rest, m, in) && ok
		}
		if n.Contains > 0 && c.trial(n.Contains, m, in, nil) {
			seen.add(i)
			found++
		}
	}
	if n.Contains == 0 || !ok && c.trials > 0 {
		return ok
	}
	switch r := n.Contain; {
	case r.Has&Min == 0 && found < 1, r.Has&Min != 0 && found < r.Min:
		return c.fail(failure{what: failContains, node: id, value: v, arg: found})
	case r.Has&Max != 0 && found > r.Max:
		return c.fail(failure{what: failContainsMax, node: id, value: v, arg: found})
	}
	return ok
}

// unevaluated applies the schemas of what no other keyword has looked at.
func (c *checker) unevaluated(n *Node, v int, in *scope, seen *evaluated) bool {
	part, what := 0, failUnevaluated
	switch c.tape.cells[v].kind {
	case TypeObject:
		part = n.UnevaluatedMembers
	case TypeArray:
		part, what = n.UnevaluatedItems, failUnevaluatedItem
	}
	if part == 0 {
		return true
	}
	ok := true
	for m, i := v+1, 0; m < c.tape.cells[v].next; m, i = c.tape.cells[m].next, i+1 {
		if c.steps++; seen.has(i) {
			continue
		}
		seen.add(i)
		if ok = c.below(what, 0, part, m, in) && ok; !ok && c.trials > 0 {
			return false
		}
	}
	return ok
}

// An evaluated is the set of the elements or members, by number, that keywords have
// looked at. A nil one is not kept.
type evaluated struct {
	words int      // that the set takes
	bits  []uint64 // nil while it is empty
}

// evaluated returns an empty set for a value.
func (c *checker) evaluated(v int) *evaluated {
	return &evaluated{words: (c.tape.cells[v].size + 63) / 64}
}

func (e *evaluated) add(i int) {
	if e == nil {
		return
	}
	if e.bits == nil {
		e.bits = make([]uint64, e.words)
	}
	e.bits[i/64] |= 1 << (i % 64)
}

func (e *evaluated) has(i int) bool { return e.bits != nil && e.bits[i/64]&(1<<(i%64)) != 0 }

func (e *evaluated) merge(of *evaluated) {
	if e == nil || of == nil || of.bits == nil {
		return
	}
	if e.bits == nil {
		e.bits = make([]uint64, e.words)
	}
	for i, word := range of.bits {
		e.bits[i] |= word
	}
}
