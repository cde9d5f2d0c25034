package scenario

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/operator"

	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// Run runs a case. The error says why it could not be run to its end.
func (c *Case) Run(s *Setup) (*Trace, error) {
	t := &Trace{of: c}
	w, err := newWorld(c, s)
	if err != nil {
		return t, err
	}
	for _, step := range c.steps {
		result, err := w.do(step.do)
		if err != nil {
			return t, err
		}
		t.results = append(t.results, result)
	}
	t.final = w.end()
	var closing error
	err = w.clock.Perform(func() { closing = w.exec.Shutdown(context.Background()) })
	w.mu.Lock()
	defer w.mu.Unlock()
	t.errors = w.errors
	return t, errors.Join(w.broken, err, closing)
}

// do takes a step, and lets virtual time pass until it has ended.
func (w *world) do(a operation) (result any, err error) {
	if d, ok := a.(advanceStep); ok {
		err := w.clock.Advance(time.Duration(d))
		return &expired{w.ranOut()}, err
	}
	if err := w.clock.Perform(func() { result = a.run(w) }); err != nil {
		return nil, err
	}
	w.look()
	return result, nil
}

func (advanceStep) run(*world) any { return nothing{} }

func (c *callStep) run(w *world) any {
	o := w.as(c.principal).Turn(engine.TurnConfig{}).Execute(w.context(), w.call(c))
	return w.answer(o)
}

// call notes how the handler of c behaves.
func (w *world) call(c *callStep) runtime.Call {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls[c.id] = c
	return runtime.Call{ID: c.id, Tool: c.tool, Input: w.input(c)}
}

// input is what the model sends.
func (w *world) input(c *callStep) []byte {
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

func (b *batchStep) run(w *world) any {
	mode := engine.Sequential
	if b.parallel {
		mode = engine.Parallel
	}
	calls := make([]runtime.Call, len(b.calls))
	for i, c := range b.calls {
		calls[i] = w.call(c)
		calls[i].Principal = c.principal
	}
	out := []*callResult{}
	for _, o := range w.run.Turn(engine.TurnConfig{}).ExecuteBatch(w.context(), calls, mode) {
		out = append(out, w.answer(o))
	}
	return out
}

// answer notes the request that a call waits for, and returns its result.
func (w *world) answer(o runtime.Outcome) *callResult {
	if o.RequestID != "" {
		w.mu.Lock()
		w.requests[o.CallID] = o.RequestID
		w.mu.Unlock()
		w.look()
	}
	return w.result(o)
}

// look notes what approvers see now, and which requests are open.
func (w *world) look() {
	open := w.exec.Requests()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, q := range open {
		if q.Shown != nil && w.terms[q.CallID] != q.Binding { // new terms, which an edit makes
			w.terms[q.CallID], w.shown[q.CallID] = q.Binding, q.Shown
		}
		w.requests[q.CallID] = q.ID
		if !slices.Contains(w.waiting, q.CallID) {
			w.waiting = append(w.waiting, q.CallID)
		}
	}
}

// ranOut lists the calls whose requests ran out since it was asked last.
func (w *world) ranOut() []string {
	out := []string{}
	w.waiting = slices.DeleteFunc(w.waiting, func(call string) bool {
		q, ok := w.exec.Request(w.requests[call])
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
func (w *world) decide(call string, a action.Answer) any {
	w.mu.Lock()
	id := w.requests[call]
	a.Binding = w.terms[call] // the approver has looked
	w.mu.Unlock()
	res := w.exec.Decide(w.context(), id, a)
	out := &resolution{Resolution: res.Kind.String(), Reason: res.Reason.String()}
	if res.Outcome != nil {
		out.Call = w.answer(*res.Outcome)
	}
	w.waiting = slices.DeleteFunc(w.waiting, func(id string) bool { return id == call && out.Reason == "expired" })
	return out
}

func (s *approveStep) run(w *world) any {
	a := action.Answer{By: operator.Program(s.by), Approve: true, For: s.lasting, CoverArgs: s.where, Edit: s.edit}
	w.must(a.Grant.UnmarshalText([]byte(s.grant)))
	w.must(a.Cover.UnmarshalText([]byte(s.cover)))
	return w.decide(s.request, a)
}

func (s *denyStep) run(w *world) any {
	return w.decide(s.request, action.Answer{By: operator.Program(s.by), Message: s.message})
}

// must reports an operation that cannot be done as a failure of the case.
func (w *world) must(err error) {
	if err != nil && w.broken == nil {
		w.broken = err
	}
}

func (s *revokeStep) run(w *world) any {
	w.mu.Lock()
	id := w.requests[s.grant] // a grant has the id of the request that it came from
	w.mu.Unlock()
	result, why := action.ResultOf(w.exec.Revoke(w.context(), id, operator.Program(s.by), ""))
	if why == "" {
		result = consent.Accepted.String()
	}
	return &resolution{Resolution: result, Reason: string(why)}
}

func (s *tamperStep) run(w *world) any {
	w.must(w.simulation.Tamper(w.session.ID(), s.request, s.args))
	return nothing{}
}

func (s setPolicyStep) run(w *world) any {
	w.policy.set(s.policy)
	w.exec.RetireGrants(w.policy.Asks) // as a reload does
	return nothing{}
}

func (turnStep) run(*world) any { return nothing{} }

func (newRunStep) run(w *world) any {
	now, cancel := context.WithCancel(context.Background())
	cancel() // a handler that outlives its call is not waited for: that would take time
	_ = w.run.Close(now)
	w.must(w.begin())
	return nothing{}
}

func (modelStopStep) run(w *world) any {
	st := w.run.ModelStopped(w.context())
	return &stopped{st.State.String(), names(st.PendingExit)}
}

func (s *whatIfStep) run(w *world) any {
	v := w.as(s.call.principal).Turn(engine.TurnConfig{}).WhatIf(w.context(), runtime.Call{Tool: s.call.tool, Input: s.call.args})
	res := w.result(v.Outcome)
	if v.Runs {
		res = &callResult{Outcome: "executed", Args: v.Input}
	}
	st := w.run.Status()
	res.Run, res.PendingExit = st.State.String(), names(st.PendingExit)
	return res
}

func (s *undoStep) run(w *world) any {
	_, err := w.session.Undo(w.context(), action.UndoRequest{CallID: s.call, By: operator.Program(mainPrincipal)})
	result, why := action.ResultOf(err)
	if refused, ok := errors.AsType[*action.Error](err); ok && refused.Attempted {
		why = ""
	}
	return &undone{Undo: result, Reason: string(why)}
}

func (undoRunStep) run(w *world) any {
	res, _ := w.session.Undo(w.context(), action.UndoRequest{RunID: w.run.ID(), By: operator.Program(mainPrincipal)})
	return &runUndone{names(res.Undone), names(res.Failed), names(res.NotUndoable), res.Reads, res.Complete}
}

// end returns the state after the last step.
func (w *world) end() *final {
	st := w.as(mainPrincipal).Status()
	f := &final{Used: map[string]int{}, Invocations: map[string]int{}, PendingExit: names(st.PendingExit), Run: st.State.String()}
	maps.Copy(f.Used, st.Invocations)
	maps.Copy(f.Invocations, w.invoked)
	return f
}

// tool makes one tool with a stand-in handler.
func (w *world) tool(t *dynamic.Tool) *runtime.Tool {
	name := t.Spec.Name
	run := func(ctx context.Context, in wire.Value) (wire.Value, error) { return w.handle(ctx, name, in) }
	if t.State == nil {
		return runtime.NewDynamicTool(t.Spec, t.Input, run)
	}
	return runtime.NewDynamicTool(t.Spec, t.Input, run, runtime.WithDynamicUndo(
		t.State, t.Output,
		func(context.Context, wire.Value) (wire.Value, error) { return nil, nil },
		func(context.Context, string, wire.Value, wire.Value, wire.Value) error {
			if w.of.undoFails[name] {
				return errors.New("the stand-in undo fails, as the case says")
			}
			return nil
		}))
}
