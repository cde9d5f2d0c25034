package content_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/content"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// artifacts stores the outputs of calls in a Store.
type artifacts struct{ *content.Store }

func (a artifacts) Put(ctx context.Context, _ runtime.ArtifactRef, data []byte) error {
	_, err := a.Store.Put(ctx, data)
	return err
}

func (a artifacts) Get(ctx context.Context, ref runtime.ArtifactRef) ([]byte, error) {
	return a.Store.Get(ctx, content.Ref{SHA256: ref.SHA256, Size: ref.Bytes})
}

// codec takes any input.
type codec struct{}

func (codec) Decode(b []byte, l wire.Limits) (wire.Value, []wire.Violation) {
	return wire.ParseRaw(b, l)
}

func Example_artifacts() {
	dir, err := os.MkdirTemp("", "content")
	check(err)
	defer os.RemoveAll(dir)
	store, err := content.Open(dir)
	check(err)
	defer store.Close()
	spec := &runtime.Spec{Name: "pages", Artifact: &runtime.Artifact{Over: 300, Type: "text/plain"}}
	pages := func(context.Context, wire.Value) (wire.Value, error) {
		return wire.Raw(`{"text":"` + strings.Repeat("page ", 1000) + `"}`), nil
	}
	reg, err := runtime.NewRegistry(runtime.NewDynamicTool(spec, codec{}, pages))
	check(err)
	allow := func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	}
	exec, err := engine.NewExecutor(reg, runtime.PolicyFunc(allow), engine.WithArtifacts(artifacts{store}))
	check(err)
	ctx := context.Background()
	session := exec.Session(engine.SessionConfig{Principal: "alice"})
	run, err := session.StartRun(ctx, engine.RunConfig{})
	check(err)
	out := run.Turn(engine.TurnConfig{}).Execute(ctx, runtime.Call{ID: "c1", Tool: "pages", Input: []byte(`{}`)})
	data, ref, err := session.Artifact(ctx, out.Artifact.SHA256)
	check(err)
	fmt.Println(out.Kind, ref.Type, ref.Bytes, len(data))
	// Output: completed text/plain 5011 5011
}
