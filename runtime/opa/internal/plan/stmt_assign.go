package plan

import (
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/ir"
)

// set compiles the assignment of a constant.
func (c *scope) set(to ir.Local, value *ast.Term) op {
	t := c.local(to)
	return func(f *frame) int { f.locals[t] = value; return next }
}

// assigned compiles what sets a local.
func (c *scope) assigned(s ir.Stmt) op {
	switch s := s.(type) {
	case *constant:
		return c.set(s.target, s.value)
	case *ir.AssignIntStmt:
		return c.set(s.Target, ast.InternedTerm(int(s.Value)))
	case *ir.MakeNumberIntStmt:
		return c.set(s.Target, ast.InternedTerm(int(s.Value)))
	case *ir.MakeNumberRefStmt:
		return c.set(s.Target, c.number(s))
	case *ir.MakeNullStmt:
		return c.set(s.Target, ast.InternedNullTerm)
	case *ir.ResetLocalStmt:
		return c.set(s.Target, nil)
	case *ir.AssignVarStmt:
		v, t := c.operand(s.Source), c.local(s.Target)
		return func(f *frame) int { f.locals[t] = v.of(f); return next }
	case *ir.AssignVarOnceStmt:
		v, t := c.operand(s.Source), c.local(s.Target)
		return func(f *frame) int {
			x := v.of(f)
			if f.locals[t] != nil && !same(f.locals[t], x) {
				return f.failed(errConflict)
			}
			f.locals[t] = x
			return next
		}
	}
	return nil
}
