package plan

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/ir"
)

// A constant is a collection that a block would build of constants alone, built once.
type constant struct {
	target ir.Local
	value  *ast.Term
	ir.Location
}

// hoist replaces the statements that build an object or a set of constants by the
// finished value. It does so only for a run of statements: the container is made, filled
// by the statements that follow, with constants and containers that were finished
// before, and filled by no other statement of the function.
func (c *scope) hoist(stmts []ir.Stmt) []ir.Stmt {
	known := map[ir.Local]*ast.Term{}
	var out []ir.Stmt
	for i := 0; i < len(stmts); i++ {
		target, value := c.literal(stmts[i])
		if value == nil {
			forget(known, stmts[i])
			out = append(out, stmts[i])
			continue
		}
		n := i + 1
		for ; n < len(stmts); n++ {
			into, with, ok := write(stmts[n])
			if !ok || into != target || !c.insert(value, with, known) {
				break
			}
		}
		if length(value) < 0 || n > i+1 && n-i-1 == c.writes[target] {
			known[target] = value
			out = append(out, &constant{target: target, value: value})
			i = n - 1
			continue
		}
		delete(known, target)
		out = append(out, stmts[i])
	}
	return out
}

// forget drops the constant of the local that a statement sets, and all constants at a
// statement that holds blocks, which can set any local.
func forget(known map[ir.Local]*ast.Term, s ir.Stmt) {
	if len(inside(s)) > 0 {
		clear(known)
	}
	switch s := s.(type) {
	case *ir.CallStmt:
		delete(known, s.Result)
	case *ir.CallDynamicStmt:
		delete(known, s.Result)
	case *ir.DotStmt:
		delete(known, s.Target)
	case *ir.AssignVarStmt:
		delete(known, s.Target)
	case *ir.AssignVarOnceStmt:
		delete(known, s.Target)
	case *ir.AssignIntStmt:
		delete(known, s.Target)
	case *ir.ResetLocalStmt:
		delete(known, s.Target)
	case *ir.LenStmt:
		delete(known, s.Target)
	case *ir.ObjectMergeStmt:
		delete(known, s.Target)
	case *ir.MakeArrayStmt:
		delete(known, s.Target)
	}
}

// literal returns what a statement makes, empty if it is a container.
func (c *scope) literal(s ir.Stmt) (ir.Local, *ast.Term) {
	switch s := s.(type) {
	case *ir.MakeObjectStmt:
		return s.Target, ast.NewTerm(ast.NewObject())
	case *ir.MakeSetStmt:
		return s.Target, ast.NewTerm(ast.NewSet())
	case *ir.MakeNumberRefStmt:
		return s.Target, c.number(s)
	case *ir.MakeNumberIntStmt:
		return s.Target, ast.InternedTerm(int(s.Value))
	case *ir.MakeNullStmt:
		return s.Target, ast.InternedNullTerm
	}
	return 0, nil
}

// insert fills a container with constants. It reports false, and changes nothing, if one is not.
func (c *scope) insert(into *ast.Term, with []ir.Operand, known map[ir.Local]*ast.Term) bool {
	values := make([]*ast.Term, len(with))
	for i, o := range with {
		switch v := o.Value.(type) {
		case ir.Local:
			values[i] = known[v]
		case ir.StringIndex:
			values[i] = c.strings[v]
		case ir.Bool:
			values[i] = ast.InternedTerm(bool(v))
		}
	}
	if len(values) == 0 || slices.Contains(values, nil) {
		return false
	}
	switch x := into.Value.(type) {
	case ast.Object:
		x.Insert(values[0], values[1])
	case ast.Set:
		x.Add(values[0])
	}
	return true
}

// write returns the local that a statement fills, and with what; with nothing when the
// statement can fail or makes another collection.
func write(s ir.Stmt) (into ir.Local, with []ir.Operand, ok bool) {
	switch s := s.(type) {
	case *ir.ObjectInsertStmt:
		return s.Object, []ir.Operand{s.Key, s.Value}, true
	case *ir.ObjectInsertOnceStmt:
		return s.Object, nil, true
	case *ir.SetAddStmt:
		return s.Set, []ir.Operand{s.Value}, true
	case *ir.ArrayAppendStmt:
		return s.Array, nil, true
	}
	return 0, nil, false
}

// inside returns the blocks that a statement holds.
func inside(s ir.Stmt) []*ir.Block {
	switch s := s.(type) {
	case *ir.BlockStmt:
		return s.Blocks
	case *ir.ScanStmt:
		return []*ir.Block{s.Block}
	case *ir.NotStmt:
		return []*ir.Block{s.Block}
	case *ir.WithStmt:
		return []*ir.Block{s.Block}
	}
	return nil
}

// writes counts, by local, the statements in blocks and in the blocks inside them that
// fill a container.
func writes(blocks []*ir.Block, into map[ir.Local]int) map[ir.Local]int {
	for _, b := range blocks {
		for _, s := range b.Stmts {
			if l, _, ok := write(s); ok {
				into[l]++
			}
			writes(inside(s), into)
		}
	}
	return into
}
