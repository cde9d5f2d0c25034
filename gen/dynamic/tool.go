package dynamic

import (
	"context"
	"fmt"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen/internal/ir"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A Tool is one declared tool: what generated code holds as constants and types.
type Tool struct {
	Spec   *runtime.Spec
	Input  *Type
	Output *Type
	State  *Type // what undo remembers; nil when nothing is declared

	command *ir.Command
}

// Load returns the tools of a declaration in its order. The error is a
// [dsl.Diagnostics] when no code could be generated either.
func Load(f *dsl.File) ([]*Tool, error) {
	p, err := ir.Build(f)
	if err != nil {
		return nil, err
	}
	pointers, err := variables(p)
	if err != nil {
		return nil, err
	}
	tools := make([]*Tool, len(p.Tools))
	for i, t := range p.Tools {
		spec, err := newSpec(t, pointers)
		if err != nil {
			return nil, fmt.Errorf("tool %q: %w", t.Decl.Name, err)
		}
		tools[i] = &Tool{Spec: spec, Input: &Type{t.Input}, Output: &Type{t.Output}, command: t.Command}
		if t.State != nil {
			tools[i].State = &Type{t.State}
		}
	}
	return tools, nil
}

// Tools returns the tools of a declaration, all of them carried out by one
// handler. Without a handler every call fails: such tools are for deciding and
// explaining calls, not for running them. A command has no handler: runtime.NewRegistry refuses it
// while this version runs none.
func Tools(f *dsl.File, handle func(ctx context.Context, tool string, in wire.Value) (wire.Value, error)) ([]*runtime.Tool, error) {
	if handle == nil {
		handle = func(_ context.Context, tool string, _ wire.Value) (wire.Value, error) {
			return nil, fmt.Errorf("tool %q has no handler: it was read from %q only to check calls", tool, f.Path)
		}
	}
	loaded, err := Load(f)
	if err != nil {
		return nil, err
	}
	tools := make([]*runtime.Tool, len(loaded))
	for i, t := range loaded {
		if t.command != nil {
			tools[i] = t.newCommand()
			continue
		}
		name := t.Spec.Name
		tools[i] = runtime.NewDynamicTool(t.Spec, t.Input, func(ctx context.Context, in wire.Value) (wire.Value, error) {
			return handle(ctx, name, in)
		})
	}
	return tools, nil
}
