package scenario

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// Run runs a case. The error says why it could not be run to its end.
func (c *Case) Run(s *Setup) (*Trace, error) {
	t := &Trace{of: c}
	sim, err := newSimulation(c, s)
	if err != nil {
		return t, err
	}
	for _, step := range c.steps {
		result, err := sim.do(step.do)
		if err != nil {
			return t, err
		}
		t.results = append(t.results, result)
	}
	t.final = sim.end()
	closing, lost := sim.exec.End()
	sim.mu.Lock()
	defer sim.mu.Unlock()
	t.errors = sim.errors
	return t, errors.Join(sim.broken, lost, closing)
}

// do takes a step, and lets virtual time pass until it has ended.
func (sim *simulation) do(a operation) (result any, err error) {
	if d, ok := a.(advanceStep); ok {
		err := sim.clock.Advance(time.Duration(d))
		return &expired{sim.ranOut()}, err
	}
	if err := sim.clock.Perform(func() { result = a.run(sim) }); err != nil {
		return nil, err
	}
	sim.look()
	return result, nil
}

func (advanceStep) run(*simulation) any { return nothing{} }

func (c *callStep) run(sim *simulation) any {
	o := sim.as(c.principal).Turn(engine.TurnConfig{}).Execute(sim.context(), sim.call(c))
	return sim.answer(o)
}

// call notes how the handler of c behaves.
func (sim *simulation) call(c *callStep) runtime.Call {
	sim.mu.Lock()
	defer sim.mu.Unlock()
	sim.calls[c.id] = c
	return runtime.Call{ID: c.id, Tool: c.tool, Input: sim.input(c)}
}

// input is what the model sends.
func (sim *simulation) input(c *callStep) []byte {
	trimmed := bytes.TrimSpace(c.args)
	if !c.heartbeat || len(trimmed) == 0 || trimmed[0] != '{' {
		return c.args
	}
	member := `{"request_heartbeat":true`
	if string(trimmed) != "{}" {
		member += ","
	}
	return append([]byte(member), trimmed[1:]...)
}

func (b *batchStep) run(sim *simulation) any {
	mode := engine.Sequential
	if b.parallel {
		mode = engine.Parallel
	}
	calls := make([]runtime.Call, len(b.calls))
	run := sim.run // of several principals only that of the session has capabilities
	if several := func(c *callStep) bool { return c.principal != b.calls[0].principal }; !slices.ContainsFunc(b.calls, several) && len(b.calls) > 0 {
		run = sim.as(b.calls[0].principal)
	}
	for i, c := range b.calls {
		calls[i] = sim.call(c)
		calls[i].Principal = c.principal
	}
	out := []*callResult{}
	for _, o := range run.Turn(engine.TurnConfig{}).ExecuteBatch(sim.context(), calls, mode) {
		out = append(out, sim.answer(o))
	}
	return out
}

// answer notes the request that a call waits for, and returns its result.
func (sim *simulation) answer(o runtime.Outcome) *callResult {
	if o.RequestID != "" {
		sim.mu.Lock()
		sim.requests[o.CallID] = o.RequestID
		sim.mu.Unlock()
		sim.look()
	}
	return sim.result(o)
}

// look notes what approvers see now, and which requests are open.
func (sim *simulation) look() {
	open := sim.exec.Requests()
	sim.mu.Lock()
	defer sim.mu.Unlock()
	for _, q := range open {
		if q.Shown != nil && sim.terms[q.CallID] != q.Binding { // new terms, which an edit makes
			sim.terms[q.CallID], sim.shown[q.CallID] = q.Binding, q.Shown
		}
		sim.requests[q.CallID] = q.ID
		if !slices.Contains(sim.waiting, q.CallID) {
			sim.waiting = append(sim.waiting, q.CallID)
		}
	}
}

// ranOut lists the calls whose requests ran out since it was asked last.
func (sim *simulation) ranOut() []string {
	out := []string{}
	sim.waiting = slices.DeleteFunc(sim.waiting, func(call string) bool {
		q, ok := sim.exec.Request(sim.requests[call])
		if !ok {
			return true
		}
		if q.Status.String() == "expired" {
			out = append(out, call)
		}
		return q.Status.String() != "open"
	})
	return out
}

// decide gives an answer to a request.
func (sim *simulation) decide(call string, a action.Answer) any {
	sim.mu.Lock()
	id := sim.requests[call]
	a.Binding = sim.terms[call] // the approver has looked
	sim.mu.Unlock()
	res := sim.exec.Decide(sim.context(), id, a)
	out := &resolution{Resolution: res.Kind.String(), Reason: res.Reason.String(), Detail: res.Detail}
	if res.Outcome != nil {
		out.Call = sim.answer(*res.Outcome)
	}
	sim.waiting = slices.DeleteFunc(sim.waiting, func(id string) bool { return id == call && out.Reason == "expired" })
	return out
}

func (s *approveStep) run(sim *simulation) any {
	a := action.Answer{By: s.by, Approve: true, For: s.lasting, CoverArgs: s.where, Edit: s.edit}
	sim.must(a.Grant.UnmarshalText([]byte(s.grant)))
	sim.must(a.Cover.UnmarshalText([]byte(s.cover)))
	return sim.decide(s.request, a)
}

func (s *denyStep) run(sim *simulation) any {
	return sim.decide(s.request, action.Answer{By: s.by, Message: s.message})
}

// must reports an operation that cannot be done as a failure of the case.
func (sim *simulation) must(err error) {
	if err != nil && sim.broken == nil {
		sim.broken = err
	}
}

func (s *revokeStep) run(sim *simulation) any {
	sim.mu.Lock()
	id := sim.requests[s.grant] // a grant has the id of the request that it came from
	sim.mu.Unlock()
	result, why := action.ResultOf(sim.exec.Revoke(sim.context(), id, s.by, ""))
	if why == "" {
		result = runtime.ResolutionAccepted.String()
	}
	return &resolution{Resolution: result, Reason: string(why)}
}

func (s *tamperStep) run(sim *simulation) any {
	sim.must(sim.exec.Hooks.Tamper(sim.session.ID(), s.request, s.args))
	return nothing{}
}

func (s setPolicyStep) run(sim *simulation) any {
	sim.policy.set(s.policy)
	sim.exec.RetireGrants(sim.policy.Asks) // as a reload does
	return nothing{}
}

func (turnStep) run(*simulation) any { return nothing{} }

func (newRunStep) run(sim *simulation) any {
	now, cancel := context.WithCancel(context.Background())
	cancel() // a handler that outlives its call is not waited for: that would take time
	_ = sim.run.Close(now)
	sim.must(sim.begin())
	return nothing{}
}

func (modelStopStep) run(sim *simulation) any {
	st := sim.run.ModelStopped(sim.context())
	return &stopped{st.State.String(), names(st.PendingExit)}
}

func (s *whatIfStep) run(sim *simulation) any {
	v := sim.as(s.call.principal).Turn(engine.TurnConfig{}).WhatIf(sim.context(), runtime.Call{Tool: s.call.tool, Input: s.call.args})
	res := sim.result(v.Outcome)
	if v.Runs {
		res = &callResult{Outcome: "executed", Args: v.Input}
	}
	st := sim.run.Status()
	res.Run, res.PendingExit = st.State.String(), names(st.PendingExit)
	return res
}

func (s *undoStep) run(sim *simulation) any {
	_, err := sim.session.Undo(sim.context(), action.UndoRequest{CallID: s.call, By: runtime.ProgramActor(mainPrincipal)})
	result, why := action.ResultOf(err)
	if refused, ok := errors.AsType[*action.Error](err); ok && refused.Attempted {
		why = ""
	}
	return &undone{Undo: result, Reason: string(why)}
}

func (undoRunStep) run(sim *simulation) any {
	res, _ := sim.session.Undo(sim.context(), action.UndoRequest{RunID: sim.run.ID(), By: runtime.ProgramActor(mainPrincipal)})
	return &runUndone{names(res.Undone), names(res.Failed), names(res.NotUndoable), res.Reads, res.Complete}
}

// end returns the state after the last step.
func (sim *simulation) end() *final {
	st := sim.as(mainPrincipal).Status()
	f := &final{Used: map[string]int{}, Invocations: map[string]int{}, PendingExit: names(st.PendingExit), Run: st.State.String()}
	maps.Copy(f.Used, st.Invocations)
	maps.Copy(f.Invocations, sim.invoked)
	return f
}

// tool makes one tool with a stand-in handler.
func (sim *simulation) tool(t *dynamic.Tool) *runtime.Tool {
	name := t.Spec.Name
	run := func(ctx context.Context, in wire.Value) (wire.Value, error) { return sim.handle(ctx, name, in) }
	if t.State == nil {
		return runtime.NewDynamicTool(t.Spec, t.Input, run, t.StandIn()...)
	}
	return runtime.NewDynamicTool(t.Spec, t.Input, run, runtime.WithDynamicUndo(
		t.State, t.Output,
		func(context.Context, wire.Value) (wire.Value, error) { return nil, nil },
		func(context.Context, string, wire.Value, wire.Value, wire.Value) error {
			if sim.of.undoFails[name] {
				return errors.New("the stand-in undo fails, as the case says")
			}
			return nil
		}))
}
