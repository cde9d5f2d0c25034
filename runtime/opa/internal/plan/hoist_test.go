package plan

import (
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/ir"
	"github.com/stretchr/testify/assert"
)

// What is built of constants alone is built once; a container that another statement
// fills, and one of a local that can be set again, is built in each evaluation.
func TestHoist(t *testing.T) {
	set, add := &ir.MakeSetStmt{Target: 5}, func(v ir.Val) ir.Stmt { return &ir.SetAddStmt{Set: 5, Value: ir.Operand{Value: v}} }
	number := func(to ir.Local) ir.Stmt { return &ir.MakeNumberIntStmt{Target: to, Value: 7} }
	inBlock := func(s ...ir.Stmt) ir.Stmt {
		return &ir.BlockStmt{Blocks: []*ir.Block{{Stmts: s}}}
	}
	for name, test := range map[string]struct {
		stmts []ir.Stmt
		want  string // the set, or nothing when it is built each time
	}{
		"constants":          {[]ir.Stmt{number(4), set, add(ir.Local(4)), add(ir.StringIndex(0)), add(ir.Bool(true))}, `{true, 7, "a"}`},
		"a local":            {[]ir.Stmt{set, add(ir.Local(3))}, ""},
		"empty":              {[]ir.Stmt{set}, ""},
		"filled later":       {[]ir.Stmt{set, add(ir.Bool(true)), number(4), add(ir.Local(4))}, ""},
		"filled inside":      {[]ir.Stmt{set, add(ir.Bool(true)), inBlock(add(ir.StringIndex(0)))}, ""},
		"set again":          {[]ir.Stmt{number(4), &ir.AssignVarStmt{Source: ir.Operand{Value: ir.Local(3)}, Target: 4}, set, add(ir.Local(4))}, ""},
		"set again inside":   {[]ir.Stmt{number(4), inBlock(&ir.ResetLocalStmt{Target: 4}), set, add(ir.Local(4))}, ""},
		"set again by a dot": {[]ir.Stmt{number(4), &ir.DotStmt{Target: 4}, set, add(ir.Local(4))}, ""},
	} {
		c := &scope{strings: []*ast.Term{ast.StringTerm("a")}}
		c.writes = writes([]*ir.Block{{Stmts: test.stmts}}, map[ir.Local]int{})
		got := ""
		for _, s := range c.hoist(test.stmts) {
			if k, ok := s.(*constant); ok && k.target == 5 {
				got = k.value.String()
			}
		}
		assert.Equal(t, test.want, got, name)
	}
}
