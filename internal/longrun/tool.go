package main

import (
	"context"
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A message is the input and the output of the tool that is called.
type message struct{ Text string }

// ReadMember implements wire.Decoder.
func (v *message) ReadMember(r *wire.Reader, _ string) {
	wire.ReadString(r, &v.Text, &wire.StringRule{})
}

// Walk implements wire.Walker.
func (v *message) Walk(w wire.Visitor) {
	w.Visit(wire.Token{Kind: wire.KindObject})
	w.Visit(wire.Token{Kind: wire.KindName, Str: "text"})
	w.Visit(wire.Token{Kind: wire.KindString, Str: v.Text})
	w.Visit(wire.Token{Kind: wire.KindEnd})
}

// input is that of every call.
const input = `{"text":"a note of some words"}`

// newExecutor returns a recovered executor of one tool whose handler does nothing.
func newExecutor(ctx context.Context, j journal.Journal) (*engine.Executor, error) {
	reg, err := runtime.NewRegistry(runtime.NewTool(
		&runtime.Spec{Name: "note", Version: "1.0.0", Effect: runtime.SideEffectWrite}, &wire.ObjectRule{Names: []string{"text"}, Required: 1},
		func(_ context.Context, in *message) (*message, error) { return in, nil }))
	if err != nil {
		return nil, err
	}
	allow := func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	}
	exec, err := engine.NewExecutor(reg, runtime.PolicyFunc(allow), engine.WithJournal(j), engine.WithPolicyTimeout(time.Minute))
	if err != nil {
		return nil, err
	}
	return exec, exec.Recover(ctx)
}

// startRun starts a run of a session.
func startRun(ctx context.Context, exec *engine.Executor, session, run string) (*engine.Run, error) {
	return exec.Session(engine.SessionConfig{ID: session, Principal: "agent"}).StartRun(ctx, engine.RunConfig{ID: run})
}

// call makes a call and wants it to complete.
func call(ctx context.Context, run *engine.Run, id string) error {
	out := run.Turn(engine.TurnConfig{}).Execute(ctx, runtime.Call{ID: id, Tool: "note", Input: []byte(input)})
	if out.Kind != runtime.Completed {
		return fmt.Errorf("call %s: %v %v: %s", id, out.Kind, out.Reason, out.Message)
	}
	return nil
}
