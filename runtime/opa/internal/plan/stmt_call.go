package plan

import (
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/ir"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// called compiles calls.
func (c *compiler) called(s ir.Stmt) (op, error) {
	switch s := s.(type) {
	case *ir.CallStmt:
		return c.call(s)
	case *ir.CallDynamicStmt:
		return c.callDynamic(s), nil
	}
	return nil, nil
}

// call compiles a call of a rule, a function or a built-in function.
func (c *compiler) call(s *ir.CallStmt) (op, error) {
	result, args := c.local(s.Result), c.operands(s.Args)
	if fn := c.functions[s.Func]; fn != nil {
		if len(args) < len(fn.params) {
			return nil, fmt.Errorf("%s is called with %d operands", s.Func, len(args))
		}
		return func(f *frame) int {
			r := f.m.call(fn, f, args)
			if r == nil {
				return f.undefined()
			}
			f.locals[result] = r
			return next
		}, nil
	}
	run, relation, own := c.builtin(s.Func)
	if own {
		if o := common(s.Func, args, result); o != nil {
			return o, nil
		}
	}
	switch {
	case run == nil:
		return nil, fmt.Errorf("there is no built-in function %s", s.Func)
	case relation:
		return scanned(run, args, result), nil
	}
	return func(f *frame) int {
		f.m.found = nil
		if err := run(f.m.bctx, values(f, args), f.m.find); err != nil {
			return f.refused(err)
		}
		if f.m.found == nil {
			return 0
		}
		f.locals[result] = f.m.found
		return next
	}, nil
}

// builtin returns the implementation of a built-in function, whether it is a relation,
// and whether it is OPA's own.
func (c *compiler) builtin(name string) (run topdown.BuiltinFunc, relation, own bool) {
	if c.builtins != nil {
		if b := c.builtins(name); b != nil {
			return b.Func, b.Decl.Relation, false
		}
	}
	decl := ast.BuiltinMap[name]
	return topdown.GetBuiltin(name), decl != nil && decl.Relation, true
}

// scanned compiles a function with many results, which the plan loops over.
func scanned(run topdown.BuiltinFunc, args []operand, result int) op {
	return func(f *frame) int {
		var found []*ast.Term
		err := run(f.m.bctx, values(f, args), func(t *ast.Term) error { found = append(found, t); return nil })
		if err != nil {
			return f.refused(err)
		}
		f.locals[result] = ast.ArrayTerm(found...)
		return next
	}
}

func values(f *frame, args []operand) []*ast.Term {
	list := make([]*ast.Term, len(args))
	for i, a := range args {
		list[i] = a.of(f)
	}
	return list
}

// callDynamic compiles a call whose target is named by values. The first of them is a
// part of OPA's own, as in the paths of the functions.
func (c *compiler) callDynamic(s *ir.CallDynamicStmt) op {
	result, names := c.local(s.Result), c.operands(s.Path)
	args := make([]operand, len(s.Args))
	for i, l := range s.Args {
		args[i] = operand{local: c.local(l)}
	}
	root := c.paths
	return func(f *frame) int {
		at := root
		for _, n := range names {
			name, ok := n.of(f).Value.(ast.String)
			if at = at.below[string(name)]; !ok || at == nil {
				return 0
			}
		}
		if at.function == nil {
			return 0
		}
		r := f.m.call(at.function, f, args)
		if r == nil {
			if f.m.err != nil {
				return fail
			}
			return 3 // the rule is there and undefined: nothing else is looked up
		}
		f.locals[result] = r
		return next
	}
}
