package plan

import (
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/ir"
)

// when ends the block unless ok.
func when(ok bool) int {
	if ok {
		return next
	}
	return 0
}

// same compares two values. Numbers are compared by value: 1 and 1.0 are the same.
func same(a, b *ast.Term) bool {
	if a == b {
		return true
	}
	if x, ok := a.Value.(ast.String); ok {
		y, ok := b.Value.(ast.String)
		return ok && x == y
	}
	return a.Value.Compare(b.Value) == 0
}

// compared compiles what compares values and asks whether a local is set.
func (c *scope) compared(s ir.Stmt) op {
	switch s := s.(type) {
	case *ir.EqualStmt:
		a, b := c.operand(s.A), c.operand(s.B)
		return func(f *frame) int {
			x, y := a.of(f), b.of(f)
			return when(x != nil && y != nil && same(x, y))
		}
	case *ir.NotEqualStmt:
		a, b := c.operand(s.A), c.operand(s.B)
		return func(f *frame) int { return when(!same(a.of(f), b.of(f))) }
	case *ir.IsDefinedStmt:
		i := c.local(s.Source)
		return func(f *frame) int { return when(f.locals[i] != nil) }
	case *ir.IsUndefinedStmt:
		i := c.local(s.Source)
		return func(f *frame) int { return when(f.locals[i] == nil) }
	}
	return nil
}

// kind compiles what asks for the kind of a value.
func (c *scope) kind(s ir.Stmt) op {
	switch s := s.(type) {
	case *ir.IsArrayStmt:
		v := c.operand(s.Source)
		return func(f *frame) int { _, ok := v.of(f).Value.(*ast.Array); return when(ok) }
	case *ir.IsObjectStmt:
		v := c.operand(s.Source)
		return func(f *frame) int { _, ok := v.of(f).Value.(ast.Object); return when(ok) }
	case *ir.IsSetStmt:
		v := c.operand(s.Source)
		return func(f *frame) int { _, ok := v.of(f).Value.(ast.Set); return when(ok) }
	}
	return nil
}
