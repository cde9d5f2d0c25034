// Warmcall is a program that writes to the folder GOCOVERDIR which blocks one warm
// call covers: an allowed call without a journal, after many that are not counted.
// It has to be built with -cover -covermode=atomic, and -coverpkg has to name this
// package too.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime/coverage"
	"strconv"
	"time"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// warmUp is how many calls come before the one that is counted.
const warmUp = 100

func main() {
	if err := run(context.Background(), os.Getenv("GOCOVERDIR")); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dir string) error {
	turn, err := newTurn(ctx)
	if err != nil {
		return err
	}
	for i := range warmUp {
		if err := call(ctx, turn, i); err != nil {
			return err
		}
	}
	if err := coverage.ClearCounters(); err != nil {
		return err
	}
	if err := call(ctx, turn, warmUp); err != nil {
		return err
	}
	if err := coverage.WriteCountersDir(dir); err != nil {
		return err
	}
	return coverage.WriteMetaDir(dir)
}

// A message is the input and the output of the tool, as generated code has them.
type message struct{ Text string }

var (
	messageRule = wire.ObjectRule{Names: []string{"text"}, Required: 1}
	messageText = wire.StringRule{}
)

// ReadMember implements wire.Members.
func (m *message) ReadMember(r *wire.Reader, name string) {
	if name == "text" {
		wire.ReadString(r, &m.Text, &messageText)
	}
}

// Walk implements wire.Value.
func (m *message) Walk(w wire.Visitor) {
	wire.BeginObject(w, &messageRule)
	wire.Member(w, "text", &m.Text, wire.WalkString, &messageText)
	wire.End(w)
}

// newTurn returns a turn of an executor that has one tool and allows every call.
func newTurn(ctx context.Context) (*engine.Turn, error) {
	spec := &runtime.Spec{Name: "echo", Version: "1.0.0", Effect: runtime.SideEffectRead, Deadline: time.Minute}
	echo := func(_ context.Context, in *message) (*message, error) { return in, nil }
	registry, err := runtime.NewRegistry(runtime.NewTool(spec, &messageRule, echo))
	if err != nil {
		return nil, err
	}
	allow := func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	}
	exec, err := engine.NewExecutor(registry, runtime.PolicyFunc(allow))
	if err != nil {
		return nil, err
	}
	run, err := exec.Session(engine.SessionConfig{ID: "session", Principal: "agent"}).StartRun(ctx, engine.RunConfig{})
	if err != nil {
		return nil, err
	}
	return run.Turn(engine.TurnConfig{Budget: time.Hour}), nil
}

func call(ctx context.Context, turn *engine.Turn, number int) error {
	id := "call-" + strconv.Itoa(number)
	out := turn.Execute(ctx, runtime.Call{ID: id, Tool: "echo", Input: []byte(`{"text":"hello"}`)})
	if out.Kind != runtime.Completed {
		return fmt.Errorf("call %q ended as %v: %s", id, out.Kind, out.Message)
	}
	return nil
}
