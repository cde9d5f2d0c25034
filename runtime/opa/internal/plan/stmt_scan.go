package plan

import (
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/ir"
)

// A loop is the body of a scan with the locals that it sets.
type loop struct {
	key, value int
	body       block
}

// step runs the body for one element. It returns next or 0 to go on.
func (l *loop) step(f *frame, k, v *ast.Term) int {
	if !f.m.tick() {
		return fail
	}
	f.locals[l.key], f.locals[l.value] = k, v
	return run(l.body, f)
}

// scan compiles a loop over a collection, in the order of OPA. Anything else has no elements.
func (c *compiler) scan(s *ir.ScanStmt) (op, error) {
	l := loop{key: c.local(s.Key), value: c.local(s.Value)}
	source := c.local(s.Source)
	body, err := c.block(s.Block)
	l.body = body
	return func(f *frame) int {
		switch r := l.over(f, f.locals[source]); {
		case r == leave || r == fail:
			return r
		case r > 1: // the loop itself counts as a block
			return r - 2
		}
		return next
	}, err
}

// over runs the loop and returns what ended it.
func (l *loop) over(f *frame, t *ast.Term) int {
	r := next
	switch t := t.Value.(type) {
	case ast.Object:
		for _, k := range t.Keys() {
			if r = l.step(f, k, t.Get(k)); r > 0 {
				return r
			}
		}
	case ast.Set:
		for _, e := range t.Slice() {
			if r = l.step(f, e, e); r > 0 {
				return r
			}
		}
	case *ast.Array:
		for i := range t.Len() {
			if r = l.step(f, ast.InternedTerm(i), t.Elem(i)); r > 0 {
				return r
			}
		}
	}
	return next
}
