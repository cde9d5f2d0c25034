package opa

import (
	"context"
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"

	"github.com/ambit-tools/ambit/internal/rego/functions"
	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/runtime/opa/internal/plan"
)

// An Evaluator evaluates the decisions of a Policy. No decision depends on which one
// does: it changes the time that they take.
type Evaluator string

const (
	// Plan evaluates OPA's plan of the policies, and has OPA's evaluator decide where
	// the plan has no answer: at an error of any kind and at an undefined decision.
	Plan Evaluator = "plan"
	// Reference is OPA's evaluator alone.
	Reference Evaluator = "reference"
)

// WithEvaluator sets which evaluator decides, by default Plan.
func WithEvaluator(e Evaluator) Option {
	return func(p *Policy) { p.evaluator = e }
}

// Stats counts what the evaluators of a Policy did since Load, reloads included.
type Stats struct {
	Planned   uint64 // decisions of the plan
	NoAnswer  uint64 // decisions of OPA's evaluator, because the plan had none
	Checked   uint64 // decisions of the plan that OPA's evaluator made, too; see WithCheck
	Skipped   uint64 // decisions that were to be checked while another one was, or whose check took too long
	Different uint64 // of Checked
}

// Stats returns the counters. It is safe for concurrent use.
func (p *Policy) Stats() Stats {
	s := &p.stats
	return Stats{s.planned.Load(), s.noAnswer.Load(), s.checked.Load(), s.skipped.Load(), s.different.Load()}
}

// sourceOf is what the plan of a bundle is made of. The plan must be made before the
// calls of the policies are guarded: OPA plans functions by their names.
func sourceOf(b *policydir.Bundle, store storage.Store) plan.Source {
	return plan.Source{Compiler: b.Compiler, Store: store, Builtins: functions.Own(), Replaced: functions.Called}
}

// prepare makes the plan. A plan that cannot be made is no error of the policies:
// OPA's evaluator decides.
func (g *generation) prepare(ctx context.Context) {
	program, err := plan.Prepare(ctx, sourceOf(g.Bundle, g.store), policydir.EntryPoint)
	if err == nil {
		g.plan = program
	}
}

// asksPlan says that the plan decides where it has an answer.
func (g *generation) asksPlan() bool { return g.plan != nil && !g.distrusted.Load() }

// decide returns the decision for an input and which evaluator made it.
func (g *generation) decide(ctx context.Context, input ast.Value) (t *ast.Term, by Evaluator, err error) {
	if !g.asksPlan() {
		t, err = g.eval(ctx, input)
		return t, Reference, err
	}
	defer panicked(&t, &err)
	t, err = g.plan.Eval(ctx, input)
	if ctx.Err() != nil {
		return nil, Plan, stopped(ctx)
	}
	if compareEvaluators {
		g.compare(ctx, input, t)
	}
	if err == nil {
		return t, Plan, nil
	}
	t, err = g.eval(ctx, input)
	return t, Reference, err
}

// stopped is the error of a decision whose context has ended.
func stopped(ctx context.Context) error {
	return fmt.Errorf("the policy was stopped: %w", context.Cause(ctx))
}

// compare panics when the plan answered something else than OPA's evaluator.
func (g *generation) compare(ctx context.Context, input ast.Value, planned *ast.Term) {
	if planned == nil {
		return
	}
	t, err := g.eval(ctx, input)
	if ctx.Err() == nil && (err != nil || t.Value.Compare(planned.Value) != 0 || t.String() != planned.String()) {
		panic(fmt.Sprintf("the plan answered %v, OPA's evaluator %v %v", planned, t, err))
	}
}
