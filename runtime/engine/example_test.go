package engine_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// The tool greet is declared and written by hand here; tools of an application
// come from generated code, as Tools(handler).
func Example() {
	greet := runtime.NewTool(&runtime.Spec{Name: "greet", Deadline: time.Second}, &readInputRule,
		func(_ context.Context, in *readInput) (*readOutput, error) {
			return &readOutput{Content: "hello " + in.Path, Size: in.Limit}, nil
		})
	policy := runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	})
	ctx := context.Background()
	reg, err := runtime.NewRegistry(greet)
	check(err)
	exec, err := engine.NewExecutor(reg, policy)
	check(err)
	run, err := exec.Session(engine.SessionConfig{Principal: "agent"}).StartRun(ctx, engine.RunConfig{})
	check(err)
	turn := run.Turn(engine.TurnConfig{Budget: time.Minute})
	out := turn.Execute(ctx, runtime.Call{ID: "c1", Tool: "greet", Input: []byte(`{"path":"world","limit":1}`)})
	fmt.Println(out.Kind, string(out.Output))
	out = turn.Execute(ctx, runtime.Call{ID: "c2", Tool: "greet", Input: []byte(`{"path":"world","limit":"one"}`)})
	fmt.Println(out.Kind, out.Reason, out.Message)
	// Output:
	// completed {"content":"hello world","size":1}
	// denied invalid_input the input is invalid: /limit: type: want integer, have string
}

// A handler puts its effects under the fence of its call: once the call has
// timed out they are refused.
func ExampleCommit() {
	save := func(ctx context.Context, path string, content []byte) error {
		return runtime.Commit(ctx, func() error {
			return os.WriteFile(path, content, 0o600)
		})
	}
	fmt.Println(save(context.Background(), "a.md", nil))
	// Output: the context is not that of a call: pass on the one that the handler got
}

// A handler reports what it does while it runs. The host gives the pieces to its feed; here they are
// printed.
func ExampleWithLive() {
	build := runtime.NewTool(&runtime.Spec{Name: "build", Deadline: time.Minute}, &readInputRule,
		func(ctx context.Context, in *readInput) (*readOutput, error) {
			err := runtime.Report(ctx, runtime.Progress{Done: 1, Total: 2, Text: "compiled " + in.Path})
			return &readOutput{Content: "built", Size: in.Limit}, err
		})
	policy := runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	})
	ctx := context.Background()
	reg, err := runtime.NewRegistry(build)
	check(err)
	exec, err := engine.NewExecutor(reg, policy, engine.WithLive(func(p journal.Live) {
		fmt.Printf("%s: %d of %d, %q\n", p.Call, p.Done, p.Total, p.Text)
	}))
	check(err)
	run, err := exec.Session(engine.SessionConfig{}).StartRun(ctx, engine.RunConfig{})
	check(err)
	out := run.Turn(engine.TurnConfig{}).Execute(ctx, runtime.Call{ID: "c1", Tool: "build", Input: []byte(`{"path":"a.go","limit":1}`)})
	fmt.Println(out.Kind)
	// Output:
	// c1: 1 of 2, "compiled a.go"
	// completed
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
