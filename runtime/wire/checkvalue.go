package wire

import "unicode/utf8"

// itself checks what a node says of a value without looking inside it.
func (c *checker) itself(id, v int) bool {
	n, x := &c.schema.Nodes[id-1], &c.tape.cells[v]
	ok := true
	kind := x.kind
	if kind == TypeInteger {
		kind |= TypeNumber
	}
	if n.Types != 0 && n.Types&kind == 0 {
		return c.fail(failure{what: failType, node: id, value: v})
	}
	if n.Enum != nil && !c.schema.prepared[id-1].enum[alias(c.canonical(v))] {
		ok = c.fail(failure{what: failEnum, node: id, value: v})
	}
	if !ok && c.trials > 0 {
		return false
	}
	switch x.kind {
	case TypeNumber, TypeInteger:
		ok = c.number(id, v) && ok
	case TypeString:
		ok = c.text(id, v) && ok
	case TypeArray:
		ok = c.counts(id, v, n.Items, failMinItems) && ok
		if n.Unique && (ok || c.trials == 0) && x.size > 1 {
			c.steps += len(c.tape.text(v))
			if i, j, dup := equalItems(c.tape.text(v)); dup {
				ok = c.fail(failure{what: failUnique, node: id, value: v, arg: i, other: j})
			}
		}
	case TypeObject:
		ok = c.counts(id, v, n.Members, failMinProperties) && ok
	}
	return ok
}

// canonical returns the form of a value that equal values share.
func (c *checker) canonical(v int) []byte {
	if c.canonized != v+1 {
		c.canonized, c.canon = v+1, canonicalText(c.tape.text(v))
		c.steps += len(c.tape.text(v))
	}
	return c.canon
}

// counts checks a number of elements or members; what is the failure of the lower bound.
func (c *checker) counts(id, v int, r Range, what failureKind) bool {
	n := c.tape.cells[v].size
	switch {
	case r.Has&Min != 0 && n < r.Min:
		return c.fail(failure{what: what, node: id, value: v})
	case r.Has&Max != 0 && n > r.Max:
		return c.fail(failure{what: what + 1, node: id, value: v})
	}
	return true
}

// number checks the bounds of a number, in decimal arithmetic.
func (c *checker) number(id, v int) bool {
	p := &c.schema.prepared[id-1]
	if p.min == nil && p.max == nil && p.above == nil && p.below == nil && p.step == nil {
		return true
	}
	d := parseDecimal(c.tape.text(v))
	ok := true
	fail := func(bad bool, what failureKind) {
		if bad && (ok || c.trials == 0) {
			ok = c.fail(failure{what: what, node: id, value: v})
		}
	}
	fail(p.min != nil && d.cmp(*p.min) < 0, failMinimum)
	fail(p.max != nil && d.cmp(*p.max) > 0, failMaximum)
	fail(p.above != nil && d.cmp(*p.above) <= 0, failExclusiveMinimum)
	fail(p.below != nil && d.cmp(*p.below) >= 0, failExclusiveMaximum)
	fail(p.step != nil && !d.multipleOf(*p.step), failMultipleOf)
	return ok
}

// text checks a string.
func (c *checker) text(id, v int) bool {
	n := &c.schema.Nodes[id-1]
	if n.Length.Has == 0 && n.Pattern == nil && n.Format == FormatNone {
		return true
	}
	s := c.tape.str(v)
	c.steps += len(s)
	ok := true
	fail := func(bad bool, what failureKind, arg int) {
		if bad && (ok || c.trials == 0) {
			ok = c.fail(failure{what: what, node: id, value: v, arg: arg})
		}
	}
	if n.Length.Has != 0 {
		count := utf8.RuneCountInString(s)
		fail(n.Length.Has&Min != 0 && count < n.Length.Min, failMinLength, count)
		fail(n.Length.Has&Max != 0 && count > n.Length.Max, failMaxLength, count)
	}
	fail(n.Pattern != nil && !n.Pattern.match(s), failPattern, 0)
	fail(!n.Format.match(s), failFormat, 0)
	return ok
}
