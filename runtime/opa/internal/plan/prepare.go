package plan

import (
	"context"
	"errors"
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/ir"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// target is the name under which OPA hands its plans over. OPA reads its table of
// targets, which is one for the process, without a lock, so the entry is made before
// a program can prepare a query.
const target = "ambit-plan"

func init() { rego.RegisterPlugin(target, receiver{}) }

// A receiver takes a plan from OPA to the caller of Plan, through the context.
type receiver struct{}

type receiverKey struct{}

func (receiver) IsTarget(t string) bool { return t == target }

func (receiver) PrepareForEval(ctx context.Context, p *ir.Policy, _ ...rego.PrepareOption) (rego.TargetPluginEval, error) {
	if into, ok := ctx.Value(receiverKey{}).(**ir.Policy); ok {
		*into = p
	}
	return receiver{}, nil
}

func (receiver) Eval(context.Context, *rego.EvalContext, ast.Value) (ast.Value, error) {
	return nil, errors.New("OPA does not evaluate plans")
}

// Source is what a plan is made of.
type Source struct {
	Compiler *ast.Compiler // of the policies; it is as before when Plan returns
	Store    storage.Store // of the data, whose documents a Program shares
	// Builtins are functions that OPA does not have.
	Builtins map[string]*topdown.Builtin
	// Replaced returns the function that is called in place of the one that is named,
	// nil for OPA's own.
	Replaced func(name string) *topdown.Builtin
}

// Plan has OPA plan a reference. No other goroutine may use the compiler meanwhile.
func Plan(ctx context.Context, s Source, ref string) (*ir.Policy, error) {
	defer s.Compiler.WithEvalMode(ast.EvalModeTopdown) // rego.Target changes it
	opts := []func(*rego.Rego){rego.Query(answer + " = " + ref), rego.Compiler(s.Compiler), rego.Store(s.Store), rego.Target(target)}
	for name, b := range s.Builtins {
		opts = append(opts, rego.FunctionDyn(&rego.Function{Name: name, Decl: b.Decl.Decl}, nil))
	}
	return planned(ctx, opts...)
}

// planned has OPA plan what the options say.
func planned(ctx context.Context, opts ...func(*rego.Rego)) (*ir.Policy, error) {
	var policy *ir.Policy
	if _, err := rego.New(opts...).PrepareForEval(context.WithValue(ctx, receiverKey{}, &policy)); err != nil {
		return nil, fmt.Errorf("planning: %w", err)
	}
	return policy, nil
}

// Prepare returns the Program of a reference, which must be one decision.
func Prepare(ctx context.Context, s Source, ref string) (*Program, error) {
	policy, err := Plan(ctx, s, ref)
	if err != nil {
		return nil, err
	}
	data, err := storage.ReadOne(ctx, s.Store, storage.RootPath)
	if err != nil {
		return nil, fmt.Errorf("reading the data: %w", err)
	}
	value, ok := data.(ast.Value)
	if !ok {
		if value, err = ast.InterfaceToValue(data); err != nil {
			return nil, fmt.Errorf("reading the data: %w", err)
		}
	}
	return Compile(policy, ast.NewTerm(value), s.Replaced)
}
