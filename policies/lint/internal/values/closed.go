package values

import (
	"context"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/ambit-tools/ambit/internal/rego/functions"
	"github.com/ambit-tools/ambit/internal/rego/policydir"
)

// closedRules evaluates rules that do not depend on the input: what they are
// now, they are in every decision.
type closedRules struct {
	*policydir.Bundle
	isClosed map[*ast.Rule]bool
	values   map[string]*ast.Term
	store    storage.Store
	calls    functions.GuardableCalls // of all policies; guarded while closed rules are evaluated
	until    time.Time                // when to stop evaluating, even if rules are left
}

// maxClosedTime bounds the evaluation of closed rules and of functions with
// constant arguments during a load.
const maxClosedTime = 5 * time.Second

func newClosedRules(b *policydir.Bundle) *closedRules {
	var calls functions.GuardableCalls
	for _, m := range b.Compiler.Modules {
		calls = append(calls, functions.FindGuardable(m)...)
	}
	return &closedRules{
		calls:  calls,
		Bundle: b, isClosed: map[*ast.Rule]bool{}, values: map[string]*ast.Term{},
		store: inmem.NewFromObjectWithOpts(b.Data, inmem.OptRoundTripOnWrite(false)),
		until: time.Now().Add(maxClosedTime),
	}
}

// value returns what closed rules at a reference make, nil when it is not known.
func (c *closedRules) value(ref ast.Ref, rules []*ast.Rule) *ast.Term {
	for _, r := range rules {
		if !c.closed(r) {
			return nil
		}
	}
	key := ref.String()
	if t, done := c.values[key]; done {
		return t
	}
	t, _ := c.eval(ast.NewExpr(ast.NewTerm(ref)))
	c.values[key] = t
	return t
}

// closed says that a rule depends on nothing but constants and base data.
func (c *closedRules) closed(r *ast.Rule) bool {
	if known, ok := c.isClosed[r]; ok {
		return known
	}
	c.isClosed[r] = false
	if len(r.Head.Args) > 0 || c.reads(r) {
		return false
	}
	for d := range c.Compiler.Graph.Dependencies(r) {
		if other, ok := d.(*ast.Rule); ok && !c.independent(other) {
			return false
		}
	}
	c.isClosed[r] = true
	return true
}

// independent says that a rule or a function that a closed rule uses does not
// read the input.
func (c *closedRules) independent(r *ast.Rule) bool {
	if len(r.Head.Args) == 0 {
		return c.closed(r)
	}
	if c.reads(r) {
		return false
	}
	for d := range c.Compiler.Graph.Dependencies(r) {
		if other, ok := d.(*ast.Rule); ok && !c.independent(other) {
			return false
		}
	}
	return true
}

// reads says that a rule itself mentions the input.
func (c *closedRules) reads(r *ast.Rule) bool {
	found := false
	ast.WalkRefs(r, func(ref ast.Ref) bool {
		found = found || ref[0].Equal(ast.InputRootDocument)
		return found
	})
	return found
}

// run evaluates a rule for its errors.
func (c *closedRules) run(r *ast.Rule) error {
	ref := r.Ref().GroundPrefix()
	for _, other := range c.Compiler.GetRulesExact(ref) {
		if !c.closed(other) {
			_, err := c.query(r.Body) // what the other rules of the name do is not known
			return err
		}
	}
	_, err := c.eval(ast.NewExpr(ast.NewTerm(ref)))
	return err
}

// eval evaluates an expression without input. It returns the value of a term, or
// of the last operand of a call, nil when there is none or it takes too long.
func (c *closedRules) eval(e *ast.Expr) (found *ast.Term, err error) {
	if t, isTerm := e.Terms.(*ast.Term); isTerm {
		return c.query(ast.NewBody(ast.Equality.Expr(ast.VarTerm("result"), t)))
	}
	return c.query(ast.NewBody(e))
}

// query evaluates a body without input and returns the last value of result. Its
// calls and those of the policies go through the guards meanwhile, as in a decision:
// a call with constants can take the memory of the process, too.
func (c *closedRules) query(body ast.Body) (found *ast.Term, err error) {
	if time.Now().After(c.until) {
		return nil, nil
	}
	c.calls.Guard()
	defer c.calls.Unguard()
	own := functions.FindGuardable(body) // those of a body that no policy has
	own.Guard()
	defer own.Unguard()
	ctx, stop := context.WithDeadline(context.Background(), c.until)
	defer stop()
	err = storage.Txn(ctx, c.store, storage.TransactionParams{}, func(txn storage.Transaction) error {
		return topdown.NewQuery(body).WithCompiler(c.Compiler).WithStore(c.store).WithTransaction(txn).
			WithBuiltins(functions.Evaluated()).WithStrictBuiltinErrors(true).WithCancel(functions.Until(ctx)).
			Iter(ctx, func(r topdown.QueryResult) error {
				found = r["result"]
				return nil
			})
	})
	if ctx.Err() != nil {
		return nil, nil
	}
	return found, err
}
