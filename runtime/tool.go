package runtime

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/ambit-tools/ambit/runtime/internal/bind"
	"github.com/ambit-tools/ambit/runtime/internal/callctx"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// ErrDrift is the error of an undo handler that refuses, because what it would restore has changed
// since the call.
var ErrDrift = errors.New("changed since the call")

// A Tool is a Spec with the code that decodes, runs and encodes. It is immutable. NewTool makes it,
// usually in generated code.
type Tool struct {
	spec  *Spec
	hooks hooks
	err   error
}

// hooks are the code of a tool, and what is checked of it.
type hooks struct {
	bind.Hooks
	outputs []any // typed nil pointers, compared with the output type of the tool
	err     error
}

// A ToolOption adds a hook to a tool whose input is In.
type ToolOption[In any] func(*hooks)

// NewTool returns the tool that spec declares. rule checks its input, and run is its handler.
// NewRegistry reports a tool that cannot work.
func NewTool[In input, Out wire.Value](
	spec *Spec, rule *wire.ObjectRule, run func(context.Context, In) (Out, error), opts ...ToolOption[In],
) *Tool {
	t := &Tool{spec: spec}
	if rule == nil || run == nil {
		t.err = errors.New("the rule of the input or the handler is nil")
		return t
	}
	t.hooks.Decode = decoder(reflect.TypeFor[In]().Elem(), rule)
	t.hooks.Run = func(ctx context.Context, v wire.Value) (wire.Value, error) {
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
func decoder(elem reflect.Type, rule *wire.ObjectRule) bind.Decoder {
	return func(b []byte, l wire.Limits) (wire.Value, []wire.Violation) {
		v := reflect.New(elem).Interface().(input)
		if violations := wire.DecodeInto(v, b, l, rule); violations != nil {
			return nil, violations
		}
		return v, nil
	}
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
	t := &Tool{spec: spec}
	t.hooks.Run = run
	if codec == nil || run == nil {
		t.err = errors.New("the codec or the handler is nil")
		return t
	}
	t.hooks.Decode = codec.Decode
	for _, opt := range opts {
		opt(&t.hooks)
	}
	if c := t.hooks.Command; c != nil {
		t.setCommand(c, codec.Decode)
		t.hooks.Run = func(ctx context.Context, v wire.Value) (wire.Value, error) { return run(ctx, inner(v)) }
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
		h.Prepare, h.Undo = prepare, undo
		if state == nil || output == nil {
			h.err = errors.New("a codec that WithDynamicUndo is given is nil")
			return
		}
		h.DecodeState, h.DecodeOutput = state.Decode, output.Decode
	}
}

// WithDynamicPreview is WithPreview for a dynamic tool. nil adds no hook.
func WithDynamicPreview(preview func(ctx context.Context, input wire.Value) (Preview, error)) DynamicOption {
	return func(h *hooks) { h.Preview = erasePreview(preview) }
}

// WithDynamicReconcile is WithReconcile for a dynamic tool. The key and the fence are those of
// call. nil adds no hook.
func WithDynamicReconcile(reconcile func(ctx context.Context, call *CallInfo, input wire.Value) (wire.Value, error)) DynamicOption {
	if reconcile == nil {
		return func(*hooks) {}
	}
	return func(h *hooks) {
		h.Reconcile = func(ctx context.Context, i callctx.Info, input wire.Value) (wire.Value, error) {
			info := CallInfoOf(i)
			return reconcile(ctx, &info, input)
		}
	}
}

// Spec returns the declaration of t. It must not be changed.
func (t *Tool) Spec() *Spec { return t.spec }

// Name returns the name by which calls and policies refer to t.
func (t *Tool) Name() string { return t.spec.Name }

// Decode strictly decodes and checks an input of t.
func (t *Tool) Decode(input []byte) (wire.Value, []wire.Violation) {
	return t.hooks.Decode(input, wire.Limits{Size: t.spec.InputLimit()})
}

// Hooks returns the code of t for the engine. Only packages of this module can call it.
func (t *Tool) Hooks(bind.Access) *bind.Hooks { return &t.hooks.Hooks }

// Unenforced lists the declared fields of t that this version carries but does
// not enforce; see Spec.Unenforced.
func (t *Tool) Unenforced() []string { return t.spec.Unenforced() }
