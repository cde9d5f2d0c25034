package plan

import "github.com/open-policy-agent/opa/v1/ir"

// control compiles what leaves a block or a function, and what gives a result.
func (c *scope) control(s ir.Stmt) op {
	switch s := s.(type) {
	case *ir.BreakStmt:
		n := int(s.Index)
		return func(*frame) int { return n }
	case *ir.ReturnLocalStmt:
		i := c.local(s.Source)
		return func(f *frame) int { f.result = f.locals[i]; return leave }
	case *ir.ResultSetAddStmt:
		i := c.local(s.Value)
		return func(f *frame) int { f.m.out = append(f.m.out, f.locals[i]); return next }
	}
	return nil
}
