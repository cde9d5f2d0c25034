package plan

import (
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/ir"
)

// with compiles the replacement of a part of input or data for a block. The values of
// rules that are remembered do not count inside.
func (c *compiler) with(s *ir.WithStmt) (op, error) {
	local, value := c.local(s.Local), c.operand(s.Value)
	keys := make([]*ast.Term, len(s.Path))
	for i, n := range s.Path {
		keys[i] = c.strings[n]
	}
	body, err := c.block(s.Block)
	return func(f *frame) int {
		saved := f.locals[local]
		f.locals[local] = upsert(saved, keys, value.of(f))
		f.m.inWith++
		r := run(body, f)
		f.m.inWith--
		f.locals[local] = saved
		if r > 0 {
			return up(r)
		}
		return r
	}, err
}

// upsert returns base with the value at a path replaced; base stays as it is.
func upsert(base *ast.Term, keys []*ast.Term, value *ast.Term) *ast.Term {
	if len(keys) == 0 {
		return value
	}
	o := ast.NewObject()
	var old *ast.Term
	if base != nil {
		if b, ok := base.Value.(ast.Object); ok {
			b.Foreach(func(k, v *ast.Term) { o.Insert(k, v) })
			old = o.Get(keys[0])
		}
	}
	o.Insert(keys[0], upsert(old, keys[1:], value))
	return ast.NewTerm(o)
}
