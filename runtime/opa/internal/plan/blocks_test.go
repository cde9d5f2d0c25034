package plan

import (
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/ir"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func list(parts ...[]ir.Stmt) (all []ir.Stmt) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// gives adds a number to the results.
func gives(n int64) []ir.Stmt {
	return []ir.Stmt{&ir.MakeNumberIntStmt{Target: 5, Value: n}, &ir.ResultSetAddStmt{Value: 5}}
}

func nest(parts ...[]ir.Stmt) []ir.Stmt {
	return []ir.Stmt{&ir.BlockStmt{Blocks: []*ir.Block{{Stmts: list(parts...)}}}}
}

func not(s ...ir.Stmt) []ir.Stmt { return []ir.Stmt{&ir.NotStmt{Block: &ir.Block{Stmts: s}}} }

func leaves(n uint32) ir.Stmt { return &ir.BreakStmt{Index: n} }

// twice is a loop over two elements that gives 1 and leaves n blocks in each step.
func twice(n uint32) []ir.Stmt {
	element := &ir.ArrayAppendStmt{Array: 6, Value: ir.Operand{Value: ir.Bool(true)}}
	return []ir.Stmt{
		&ir.MakeArrayStmt{Target: 6}, element, element,
		&ir.ScanStmt{Source: 6, Key: 7, Value: 8, Block: &ir.Block{Stmts: append(gives(1), leaves(n))}},
	}
}

// names is a call of the rule p of a name.
func names(rule ir.StringIndex) []ir.Stmt {
	return []ir.Stmt{&ir.CallDynamicStmt{Args: []ir.Local{0, 1}, Result: 9, Path: []ir.Operand{{Value: ir.StringIndex(0)}, {Value: rule}}}}
}

// Blocks are left as OPA's translation of plans to WebAssembly leaves them: a loop
// counts as two, a rule that is named by values, is there and is undefined leaves three
// more than its own.
func TestBlocks(t *testing.T) {
	for name, test := range map[string]struct {
		stmts []ir.Stmt
		want  []int
	}{
		"a block":                {list(nest([]ir.Stmt{leaves(0)}, gives(1)), gives(2)), []int{2}},
		"the next block":         {[]ir.Stmt{&ir.BlockStmt{Blocks: []*ir.Block{{Stmts: []ir.Stmt{leaves(0)}}, {Stmts: gives(1)}}}}, []int{1}},
		"two blocks":             {list(nest(nest([]ir.Stmt{leaves(1)}, gives(1)), gives(2)), gives(3)), []int{3}},
		"a negation holds":       {list(nest(not(leaves(0)), gives(1)), gives(2)), []int{1, 2}},
		"a negation fails":       {list(nest(not(), gives(1)), gives(2)), []int{2}},
		"a negation is left":     {list(nest(not(leaves(1)), gives(1)), gives(2)), []int{2}},
		"and the block around":   {list(nest(nest(not(leaves(2)), gives(1)), gives(2)), gives(3)), []int{3}},
		"a step of a loop":       {list(nest(twice(0), gives(2)), gives(3)), []int{1, 1, 2, 3}},
		"a loop":                 {list(nest(twice(1), gives(2)), gives(3)), []int{1, 2, 3}},
		"a loop and its block":   {list(nest(twice(2), gives(2)), gives(3)), []int{1, 3}},
		"a loop and two blocks":  {list(nest(nest(twice(3), gives(2)), gives(3)), gives(4)), []int{1, 4}},
		"a rule without a value": {list(nest(nest(nest(names(1), gives(1)), gives(2)), gives(3)), gives(4)), nil},
		"a rule that is none":    {list(nest(nest(nest(names(2), gives(1)), gives(2)), gives(3)), gives(4)), []int{2, 3, 4}},
	} {
		p, err := Compile(&ir.Policy{
			Static: &ir.Static{Strings: []*ir.StringConst{{Value: root}, {Value: "undefined"}, {Value: "none"}}},
			Plans:  &ir.Plans{Plans: []*ir.Plan{{Blocks: []*ir.Block{{Stmts: test.stmts}}}}},
			Funcs:  &ir.Funcs{Funcs: []*ir.Func{{Name: "f", Params: []ir.Local{0, 1}, Return: 2, Path: []string{root, "undefined"}}}},
		}, ast.ObjectTerm(), nil)
		require.NoError(t, err, name)
		out, err := p.all(t.Context(), ast.ObjectTerm())
		require.NoError(t, err, name)
		var got []int
		for _, term := range out {
			n, _ := term.Value.(ast.Number).Int()
			got = append(got, n)
		}
		assert.Equal(t, test.want, got, name)
	}
}
