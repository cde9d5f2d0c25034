package plan

import (
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/ir"
)

// made compiles what makes a collection. What is filled later was made in the same
// evaluation, and no other goroutine has it yet.
func (c *scope) made(s ir.Stmt) op {
	switch s := s.(type) {
	case *ir.MakeArrayStmt:
		t := c.local(s.Target)
		return func(f *frame) int { f.locals[t] = ast.ArrayTerm(); return next }
	case *ir.MakeObjectStmt:
		t := c.local(s.Target)
		return func(f *frame) int { f.locals[t] = ast.NewTerm(ast.NewObject()); return next }
	case *ir.MakeSetStmt:
		t := c.local(s.Target)
		return func(f *frame) int { f.locals[t] = emptySet; return next }
	case *ir.ObjectMergeStmt:
		a, b, t := c.local(s.A), c.local(s.B), c.local(s.Target)
		return func(f *frame) int { f.locals[t] = merge(f.locals[a], f.locals[b]); return next }
	}
	return nil
}

// filled compiles what adds to a collection.
func (c *scope) filled(s ir.Stmt) op {
	switch s := s.(type) {
	case *ir.ArrayAppendStmt:
		v, t := c.operand(s.Value), c.local(s.Array)
		return func(f *frame) int {
			f.locals[t] = ast.NewTerm(f.locals[t].Value.(*ast.Array).Append(v.of(f)))
			return next
		}
	case *ir.SetAddStmt:
		v, t := c.operand(s.Value), c.local(s.Set)
		return func(f *frame) int {
			if f.locals[t] == emptySet {
				f.locals[t] = ast.SetTerm()
			}
			f.locals[t].Value.(ast.Set).Add(v.of(f))
			return next
		}
	case *ir.ObjectInsertStmt:
		k, v, t := c.operand(s.Key), c.operand(s.Value), c.local(s.Object)
		return func(f *frame) int { f.locals[t].Value.(ast.Object).Insert(k.of(f), v.of(f)); return next }
	case *ir.ObjectInsertOnceStmt:
		k, v, t := c.operand(s.Key), c.operand(s.Value), c.local(s.Object)
		return func(f *frame) int {
			o, key, value := f.locals[t].Value.(ast.Object), k.of(f), v.of(f)
			if old := o.Get(key); old != nil && !same(old, value) {
				return f.failed(errKeys)
			}
			o.Insert(key, value)
			return next
		}
	}
	return nil
}

// merge merges objects deeply; a wins where the two do not merge.
func merge(a, b *ast.Term) *ast.Term {
	x, ok1 := a.Value.(ast.Object)
	y, ok2 := b.Value.(ast.Object)
	if !ok1 || !ok2 {
		return a
	}
	o := ast.NewObject()
	x.Foreach(func(k, v *ast.Term) {
		if w := y.Get(k); w != nil {
			v = merge(v, w)
		}
		o.Insert(k, v)
	})
	y.Foreach(func(k, v *ast.Term) {
		if x.Get(k) == nil {
			o.Insert(k, v)
		}
	})
	return ast.NewTerm(o)
}
