package plan

import (
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/ir"
)

// length returns how many elements a collection has, -1 for anything else.
func length(t *ast.Term) int {
	switch v := t.Value.(type) {
	case ast.Object:
		return v.Len()
	case ast.Set:
		return v.Len()
	case *ast.Array:
		return v.Len()
	}
	return -1
}

// looked compiles what looks into a collection.
func (c *scope) looked(s ir.Stmt) op {
	switch s := s.(type) {
	case *ir.DotStmt:
		source, key, t := c.operand(s.Source), c.operand(s.Key), c.local(s.Target)
		return func(f *frame) int {
			r := member(source.of(f), key.of(f))
			if r == nil {
				return 0
			}
			f.locals[t] = r
			return next
		}
	case *ir.LenStmt:
		v, t := c.operand(s.Source), c.local(s.Target)
		return func(f *frame) int {
			n := length(v.of(f))
			if n < 0 {
				return 0
			}
			f.locals[t] = ast.InternedTerm(n)
			return next
		}
	}
	return nil
}

// member returns what a collection has at a key, nil when there is nothing.
func member(t, key *ast.Term) *ast.Term {
	if t == nil {
		return nil
	}
	switch v := t.Value.(type) {
	case ast.Object:
		return v.Get(key)
	case ast.Set:
		if v.Contains(key) {
			return key
		}
	case *ast.Array:
		return v.Get(key)
	}
	return nil
}
