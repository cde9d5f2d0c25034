package wire

// A scope is a schema resource that is being applied, and those around it. One that is
// applied inside of itself is there once: a dynamic anchor is that of the outermost.
type scope struct {
	resource int
	up       *scope
	inner    []*scope // those that were entered from here
}

// enter returns the scope of a resource that is applied in another scope. It is the same
// one each time.
func (c *checker) enter(in *scope, resource int) *scope {
	for s := in; s != nil; s = s.up {
		if s.resource == resource {
			return in
		}
	}
	inner := &c.outer
	if in != nil {
		inner = &in.inner
	}
	for _, s := range *inner {
		if s.resource == resource {
			return s
		}
	}
	s := &scope{resource: resource, up: in}
	*inner = append(*inner, s)
	return s
}

// A memo is what became of a node that was held against a value before.
type memo struct {
	ok   bool
	why  failure    // of a trial that failed
	seen *evaluated // what was looked at; nil where it was not asked for
}

type memoKey struct {
	node, value int
	in          *scope
	trial       bool
}

// patience is how often a node is held against a value, for each node and each value,
// before the checker begins to remember what becomes of that. Tests set it to 0.
var patience = 8

// node reports whether a value fits a node. What of the value was looked at is added
// to seen, unless that is nil.
//
// Branches that lead to the same node hold it against the same value again, and twice as
// often with each level of a recursion. What has taken longer than values and nodes
// explain is therefore remembered.
func (c *checker) node(id, v int, in *scope, seen *evaluated) bool {
	c.visits++
	if c.visits <= patience*(len(c.tape.cells)+len(c.schema.Nodes)) || !c.schema.prepared[id-1].shared {
		return c.apply(id, v, in, seen)
	}
	key := memoKey{id, v, in, c.trials > 0}
	m, known := c.memos[key]
	if known && m.ok && (seen == nil || m.seen != nil) {
		seen.merge(m.seen)
		return true
	}
	if known && !m.ok {
		if key.trial {
			c.fail(m.why)
		} // else it is noted
		return false
	}
	m = memo{}
	if seen != nil {
		m.seen = c.evaluated(v)
	}
	if m.ok = c.apply(id, v, in, m.seen); m.ok {
		seen.merge(m.seen)
	} else {
		m.why = c.why
	}
	if c.memos == nil {
		c.memos = map[memoKey]memo{}
	}
	c.memos[key] = m
	return m.ok
}

// share marks the nodes that several nodes lead to, or a dynamic anchor.
func (s *Schema) share() {
	led := make([]int, len(s.Nodes)+1)
	led[1]++
	for i := range s.Nodes {
		n := &s.Nodes[i]
		for _, to := range []int{n.Rest, n.Contains, n.Additional, n.Names, n.Not, n.If, n.Then, n.Else, n.Ref, n.UnevaluatedMembers, n.UnevaluatedItems} {
			led[to]++
		}
		for _, list := range [][]int{n.Prefix, n.All, n.Any, n.One} {
			for _, to := range list {
				led[to]++
			}
		}
		for _, list := range [][]Part{n.Properties, n.Dependencies} {
			for _, p := range list {
				led[p.Node]++
			}
		}
		for _, p := range n.Patterns {
			led[p.Node]++
		}
	}
	for _, anchors := range s.Resources {
		for _, a := range anchors {
			led[a.Node] += 2
		}
	}
	for i := range s.prepared {
		s.prepared[i].shared = led[i+1] > 1
	}
}
