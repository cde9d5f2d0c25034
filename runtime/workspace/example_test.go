package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/content"
	"github.com/ambit-tools/ambit/runtime/workspace"
)

// A tool writes a file and then fails: the file is as it was.
func Example() {
	dir, err := os.MkdirTemp("", "workspace")
	check(err)
	defer os.RemoveAll(dir)
	project := filepath.Join(dir, "project")
	check(os.Mkdir(project, 0o700))
	check(os.WriteFile(filepath.Join(project, "a.md"), []byte("one\n"), 0o600))
	store, err := content.Open(filepath.Join(dir, "state", "content"))
	check(err)
	defer store.Close()
	ws, err := workspace.Open(project, store)
	check(err)
	defer ws.Close()

	handler := func(ctx context.Context, in *value) (*value, error) {
		diff, err := ws.Diff(ctx, "a.md", []byte("two\n"))
		check(err)
		fmt.Print(diff)
		check(ws.WriteFile(ctx, "a.md", []byte("two\n"), 0o600))
		return nil, errors.New("something else went wrong")
	}
	out := runInTx(ws, handler)
	text, err := ws.ReadFile(context.Background(), "a.md")
	check(err)
	fmt.Print(out.Kind, ": ", string(text))
	// Output:
	// --- a/a.md
	// +++ b/a.md
	// @@ -1,1 +1,1 @@
	// -one
	// +two
	// failed: one
}

// runInTx calls a handler as a tool, in a transaction of the workspace that is
// rolled back when it fails.
func runInTx(ws *workspace.Workspace, handler func(context.Context, *value) (*value, error)) runtime.Outcome {
	ctx := context.Background()
	tx, err := ws.Begin(ctx, workspace.Key{Session: "s", Call: "c1"})
	check(err)
	spec := &runtime.Spec{Name: "n", Deadline: time.Minute}
	reg, err := runtime.NewRegistry(runtime.NewTool(spec, &valueRule, func(ctx context.Context, in *value) (*value, error) {
		return handler(workspace.WithTx(ctx, tx), in)
	}))
	check(err)
	exec, err := runtime.NewExecutor(reg, runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	}))
	check(err)
	run, err := exec.Session(runtime.SessionConfig{Principal: "agent"}).StartRun(ctx, runtime.RunConfig{})
	check(err)
	out := run.Turn(runtime.TurnConfig{}).Execute(ctx, runtime.Call{ID: "c1", Tool: "n", Input: []byte(`{"n":1}`)})
	check(tx.Rollback(ctx))
	check(exec.Shutdown(ctx))
	return out
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
