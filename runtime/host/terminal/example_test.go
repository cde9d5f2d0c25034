package terminal_test

import (
	"context"
	"fmt"
	"log"

	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/host/terminal"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// anything accepts any JSON; generated tools check theirs.
type anything struct{}

func (anything) Decode(b []byte, l wire.Limits) (wire.Value, []wire.Violation) {
	return wire.ParseRaw(b, l)
}

// A function answers in place of a person: terminal.New(id, os.Stdin, os.Stderr)
// asks one.
func Example() {
	spec := &runtime.Spec{Name: "file_delete", Consent: &runtime.Consent{Ask: runtime.ConsentAskAlways, Message: "Delete {path}?"}}
	reg, err := runtime.NewRegistry(runtime.NewDynamicTool(spec, anything{}, func(context.Context, wire.Value) (wire.Value, error) {
		return wire.Raw(`{}`), nil
	}))
	if err != nil {
		log.Fatal(err)
	}
	ask := runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	})
	approver := terminal.Func(func(_ context.Context, r *consent.Notice) (action.Answer, bool) {
		fmt.Printf("asked about %s %s\n", r.Tool, r.Shown)
		return action.Answer{By: runtime.ProgramActor("alice"), Approve: true}, true
	})
	exec, err := engine.NewExecutor(reg, ask, engine.WithApprover(approver))
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go approver.Serve(ctx, exec)

	run, err := exec.Session(engine.SessionConfig{Principal: "agent"}).StartRun(ctx, engine.RunConfig{})
	if err != nil {
		log.Fatal(err)
	}
	turn := run.Turn(engine.TurnConfig{ConsentWait: 10 * runtime.DefaultDeadline})
	out := turn.Execute(ctx, runtime.Call{ID: "c1", Tool: "file_delete", Input: []byte(`{"path":"a.md"}`)})
	fmt.Println(out.Kind, out.Reason, out.Message)
	// Output:
	// asked about file_delete {"path":"a.md"}
	// completed
}
