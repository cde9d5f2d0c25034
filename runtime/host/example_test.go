package host_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/host"
)

// A program opens a host, serves calls, and ends with its context or with a signal.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	dir, err := os.MkdirTemp("", "ambit")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()

	h, err := host.Open(ctx, host.Config{Tools: noteTools(nil), Policies: policies(), Dir: dir})
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		defer stop() // a server would serve until the host shuts its executor down
		run, err := h.Executor.Session(engine.SessionConfig{Principal: "agent"}).StartRun(ctx, engine.RunConfig{})
		if err != nil {
			log.Fatal(err)
		}
		out := run.Turn(engine.TurnConfig{}).Execute(ctx, runtime.Call{Tool: "note_write", Input: []byte(`{"title": "Shopping"}`)})
		fmt.Println(out.Kind)
	}()
	fmt.Println(h.Run(ctx))
	// Output:
	// completed
	// <nil>
}
