package wire

// A checker holds a value against a Schema.
type checker struct {
	schema *Schema
	tape   tape
	notes  *notes
	base   int // the offset of the value in the text of notes

	// A trial is the schema of a branch: that it fails is no violation yet.
	trials int
	why    failure // the first failure of the trial
	last   failure // that of the trial before

	visits  int // of nodes
	scanned int // members that were looked at for their names
	steps   int // all members, elements and bytes that were looked at; a test counts them
	memos   map[memoKey]memo
	names   map[int]map[string]named // of the members of objects
	outer   []*scope

	canonized int // the value of which canon is the canonical form, counted from 1
	canon     []byte
}

// check notes what is wrong with the value that text holds, which begins at an
// offset and is valid JSON.
func (s *Schema) check(n *notes, at int, text []byte) {
	c := s.checker(n, at, text)
	if s.Hidden {
		n.mask(at)
		defer n.unmask()
	}
	c.node(1, 0, nil, nil)
}

// Refusal returns which node, of those that node number id leads to, a valid JSON text does
// not fit, and by which keyword; 0 where it fits. The generator asks it of constants.
func (s *Schema) Refusal(id int, text []byte) (node int, keyword string) {
	c := s.checker(new(notes), 0, text)
	if c.trial(id, 0, nil, nil) {
		return 0, ""
	}
	return max(c.last.node, 1), c.keyword(c.last)
}

// checker returns a checker of the value that text holds.
func (s *Schema) checker(n *notes, at int, text []byte) *checker {
	s.prepare()
	c := &checker{schema: s, notes: n, base: at}
	c.tape.b = text
	r := Reader{b: text, lim: rawLimits(len(text))}
	c.tape.cells = make([]cell, 0, 1+len(text)/8)
	c.tape.read(&r, "")
	return c
}

// apply is node without a memory.
func (c *checker) apply(id, v int, in *scope, seen *evaluated) bool {
	n := &c.schema.Nodes[id-1]
	if n.Never {
		return c.fail(failure{what: failNever, node: id, value: v})
	}
	if n.Resource > 0 {
		in = c.enter(in, n.Resource)
	}
	own := seen
	if n.UnevaluatedMembers > 0 || n.UnevaluatedItems > 0 {
		own = c.evaluated(v)
	}
	ok := c.itself(id, v)
	if !ok && c.trials > 0 {
		return false
	}
	switch c.tape.cells[v].kind {
	case TypeObject:
		ok = c.object(id, v, in, own) && ok
	case TypeArray:
		ok = c.array(id, v, in, own) && ok
	}
	if !ok && c.trials > 0 {
		return false
	}
	ok = c.sameValue(id, v, in, own) && ok
	if !ok || own == nil {
		return ok // what is left over is not judged beside other violations
	}
	if own != seen {
		ok = c.unevaluated(n, v, in, own)
		seen.merge(own)
	}
	return ok
}

// trial reports whether a value fits a node, without noting why not.
func (c *checker) trial(id, v int, in *scope, seen *evaluated) bool {
	around := c.why
	c.trials++
	c.why = failure{}
	ok := c.node(id, v, in, seen)
	c.trials--
	c.last, c.why = c.why, around
	return ok
}

// branch is a trial that leaves seen as it was when the value does not fit.
func (c *checker) branch(id, v int, in *scope, seen *evaluated) bool {
	if seen == nil {
		return c.trial(id, v, in, nil)
	}
	own := c.evaluated(v)
	ok := c.trial(id, v, in, own)
	if ok {
		seen.merge(own)
	}
	return ok
}

// sameValue applies the schemas of the same value (SEMANTICS 7.6).
func (c *checker) sameValue(id, v int, in *scope, seen *evaluated) bool {
	n := &c.schema.Nodes[id-1]
	ok := true
	if n.Ref > 0 {
		ok = c.node(c.target(n, in), v, in, seen)
	}
	for _, part := range n.All {
		if ok = ok || c.trials == 0; !ok {
			return false
		}
		ok = c.node(part, v, in, seen) && ok
	}
	if !ok && c.trials > 0 {
		return false
	}
	if n.Any != nil {
		ok = c.any(id, v, in, seen) && ok
	}
	if n.One != nil && (ok || c.trials == 0) {
		ok = c.one(id, v, in, seen) && ok
	}
	if n.Not > 0 && (ok || c.trials == 0) && c.trial(n.Not, v, in, nil) {
		ok = c.fail(failure{what: failNot, node: id, value: v})
	}
	if n.If > 0 && (ok || c.trials == 0) {
		then := n.Then
		if !c.branch(n.If, v, in, seen) {
			then = n.Else
		}
		ok = (then == 0 || c.node(then, v, in, seen)) && ok
	}
	return ok
}

// target is the node that a reference leads to: of a dynamic anchor, the one in
// the outermost resource that has it.
func (c *checker) target(n *Node, in *scope) int {
	to := n.Ref
	if n.Anchor == "" {
		return to
	}
	for ; in != nil; in = in.up {
		for _, a := range c.schema.Resources[in.resource-1] {
			if a.Name == n.Anchor {
				to = a.Node
			}
		}
	}
	return to
}

// any reports whether a value fits one of the branches at least.
func (c *checker) any(id, v int, in *scope, seen *evaluated) bool {
	n := &c.schema.Nodes[id-1]
	found := false
	var why []failure
	for _, b := range n.Any {
		if c.branch(b, v, in, seen) {
			if found = true; seen == nil {
				return true
			}
		} else if c.trials == 0 && !found {
			why = c.because(why, len(n.Any))
		}
	}
	return found || c.failUnion(failAny, id, v, in, why)
}

// one reports whether a value fits exactly one of the branches.
func (c *checker) one(id, v int, in *scope, seen *evaluated) bool {
	n := &c.schema.Nodes[id-1]
	first := -1
	var why []failure
	for i, b := range n.One {
		switch {
		case !c.branch(b, v, in, seen):
			if c.trials == 0 && first < 0 {
				why = c.because(why, len(n.One))
			}
		case first >= 0:
			return c.fail(failure{what: failTwo, node: id, value: v, arg: first, other: i})
		default:
			first = i
		}
	}
	return first >= 0 || c.failUnion(failOne, id, v, in, why)
}

// because adds the failure of the last trial to those of so many branches.
func (c *checker) because(why []failure, branches int) []failure {
	if why == nil {
		why = make([]failure, 0, branches)
	}
	return append(why, c.last)
}
