package engine_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
)

func ExampleSession_Artifact() {
	spec := &runtime.Spec{Name: "file_read", Artifact: &runtime.Artifact{Over: 300, Type: "text/plain"}}
	read := func(_ context.Context, in *readInput) (*readOutput, error) {
		return &readOutput{Content: strings.Repeat("all work and no play ", 1000), Size: 21000}, nil
	}
	reg, err := runtime.NewRegistry(runtime.NewTool(spec, &readInputRule, read))
	must(err)
	exec, err := engine.NewExecutor(reg, runtime.PolicyFunc(allowAll), engine.WithArtifacts(new(runtime.MemoryArtifacts)))
	must(err)
	ctx := context.Background()
	session := exec.Session(engine.SessionConfig{Principal: "alice"})
	run, err := session.StartRun(ctx, engine.RunConfig{})
	must(err)
	out := run.Turn(engine.TurnConfig{}).Execute(ctx, runtime.Call{ID: "c1", Tool: "file_read", Input: []byte(`{"path":"a.md","limit":9}`)})
	fmt.Println(out.Kind, out.Output == nil, out.Artifact.Type, out.Artifact.Bytes)
	fmt.Println(string(out.Artifact.Preview[150:]))
	whole, _, err := session.Artifact(ctx, out.Artifact.SHA256)
	must(err)
	fmt.Println(len(whole))
	// Output:
	// completed true text/plain 21027
	//  no play all work and no… (20838 more characters)","size":21000}
	// 21027
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
