package opa

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/metrics"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/ambit-tools/ambit/internal/rego/functions"
	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/opa/internal/plan"
)

// A generation is a bundle ready to decide. It is immutable; a reload makes another.
type generation struct {
	*policydir.Bundle
	store         storage.Store
	query         ast.Body // gives the decision to the variable answer
	queryCompiler ast.QueryCompiler
	operators     ast.Body // gives the answer about an act of an operator

	plan       *plan.Program // of the same query; nil when OPA's evaluator decides
	distrusted atomic.Bool   // the plan was wrong once, and is not asked any more

	reads reads
}

// answer is the variable that holds the decision.
const answer = ast.Var("answer")

// newGeneration prepares the query of a bundle, whose calls then go through their
// guards, and runs it once, which makes OPA build what it would otherwise build in
// the first real call.
func newGeneration(b *policydir.Bundle, e Evaluator) (*generation, error) {
	ctx := context.Background()
	store := storeOf(b)
	qc := b.Compiler.QueryCompiler()
	query, err := queryOf(qc, policydir.EntryPoint)
	if err != nil {
		return nil, fmt.Errorf("preparing the decision: %w", err)
	}
	g := &generation{Bundle: b, store: store, queryCompiler: qc, query: query, reads: readsOf(b.Compiler)}
	if b.HasOperators() {
		if g.operators, err = queryOf(qc, policydir.OperatorEntryPoint); err != nil {
			return nil, fmt.Errorf("preparing the operator policy: %w", err)
		}
	}
	if e != Reference {
		g.prepare(ctx)
	}
	functions.GuardCalls(b.Compiler)
	if tools := b.Tools; len(tools) > 0 {
		// The answer does not matter: a policy may well refuse so empty a call, fail on it or never end.
		ctx, stop := context.WithTimeout(ctx, runtime.DefaultPolicyTimeout)
		defer stop()
		_, _ = g.eval(ctx, warmUp(tools[0]))
	}
	return g, nil
}

// queryOf returns the query that gives the value of a rule to the variable answer.
func queryOf(qc ast.QueryCompiler, rule string) (ast.Body, error) {
	return qc.Compile(ast.NewBody(ast.Equality.Expr(ast.NewTerm(answer), ast.NewTerm(ast.MustParseRef(rule)))))
}

// storeOf returns the store of a bundle's data.
func storeOf(b *policydir.Bundle) storage.Store {
	return inmem.NewFromObjectWithOpts(b.Data, inmem.OptRoundTripOnWrite(false), inmem.OptReturnASTValuesOnRead(true))
}

// warmUp returns an input that names a tool and nothing else.
func warmUp(tool string) ast.Value {
	return ast.NewObject(ast.Item(ast.StringTerm("tool"), ast.ObjectTerm(ast.Item(ast.StringTerm("name"), ast.StringTerm(tool)))))
}

// eval has OPA's evaluator evaluate the decision for an input.
func (g *generation) eval(ctx context.Context, input ast.Value) (*ast.Term, error) {
	t, err := g.evalQuery(ctx, g.query, input)
	if err == nil && t == nil {
		return nil, fmt.Errorf("%s is undefined: is the tool declared?", policydir.EntryPoint)
	}
	return t, err
}

// evalQuery has OPA's evaluator evaluate a query for an input. The result is nil where it is
// undefined (SEMANTICS 3.6).
func (g *generation) evalQuery(ctx context.Context, query ast.Body, input ast.Value) (t *ast.Term, err error) {
	defer panicked(&t, &err)
	err = storage.Txn(ctx, g.store, storage.TransactionParams{}, func(txn storage.Transaction) error {
		return topdown.NewQuery(query).
			WithCompiler(g.Compiler).
			WithQueryCompiler(g.queryCompiler).
			WithStore(g.store).
			WithTransaction(txn).
			WithBuiltins(functions.Evaluated()).
			WithInput(ast.NewTerm(input)).
			WithMetrics(metrics.NoOp()).
			WithCancel(functions.Until(ctx)).
			// With the index of rules OPA skips startswith(x, "a") when x is no string;
			// evaluated, it is an error. An evaluation must not lose a denial that way.
			WithIndexing(false).
			WithStrictBuiltinErrors(true).
			Iter(ctx, func(r topdown.QueryResult) error {
				t = r[answer]
				return nil
			})
	})
	if ctx.Err() != nil {
		return nil, stopped(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("the policy failed: %w", err)
	}
	return t, nil
}

// panicked makes an error of a panic.
func panicked(t **ast.Term, err *error) {
	if p := recover(); p != nil {
		*t, *err = nil, fmt.Errorf("the policy panicked: %v", p)
	}
}
