// Package bind holds what the engine calls of a tool. Handlers are registered with their own types;
// here the types are erased.
package bind

import (
	"context"

	"github.com/ambit-tools/ambit/runtime/internal/callctx"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// Access is the argument of runtime.Tool.Hooks. No other module can make a value of it, so that a
// handler cannot be called around the engine.
type Access struct{ _ struct{} }

// A Decoder strictly decodes and checks a value. When it returns violations its caller ignores the
// value.
type Decoder = func([]byte, wire.Limits) (wire.Value, []wire.Violation)

// Hooks are the code of a tool. A hook that the tool does not have is nil.
type Hooks struct {
	Decode    Decoder
	Run       func(context.Context, wire.Value) (wire.Value, error)
	Prepare   func(context.Context, wire.Value) (wire.Value, error)
	Undo      func(ctx context.Context, callID string, input, state, output wire.Value) error
	Preview   func(context.Context, wire.Value) (mediaType, text string, err error)
	Reconcile func(context.Context, callctx.Info, wire.Value) (wire.Value, error)

	DecodeState, DecodeOutput Decoder // of what the journal stores for undo

	Command *Command // what the tool runs as a process; nil: it has a handler
}

// A Command is how a process is started for an input, and how its output is read. Where Run is not
// nil it stands in for the process, and nothing is started.
type Command struct {
	Argv   func(wire.Value) ([]string, error)
	Stdin  func(wire.Value) string // nil: the process has no input
	Output Decoder
}
