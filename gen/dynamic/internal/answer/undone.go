package answer

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// An Undone is what an undo handler was given, as JSON texts.
type Undone struct {
	Outcome, Undo        string
	Input, State, Output string
}

// A Tell is what an undo handler calls.
type Tell func(input, state, output wire.Value)

// Undo calls the first tool that tools returns, restarts, and undoes the call.
func Undo(tools func(Tell) []*runtime.Tool, input []byte) (Undone, error) {
	ctx := context.Background()
	var u Undone
	all := tools(func(input, state, output wire.Value) {
		u.Input, u.State, u.Output = text(input), text(state), text(output)
	})
	var kept journal.Memory
	session, err := start(ctx, all, &kept)
	if err != nil {
		return u, err
	}
	run, err := session.StartRun(ctx, engine.RunConfig{ID: "r"})
	if err != nil {
		return u, err
	}
	u.Outcome = run.Turn(engine.TurnConfig{}).Execute(ctx, runtime.Call{ID: "c", Tool: all[0].Name(), Input: input}).Kind.String()
	if session, err = start(ctx, all, &kept); err != nil {
		return u, err
	}
	_, err = session.Undo(ctx, action.UndoRequest{CallID: "c", By: runtime.ProgramActor("ops")})
	result, why := action.ResultOf(err)
	u.Undo = result + " " + string(why)
	return u, nil
}

// start returns the session of an executor that continues a journal.
func start(ctx context.Context, tools []*runtime.Tool, j journal.Journal) (*engine.Session, error) {
	reg, err := runtime.NewRegistry(tools...)
	if err != nil {
		return nil, err
	}
	allow := runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	})
	exec, err := engine.NewExecutor(reg, allow, engine.WithJournal(j), engine.WithPolicyTimeout(time.Minute)) // on a busy machine
	if err != nil {
		return nil, err
	}
	if err := exec.Recover(ctx); err != nil {
		return nil, err
	}
	return exec.Session(engine.SessionConfig{ID: "s"}), nil
}

// text returns a value as JSON.
func text(v wire.Value) string {
	b, violations := wire.Append(nil, v)
	return fmt.Sprintf("%s%v", b, violations)
}

// MainUndo reads inputs from the standard input, as JSON, and prints an Undone per line.
func MainUndo(tools func(Tell) []*runtime.Tool) {
	var inputs [][]byte
	err := json.NewDecoder(os.Stdin).Decode(&inputs)
	out := json.NewEncoder(os.Stdout)
	for _, in := range inputs {
		var u Undone
		if u, err = Undo(tools, in); err != nil {
			break
		}
		if err = out.Encode(u); err != nil {
			break
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}
