package plan

import (
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/ir"
)

// A scope is the locals and constants of one function.
type scope struct {
	strings []*ast.Term
	last    int              // the highest local
	writes  map[ir.Local]int // how many statements fill a container
}

// local returns the index of a local.
func (c *scope) local(l ir.Local) int {
	c.last = max(c.last, int(l))
	return int(l)
}

func (c *scope) operand(o ir.Operand) operand {
	switch v := o.Value.(type) {
	case ir.StringIndex:
		return operand{constant: c.strings[v]}
	case ir.Bool:
		return operand{constant: ast.InternedTerm(bool(v))}
	case ir.Local:
		return operand{local: c.local(v)}
	}
	panic(fmt.Sprintf("an operand is a %T", o.Value)) // Compile returns it as an error
}

func (c *scope) operands(list []ir.Operand) []operand {
	out := make([]operand, len(list))
	for i, o := range list {
		out[i] = c.operand(o)
	}
	return out
}

// number returns a number that the plan holds as a text.
func (c *scope) number(s *ir.MakeNumberRefStmt) *ast.Term {
	return ast.NewTerm(ast.Number(c.strings[s.Index].Value.(ast.String)))
}
