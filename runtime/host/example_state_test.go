package host_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strconv"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/host"
	"github.com/ambit-tools/ambit/runtime/state"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A counter counts the notes in the store of the journal.
type counter struct{ state *state.State }

func (c *counter) write(ctx context.Context, _ wire.Value) (wire.Value, error) {
	text, err := c.state.Get(ctx, "notes")
	if err != nil {
		return nil, err
	}
	n, _ := strconv.Atoi(string(text)) // 0 at first
	return wire.Raw(fmt.Sprintf(`{"notes": %d}`, n+1)), c.state.Set(ctx, "notes", strconv.AppendInt(nil, int64(n+1), 10))
}

// A tool keeps values in the store, in the transaction of its call: they are there when
// the call completes, and not when it fails.
func Example_state() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "ambit")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()

	tool := new(counter)
	spec := &runtime.Spec{Name: "note_write", Version: "1.0.0", Effect: runtime.SideEffectWrite, Pin: "3f2a"}
	h, err := host.Open(ctx, host.Config{
		Tools: []*runtime.Tool{runtime.NewDynamicTool(spec, codec{}, tool.write)}, Policies: policies(), Dir: dir,
		Setup: func(ctx context.Context, h *host.Host) (_ []engine.Option, err error) {
			tool.state, err = state.Open(ctx, h.Store)
			return []engine.Option{engine.WithParticipant("state", tool.state)}, err
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	run, err := h.Executor.Session(engine.SessionConfig{Principal: "agent"}).StartRun(ctx, engine.RunConfig{})
	if err != nil {
		log.Fatal(err)
	}
	turn := run.Turn(engine.TurnConfig{})
	for range 2 {
		out := turn.Execute(ctx, runtime.Call{Tool: "note_write", Input: []byte(`{"title": "Shopping"}`)})
		fmt.Println(out.Kind, string(out.Output))
	}
	fmt.Println(h.Close(ctx))
	// Output:
	// completed {"notes":1}
	// completed {"notes":2}
	// <nil>
}
