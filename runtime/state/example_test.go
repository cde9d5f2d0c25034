package state_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strconv"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/host"
	"github.com/ambit-tools/ambit/runtime/state"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A counter carries out a tool that counts notes in the store of the journal.
type counter struct{ state *state.State }

func (c *counter) noteWrite(ctx context.Context, _ wire.Value) (wire.Value, error) {
	text, err := c.state.Get(ctx, "notes")
	if err != nil {
		return nil, err
	}
	n, _ := strconv.Atoi(string(text)) // 0 at first
	return wire.Raw(fmt.Sprintf(`{"notes": %d}`, n+1)), c.state.Set(ctx, "notes", strconv.AppendInt(nil, int64(n+1), 10))
}

// anyInput stands for the decoder that ambit generate writes.
type anyInput struct{}

func (anyInput) Decode(b []byte, l wire.Limits) (wire.Value, []wire.Violation) {
	return wire.ParseRaw(b, l)
}

func allow(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
	return runtime.Decision{Effect: runtime.EffectAllow}, nil
}

// A tool keeps values in the store of the journal, in the transaction of its call: they are
// there when the call completes, and not when it fails.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "ambit")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()

	handler := new(counter)
	spec := &runtime.Spec{Name: "note_write", Version: "1.0.0", Effect: runtime.SideEffectWrite}
	h, err := host.Open(ctx, host.Config{
		Tools:  []*runtime.Tool{runtime.NewDynamicTool(spec, anyInput{}, handler.noteWrite)},
		Policy: runtime.PolicyFunc(allow),
		Dir:    dir,
		Setup: func(ctx context.Context, h *host.Host) (_ []engine.Option, err error) {
			handler.state, err = state.Open(ctx, h.Store)
			return []engine.Option{engine.WithParticipant("state", handler.state)}, err
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
