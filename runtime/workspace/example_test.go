package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ambit-tools/ambit/runtime/engine"

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

	tool := runtime.NewTool(&runtime.Spec{Name: "n", Deadline: time.Minute}, &valueRule,
		func(ctx context.Context, _ *value) (*value, error) {
			diff, err := ws.Diff(ctx, "a.md", []byte("two\n"))
			check(err)
			fmt.Print(diff)
			check(ws.WriteFile(ctx, "a.md", []byte("two\n"), 0o600))
			return nil, errors.New("something else went wrong")
		})
	reg, err := runtime.NewRegistry(tool)
	check(err)
	exec, err := engine.NewExecutor(reg, allowAll, engine.WithParticipant("files", ws))
	check(err)
	ctx := context.Background()
	run, err := exec.Session(engine.SessionConfig{Principal: "agent"}).StartRun(ctx, engine.RunConfig{})
	check(err)
	out := run.Turn(engine.TurnConfig{}).Execute(ctx, runtime.Call{ID: "c1", Tool: "n", Input: []byte(`{"n":1}`)})
	check(exec.Shutdown(ctx))
	text, err := ws.ReadFile(ctx, "a.md")
	check(err)
	fmt.Print(out.Kind, ", rolled back ", out.RolledBack, ": ", string(text))
	// Output:
	// --- a/a.md
	// +++ b/a.md
	// @@ -1,1 +1,1 @@
	// -one
	// +two
	// failed, rolled back true: one
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
