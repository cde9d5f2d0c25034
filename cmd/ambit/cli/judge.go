package cli

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/opa"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// judge asks an executor of the declared tools what would happen to a call.
func (d *declaration) judge(ctx context.Context, q *question, input []byte) (*answer, error) {
	st := new(stage)
	reg, err := d.registry(st)
	if err != nil {
		return nil, err
	}
	if err := q.check(reg); err != nil {
		return nil, err
	}
	fsys, err := policyFS(d.path, d)
	if err != nil {
		return nil, err
	}
	if st.policy, err = opa.Load(fsys, reg); err != nil {
		return nil, inPolicyDir(err, policyDir(d.path))
	}
	exec, err := runtime.NewExecutor(reg, st, runtime.WithPolicyTimeout(policyTimeout))
	if err != nil {
		return nil, err
	}
	defer exec.Shutdown(ctx)
	run, err := exec.Session(runtime.SessionConfig{
		Principal: q.principal, Capabilities: q.capabilities, Behavior: q.behavior, Modes: q.modes,
	}).StartRun(ctx, runtime.RunConfig{})
	if err != nil {
		return nil, err
	}
	turn := run.Turn(runtime.TurnConfig{})
	if err := st.rehearse(ctx, turn, q.counts); err != nil {
		return nil, err
	}
	v := turn.WhatIf(ctx, runtime.Call{Tool: q.tool, Input: input})
	return &answer{verdict: v, allows: st.explained().Allows, tool: q.tool, dir: policyDir(d.path)}, nil
}

// policyTimeout is longer than that of a server: nobody else waits for the answer.
const policyTimeout = 10 * time.Second

// registry holds the declared tools with handlers that do nothing.
func (d *declaration) registry(st *stage) (*runtime.Registry, error) {
	tools, err := dynamic.Tools(d.file, nil)
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
// valid and allowed, so that the facts of the run become those asked for. After
// that it decides as its policy does and keeps what the policy said.
type stage struct {
	rehearsing atomic.Bool
	policy     *opa.Policy
	said       atomic.Pointer[opa.Explanation]
}

// explained is what the policy said last; empty when it was not asked.
func (s *stage) explained() opa.Explanation {
	if e := s.said.Load(); e != nil {
		return *e
	}
	return opa.Explanation{}
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
	e, err := s.policy.Explain(ctx, in)
	s.said.Store(&e)
	return e.Decision, err
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
