package runtime

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/ambit-tools/ambit/runtime/internal/redact"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// ErrDrift is the error of an undo handler that refuses, because what it would restore has changed
// since the call.
var ErrDrift = errors.New("changed since the call")

// A Tool is a Spec with the code that decodes, runs and encodes. It is immutable. NewTool makes it,
// usually in generated code.
type Tool struct {
	spec   *Spec
	decode decodeFunc
	run    func(context.Context, wire.Value) (wire.Value, error)
	hooks  hooks
	err    error

	outputs func() *redact.Schema // returns the schema in spec.OutputSchema, parsed at first use
}

// A decodeFunc strictly decodes and checks a value.
type decodeFunc = func([]byte, wire.Limits) (wire.Value, []wire.Violation)

// hooks are the handlers of undo, preview and reconcile, with their types erased.
type hooks struct {
	prepare   func(context.Context, wire.Value) (wire.Value, error)
	undo      func(ctx context.Context, callID string, input, state, output wire.Value) error
	preview   func(context.Context, wire.Value) (Preview, error)
	reconcile func(ctx context.Context, info *CallInfo, input wire.Value) (wire.Value, error)
	outputs   []any // typed nil pointers, compared with the output type of the tool

	decodeState, decodeOutput decodeFunc // of what the journal stores for undo; nil without undo
	err                       error
}

// A ToolOption adds a hook to a tool whose input is In.
type ToolOption[In any] func(*hooks)

// NewTool returns the tool that spec declares. rule checks its input, and run is its handler.
// NewRegistry reports a tool that cannot work.
func NewTool[In input, Out wire.Value](
	spec *Spec, rule *wire.ObjectRule, run func(context.Context, In) (Out, error), opts ...ToolOption[In],
) *Tool {
	t := newTool(spec)
	if rule == nil || run == nil {
		t.err = errors.New("the rule of the input or the handler is nil")
		return t
	}
	t.decode = decoder(reflect.TypeFor[In]().Elem(), rule)
	t.run = func(ctx context.Context, v wire.Value) (wire.Value, error) {
		out, err := run(ctx, v.(In))
		var none Out
		if err != nil || any(out) == any(none) {
			return nil, err
		}
		return out, nil
	}
	for _, opt := range opts {
		opt(&t.hooks)
	}
	t.err = t.hooks.err
	var none Out
	for _, out := range t.hooks.outputs {
		if reflect.TypeOf(out) != reflect.TypeOf(none) {
			t.err = fmt.Errorf("a hook was written for the output %T, the handler returns %T", out, none)
		}
	}
	return t
}

// decoder returns the function that decodes a value of a generated type.
func decoder(elem reflect.Type, rule *wire.ObjectRule) decodeFunc {
	return func(b []byte, l wire.Limits) (wire.Value, []wire.Violation) {
		v := reflect.New(elem).Interface().(input)
		if violations := wire.DecodeInto(v, b, l, rule); violations != nil {
			return nil, violations
		}
		return v, nil
	}
}

// newTool returns a tool without code.
func newTool(spec *Spec) *Tool {
	return &Tool{spec: spec, outputs: sync.OnceValue(func() *redact.Schema { return redact.ParseSchema(*spec.OutputSchema) })}
}

// input is the constraint of a pointer to a generated input. All pointers have one shape for the
// compiler where a constraint lists methods only: NewTool is compiled once, not once per tool.
type input interface {
	wire.Members
	wire.Value
}

// A Codec decodes and checks the input of a dynamic tool, or the state or output that its undo
// needs. When it returns violations its caller ignores the value.
type Codec interface {
	Decode(b []byte, l wire.Limits) (wire.Value, []wire.Violation)
}

// NewDynamicTool returns a tool without generated types: codec decodes its
// input and run gets what codec returned. The Walk of an output checks it.
func NewDynamicTool(spec *Spec, codec Codec, run func(context.Context, wire.Value) (wire.Value, error), opts ...DynamicOption) *Tool {
	t := newTool(spec)
	t.run = run
	if codec == nil || run == nil {
		t.err = errors.New("the codec or the handler is nil")
		return t
	}
	t.decode = codec.Decode
	for _, opt := range opts {
		opt(&t.hooks)
	}
	t.err = t.hooks.err
	return t
}

// A DynamicOption adds a hook to a dynamic tool.
type DynamicOption func(*hooks)

// WithDynamicUndo is WithUndo for a dynamic tool: the codecs decode state and output. State and
// output are nil when there are none.
func WithDynamicUndo(
	state, output Codec,
	prepare func(ctx context.Context, input wire.Value) (wire.Value, error),
	undo func(ctx context.Context, callID string, input, state, output wire.Value) error,
) DynamicOption {
	return func(h *hooks) {
		h.prepare, h.undo = prepare, undo
		if state == nil || output == nil {
			h.err = errors.New("a codec that WithDynamicUndo is given is nil")
			return
		}
		h.decodeState, h.decodeOutput = state.Decode, output.Decode
	}
}

// WithDynamicPreview is WithPreview for a dynamic tool.
func WithDynamicPreview(preview func(ctx context.Context, input wire.Value) (Preview, error)) DynamicOption {
	return func(h *hooks) { h.preview = preview }
}

// WithDynamicReconcile is WithReconcile for a dynamic tool. The key and the fence are those of
// call.
func WithDynamicReconcile(reconcile func(ctx context.Context, call *CallInfo, input wire.Value) (wire.Value, error)) DynamicOption {
	return func(h *hooks) { h.reconcile = reconcile }
}

// Spec returns the declaration of t. It must not be changed.
func (t *Tool) Spec() *Spec { return t.spec }

// Name returns the name by which calls and policies refer to t.
func (t *Tool) Name() string { return t.spec.Name }

// Decode strictly decodes and checks an input of t.
func (t *Tool) Decode(input []byte) (wire.Value, []wire.Violation) {
	return t.decode(input, t.spec.inputLimits())
}

// Unenforced lists the declared fields of t that this version carries but does
// not enforce; see Spec.Unenforced.
func (t *Tool) Unenforced() []string { return t.spec.Unenforced() }
