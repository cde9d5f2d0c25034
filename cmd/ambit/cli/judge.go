package cli

import (
	"context"
	"sync/atomic"

	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/opa"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// judge asks an executor of the declared tools what would happen to a call.
func (d *declaration) judge(ctx context.Context, q *question, input []byte) (runtime.Verdict, error) {
	var none runtime.Verdict
	st := new(stage)
	reg, err := d.registry(st)
	if err != nil {
		return none, err
	}
	if err := q.check(reg); err != nil {
		return none, err
	}
	fsys, err := policyFS(d.path, d)
	if err != nil {
		return none, err
	}
	policy, err := opa.Load(fsys, reg)
	if err != nil {
		return none, err
	}
	st.policy = policy
	exec, err := runtime.NewExecutor(reg, st)
	if err != nil {
		return none, err
	}
	defer exec.Shutdown(ctx)
	run, err := exec.Session(runtime.SessionConfig{
		Principal: q.principal, Capabilities: q.capabilities, Behavior: q.behavior, Modes: q.modes,
	}).StartRun(ctx, runtime.RunConfig{})
	if err != nil {
		return none, err
	}
	turn := run.Turn(runtime.TurnConfig{})
	if err := st.rehearse(ctx, turn, q.counts); err != nil {
		return none, err
	}
	return turn.WhatIf(ctx, runtime.Call{Tool: q.tool, Input: input}), nil
}

// registry holds the declared tools with handlers that do nothing.
func (d *declaration) registry(st *stage) (*runtime.Registry, error) {
	tools, err := dynamic.Tools(d.file, func(context.Context, string, wire.Value) (wire.Value, error) { return nil, nil })
	if err != nil {
		return nil, err
	}
	for i, t := range tools {
		tools[i] = runtime.NewDynamicTool(t.Spec(), stageCodec{st, t}, func(context.Context, wire.Value) (wire.Value, error) {
			return wire.Raw("{}"), nil
		})
	}
	return runtime.NewRegistry(tools...)
}

// A stage is where earlier calls are rehearsed: while it is set, every call is
// valid and allowed, so that the facts of the run become those asked for.
type stage struct {
	rehearsing atomic.Bool
	policy     runtime.Policy
}

func (s *stage) rehearse(ctx context.Context, turn *runtime.Turn, counts map[string]int) error {
	s.rehearsing.Store(true)
	defer s.rehearsing.Store(false)
	for tool, n := range counts {
		for range n {
			if out := turn.Execute(ctx, runtime.Call{Tool: tool, Input: []byte("{}")}); out.Kind != runtime.Completed {
				return problem("an earlier call of "+quote(tool)+" cannot be assumed: "+out.Message, "")
			}
		}
	}
	return nil
}

// Decide implements runtime.Policy.
func (s *stage) Decide(ctx context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
	if s.rehearsing.Load() {
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	}
	return s.policy.Decide(ctx, in)
}

// stageCodec decodes as its tool does, once the rehearsal is over.
type stageCodec struct {
	stage *stage
	tool  *runtime.Tool
}

// Decode implements runtime.Codec.
func (c stageCodec) Decode(b []byte, l wire.Limits) (wire.Value, []wire.Violation) {
	if c.stage.rehearsing.Load() {
		return wire.Raw("{}"), nil
	}
	return c.tool.Decode(b)
}
