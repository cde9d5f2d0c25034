package runtime

import (
	"context"
	"errors"
	"reflect"

	"github.com/ambit-tools/ambit/runtime/internal/callctx"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// An Undo is the argument of an undo handler. State is what prepare returned before the call; it is
// nil only when prepare returned nil. Output is nil when it is not known what the call returned.
// Both may come from the journal, and include sensitive values.
type Undo[In, State, Out any] struct {
	CallID string
	Input  *In
	State  *State
	Output *Out
}

// A Preview shows what a call would do.
type Preview struct {
	MediaType string // text/plain when empty
	Text      string
}

// A Reconcile is the argument of a reconcile handler: the input of a call whose progress is not
// known. Key is what CallInfo.Key was for the handler. Fence is that of the present owner of the
// journal, and greater than the handler's was.
type Reconcile[In any] struct {
	CallID string
	Input  *In
	Key    string
	Fence  uint64
}

// WithUndo makes a tool undoable: the result of prepare is stored before the handler runs, and undo
// reverses the call (engine.Session.Undo). After a restart of the executor, State and Output are decoded
// by the rules state and output.
func WithUndo[In, State, Out any, PI typed[In], PS stored[State], PO stored[Out]](
	state, output *wire.ObjectRule,
	prepare func(context.Context, *In) (*State, error), undo func(context.Context, *Undo[In, State, Out]) error,
) ToolOption[PI] {
	return func(h *hooks) {
		h.outputs = append(h.outputs, (*Out)(nil))
		h.recall(reflect.TypeFor[State](), state, reflect.TypeFor[Out](), output)
		h.Prepare = func(ctx context.Context, in wire.Value) (wire.Value, error) {
			state, err := prepare(ctx, (*In)(in.(PI)))
			if err != nil || state == nil {
				return nil, err
			}
			return PS(state), nil
		}
		h.Undo = func(ctx context.Context, callID string, input, state, output wire.Value) error {
			u := &Undo[In, State, Out]{CallID: callID, Input: (*In)(input.(PI))}
			if state != nil {
				u.State = (*State)(state.(PS))
			}
			if output != nil {
				u.Output = (*Out)(output.(PO))
			}
			return undo(ctx, u)
		}
	}
}

// recall sets the decoders of what is stored for undo. It has no type parameters, so that it is
// compiled once and not once per tool.
func (h *hooks) recall(state reflect.Type, stateRule *wire.ObjectRule, output reflect.Type, outputRule *wire.ObjectRule) {
	if stateRule == nil || outputRule == nil {
		h.err = errors.New("a rule that WithUndo is given is nil")
	}
	h.DecodeState, h.DecodeOutput = decoder(state, stateRule), decoder(output, outputRule)
}

// WithPreview gives a tool a preview, which has no effects. The executor makes it for the approvers
// of a call, and again before the call runs. A call whose preview has changed by then does not run.
func WithPreview[In any, PI typed[In]](preview func(context.Context, *In) (Preview, error)) ToolOption[PI] {
	return func(h *hooks) {
		h.Preview = erasePreview(func(ctx context.Context, in wire.Value) (Preview, error) {
			return preview(ctx, (*In)(in.(PI)))
		})
	}
}

// erasePreview returns preview without the type of its result; nil if it is nil.
func erasePreview(preview func(context.Context, wire.Value) (Preview, error)) func(context.Context, wire.Value) (string, string, error) {
	if preview == nil {
		return nil
	}
	return func(ctx context.Context, in wire.Value) (mediaType, text string, err error) {
		p, err := preview(ctx, in)
		return p.MediaType, p.Text, err
	}
}

// WithReconcile gives a tool a handler that finds out what an interrupted call did.
// engine.Executor.Recover calls it for every call whose outcome is unknown. The output that it returns is
// that of the call. ErrNothingHappened says that the call had no effect; after any other error the
// call stays unknown.
//
// The handler must only read, because the executor records no effect of it. It must be certain that
// what the former process has begun can no longer take effect.
func WithReconcile[In, Out any, PI typed[In], PO typed[Out]](
	reconcile func(context.Context, *Reconcile[In]) (*Out, error),
) ToolOption[PI] {
	return func(h *hooks) {
		h.outputs = append(h.outputs, (*Out)(nil))
		h.Reconcile = func(ctx context.Context, i callctx.Info, input wire.Value) (wire.Value, error) {
			info := CallInfoOf(i)
			out, err := reconcile(ctx, &Reconcile[In]{CallID: info.ID, Input: (*In)(input.(PI)), Key: info.Key(), Fence: info.Fence})
			if err != nil || out == nil {
				return nil, err
			}
			return PO(out), nil
		}
	}
}

// typed is the constraint of a pointer to a generated type.
type typed[T any] interface {
	*T
	wire.Value
}

// stored is the constraint of a pointer to a generated type that can be decoded again.
type stored[T any] interface {
	typed[T]
	wire.Members
}
