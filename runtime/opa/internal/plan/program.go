package plan

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/ir"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// answer is the variable of the query that holds the decision.
const answer = "answer"

var answerTerm = ast.StringTerm(answer)

var (
	errUndefined = errors.New("the query is undefined")
	errSeveral   = errors.New("the query has several values")
	errNoRule    = errors.New("the plan has no such rule")
)

// A Program is the plan of one query over one set of policies. It is immutable and safe
// for concurrent use.
type Program struct {
	query    *function
	rules    *path // data
	data     *ast.Term
	machines sync.Pool

	// OPA's test cases need what no decision has.
	lax     bool // an error of a built-in function is undefined
	context func(context.Context) topdown.BuiltinContext
}

// Eval returns the value of the query for an input. Every error means that the plan has
// no answer, and says where it gave up. A term of the answer can be one of the program's
// constants or of the input, and must not be changed.
func (p *Program) Eval(ctx context.Context, input ast.Value) (*ast.Term, error) {
	m := p.machine(ctx)
	defer p.release(m)
	out, err := p.results(m, ast.NewTerm(input))
	switch {
	case err != nil:
		return nil, err
	case len(out) == 0:
		return nil, errUndefined
	case len(out) > 1:
		return nil, errSeveral
	}
	object, ok := out[0].Value.(ast.Object)
	if !ok {
		return nil, errUndefined
	}
	t := object.Get(answerTerm)
	if t == nil {
		return nil, errUndefined
	}
	return t, nil
}

// EvalRule is Eval for a rule of the plan, named by its path below data,
// without an input.
func (p *Program) EvalRule(ctx context.Context, rule []string) (t *ast.Term, err error) {
	at := p.rules.at(rule)
	if at == nil || at.function == nil || !at.function.once {
		return nil, errNoRule
	}
	m := p.machine(ctx)
	defer p.release(m)
	defer recovered(&err)
	f := p.frame(m, nil)
	t = m.call(at.function, f, []operand{{local: int(ir.Input)}, {local: int(ir.Data)}})
	if t == nil && m.err == nil {
		return nil, errUndefined
	}
	return t, m.err
}

// results returns all values of the query. They are the machine's.
func (p *Program) results(m *machine, input *ast.Term) (out []*ast.Term, err error) {
	defer recovered(&err)
	m.blocks(p.query, p.frame(m, input))
	return m.out, m.err
}

// recovered makes an error of a panic.
func recovered(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("the plan panicked: %v", v)
	}
}

func (p *Program) machine(ctx context.Context) *machine {
	m := p.machines.Get().(*machine)
	m.begin(ctx)
	m.lax = p.lax
	if p.context != nil {
		m.bctx = p.context(ctx)
	}
	return m
}

func (p *Program) release(m *machine) {
	m.clear()
	p.machines.Put(m)
}

// frame returns the frame of the query.
func (p *Program) frame(m *machine, input *ast.Term) *frame {
	f := m.enter(p.query.locals)
	f.locals[ir.Input], f.locals[ir.Data] = input, p.data
	return f
}

// Compile makes the closures of a plan. data is the base document of the policies;
// builtins returns the built-in functions that replace OPA's, and nil for OPA's own.
// A plan with a statement or a function that the package does not know is an error.
func Compile(policy *ir.Policy, data *ast.Term, builtins func(name string) *topdown.Builtin) (p *Program, err error) {
	defer recovered(&err)
	if policy == nil || policy.Plans == nil || len(policy.Plans.Plans) != 1 {
		return nil, errors.New("the plan has not one query")
	}
	syms := &symbols{functions: map[string]*function{}, paths: &path{}, builtins: builtins}
	var strings []*ast.Term
	if policy.Static != nil {
		for _, s := range policy.Static.Strings {
			strings = append(strings, ast.StringTerm(s.Value))
		}
	}
	var funcs []*ir.Func
	if policy.Funcs != nil {
		funcs = policy.Funcs.Funcs
	}
	for i, f := range funcs { // before their bodies, which call each other
		fn := &function{name: f.Name, index: i, params: f.Params, once: len(f.Params) == 2}
		syms.functions[f.Name] = fn
		syms.paths.add(f.Path, fn)
	}
	for _, f := range funcs {
		c := compiler{&scope{strings: strings, last: int(max(f.Return, ir.Data))}, syms}
		if err := c.body(syms.functions[f.Name], f.Blocks); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	p = &Program{query: &function{}, rules: syms.paths, data: data}
	c := compiler{&scope{strings: strings, last: int(ir.Data)}, syms}
	if err := c.body(p.query, policy.Plans.Plans[0].Blocks); err != nil {
		return nil, err
	}
	p.machines.New = func() any { return newMachine(len(funcs)) }
	return p, nil
}
