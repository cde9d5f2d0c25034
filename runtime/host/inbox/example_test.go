package inbox_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/host/inbox"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
	"github.com/ambit-tools/ambit/runtime/wire"
)

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// A call waits for consent; an approver gives it in another process.
func Example() {
	dir, err := os.MkdirTemp("", "ambit")
	must(err)
	defer func() { _ = os.RemoveAll(dir) }()
	ctx := context.Background()

	// The application.
	store, err := sqlite.Open(filepath.Join(dir, "ambit.db"))
	must(err)
	spec := &runtime.Spec{Name: "send", Consent: &runtime.Consent{Ask: runtime.ConsentAskAlways}}
	send := func(context.Context, wire.Value) (wire.Value, error) { return wire.Raw(`{"sent":true}`), nil }
	reg, err := runtime.NewRegistry(runtime.NewDynamicTool(spec, codec{}, send))
	must(err)
	allow := func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	}
	exec, err := engine.NewExecutor(reg, runtime.PolicyFunc(allow), engine.WithJournal(store), engine.WithPendingRequests())
	must(err)
	must(exec.Recover(ctx))
	in, err := inbox.Serve(ctx, store, exec)
	must(err)
	session := exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"})
	run, err := session.StartRun(ctx, engine.RunConfig{})
	must(err)
	out := run.Turn(engine.TurnConfig{}).Execute(ctx, runtime.Call{ID: "c1", Tool: "send", Input: []byte(`{}`)})
	fmt.Println(out.Kind)

	// Another process, which would be "ambit approvals approve".
	reader, err := sqlite.OpenReader(store.Path())
	must(err)
	must(inbox.Put(ctx, reader, &inbox.Command{Kind: inbox.CommandApprove, Request: out.RequestID}))
	must(reader.Close())

	// The application again.
	fmt.Println(session.Await(ctx, "c1").Kind)
	must(in.Close(ctx))
	must(exec.Shutdown(ctx))
	must(store.Close())
	// Output:
	// pending
	// completed
}
