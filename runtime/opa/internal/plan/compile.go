package plan

import (
	"fmt"

	"github.com/open-policy-agent/opa/v1/ir"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// symbols are what the functions of a plan refer to.
type symbols struct {
	functions map[string]*function
	paths     *path
	builtins  func(name string) *topdown.Builtin // in place of OPA's
}

// A compiler makes the closures of one function.
type compiler struct {
	*scope
	*symbols
}

// body compiles the blocks of a function.
func (c *compiler) body(fn *function, blocks []*ir.Block) error {
	c.writes = writes(blocks, map[ir.Local]int{})
	for _, l := range fn.params {
		c.local(l)
	}
	list, err := c.blocks(blocks)
	fn.blocks, fn.locals = list, c.last+1
	return err
}

func (c *compiler) block(b *ir.Block) (block, error) {
	var ops block
	for _, s := range c.hoist(b.Stmts) {
		o, err := c.statement(s)
		if err != nil {
			return nil, err
		}
		if o != nil {
			ops = append(ops, o)
		}
	}
	return ops, nil
}

func (c *compiler) blocks(list []*ir.Block) ([]block, error) {
	var out []block
	for _, b := range list {
		ops, err := c.block(b)
		if err != nil {
			return nil, err
		}
		out = append(out, ops)
	}
	return out, nil
}

// statement compiles one statement. A statement that no group knows is an error, and the
// plan is not used.
func (c *compiler) statement(s ir.Stmt) (op, error) {
	if _, ok := s.(*ir.NopStmt); ok {
		return nil, nil
	}
	for _, group := range []func(ir.Stmt) (op, error){c.nested, c.called} {
		if o, err := group(s); o != nil || err != nil {
			return o, err
		}
	}
	for _, group := range []func(ir.Stmt) op{c.control, c.compared, c.kind, c.assigned, c.looked, c.made, c.filled} {
		if o := group(s); o != nil {
			return o, nil
		}
	}
	return nil, fmt.Errorf("the plan has a %T, which is not known", s)
}
