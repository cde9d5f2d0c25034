package opa

import (
	"context"
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/runtime"
)

// Authorize makes p the operator policy too: the rules named allow of package ambit.operators decide. What
// none of them allows is denied, and so is an act about which the evaluation fails. A policy directory that
// has no such package decides as runtime.OperatorDefaults does.
func (p *Policy) Authorize(ctx context.Context, r *runtime.ActRequest) (runtime.ActDecision, error) {
	d := p.current.Load()
	if !d.HasOperators() {
		decision, err := runtime.OperatorDefaults{}.Authorize(ctx, r)
		decision.Revision = d.Src.Revision
		return decision, err
	}
	decision := runtime.ActDecision{Revision: d.Src.Revision, Reason: "no rule of the operator policy allows it"}
	t, err := d.evalQuery(ctx, d.operators, operatorInput(r))
	if err != nil {
		return decision, fmt.Errorf("package ambit.operators: %w", err)
	}
	if t != nil && t.Value.Compare(ast.Boolean(true)) == 0 {
		decision.Allow, decision.Reason = true, ""
	}
	return decision, nil
}

// operatorInput is what the operator policy is asked. It has every member.
func operatorInput(r *runtime.ActRequest) ast.Value {
	text := func(name, value string) [2]*ast.Term { return ast.Item(ast.StringTerm(name), ast.StringTerm(value)) }
	flag := func(name string, value bool) [2]*ast.Term {
		return ast.Item(ast.StringTerm(name), ast.BooleanTerm(value))
	}
	groups := make([]*ast.Term, len(r.Actor.Groups))
	for i, g := range r.Actor.Groups {
		groups[i] = ast.StringTerm(g)
	}
	actor := ast.ObjectTerm(text("id", r.Actor.ID), text("method", string(r.Actor.Method)), ast.Item(ast.StringTerm("groups"), ast.ArrayTerm(groups...)))
	return ast.NewObject(
		text("act", string(r.Act)), ast.Item(ast.StringTerm("actor"), actor),
		text("session", r.Session), text("run", r.Run), text("call", r.Call), text("request", r.Request), text("grant", r.Grant),
		flag("dry_run", r.DryRun), text("tool", r.Tool), text("effect", r.Effect), text("principal", r.Principal),
		text("session_principal", r.SessionPrincipal), flag("approver", r.Approver),
	)
}
