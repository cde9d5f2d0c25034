package plan

import "github.com/open-policy-agent/opa/v1/ir"

// nested compiles what holds blocks.
func (c *compiler) nested(s ir.Stmt) (op, error) {
	switch s := s.(type) {
	case *ir.BlockStmt:
		return c.inner(s)
	case *ir.NotStmt:
		return c.not(s)
	case *ir.ScanStmt:
		return c.scan(s)
	case *ir.WithStmt:
		return c.with(s)
	}
	return nil, nil
}

// up is what leaving a block means for the one around it.
func up(code int) int {
	if code == leave || code == fail {
		return code
	}
	return code - 1
}

// inner compiles blocks that run in turn. A block that is left by one level only does
// not end the next ones.
func (c *compiler) inner(s *ir.BlockStmt) (op, error) {
	list, err := c.blocks(s.Blocks)
	return func(f *frame) int {
		for _, b := range list {
			if r := run(b, f); r > 0 {
				return up(r)
			}
		}
		return next
	}, err
}

// not compiles a negation: the block that runs to its end leaves the one around it.
func (c *compiler) not(s *ir.NotStmt) (op, error) {
	body, err := c.block(s.Block)
	return func(f *frame) int {
		switch r := run(body, f); {
		case r == next:
			return 0
		case r > 0:
			return up(r)
		}
		return next
	}, err
}
