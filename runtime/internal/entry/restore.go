package entry

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/bind"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/internal/redact"
	"github.com/ambit-tools/ambit/runtime/internal/ruleinput"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
	"github.com/ambit-tools/ambit/runtime/rules"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// MaxDepth is how deep an output and a prepared state may be nested: as deep as an input.
const MaxDepth = 128

var (
	errNoState  = errors.New("nothing was prepared for the undo: the call may have been made when the tool declared none")
	errNoValue  = errors.New("it was erased")
	errNoTool   = errors.New("the undo cannot be tried any more: the tool is not registered, or declares no undo")
	errNoDecode = errors.New("the tool has nothing that decodes it: give it WithUndo")
)

// Values are the values of a recorded call, as its tool decodes them now. A value is nil when the
// call has none, when it was erased, and when it is not valid any more.
type Values struct {
	Args, Final         wire.Value // as given, and as the handler gets them
	ArgsText, FinalText []byte

	State, Output wire.Value // for the undo; nil also when no undo will need them
	Lost          error      // why the call cannot be undone any more; nil: it can, or there is nothing to undo

	Effect rules.Digest // that the key of its effects is made of
	Keyed  bool         // there is one
}

// Restore returns the values of r. spec and hooks are those of its tool, nil when there is none of
// that name. key is that of the recorded digests. now tells whether the time for an undo is over.
func Restore(r *history.Call, spec *runtime.Spec, hooks *bind.Hooks, key ruleinput.Key, now time.Time) (v Values) {
	if hooks != nil {
		v.Args, v.ArgsText = restoreArgs(hooks, r.Args)
		v.Final, v.FinalText = v.Args, v.ArgsText
		if r.Rewritten {
			v.Final, v.FinalText = restoreArgs(hooks, r.Final)
		}
		v.restoreKey(r, spec, key)
	}
	undoable := spec != nil && spec.Undo != nil
	if r.Attempts == 0 || r.Undone {
		return v
	}
	if out := r.Outcome; out != nil {
		if out.Kind == runtime.Failed || undoable && !now.Before(r.Ended.Add(ruleinput.UndoTTL(spec))) {
			return v
		}
	}
	if undoable {
		if v.State, v.Lost = restoreState(r, spec, hooks, v.Final != nil); v.Lost == nil {
			v.Output = restoreOutput(r, hooks)
		}
	} else if r.Stored {
		v.Lost = errNoTool
	}
	return v
}

// restoreKey sets the key of the effects. The code of the tool walks the arguments, and may panic.
func (v *Values) restoreKey(r *history.Call, spec *runtime.Spec, key ruleinput.Key) {
	defer func() { _ = recover() }() // the key is then derived from the ids of the session and the call
	if v.Final == nil || spec.Idempotency == nil {
		return
	}
	effect, err := ruleinput.Effect(r.Principal, spec, v.Final, r.Key, key)
	v.Effect, v.Keyed = effect, err == nil
}

// restoreArgs decodes recorded arguments. They were valid when they were recorded, but the tool may
// have changed since.
func restoreArgs(hooks *bind.Hooks, text []byte) (wire.Value, []byte) {
	v, err := Decode(hooks.Decode, text)
	if err != nil {
		return nil, nil
	}
	return v, text
}

// restoreState decodes the state that was prepared for the undo of a call. The error says why the
// call cannot be undone any more.
func restoreState(r *history.Call, spec *runtime.Spec, hooks *bind.Hooks, hasArgs bool) (wire.Value, error) {
	switch {
	case r.Lost != "":
		return nil, fmt.Errorf("the undo needs values that could not be recorded: %s", r.Lost)
	case !hasArgs:
		text := r.Args
		if r.Rewritten {
			text = r.Final
		}
		_, err := Decode(hooks.Decode, text)
		return nil, fmt.Errorf("the undo needs the arguments, which cannot be had any more: %w", err)
	case !r.Prepared && hooks.Prepare != nil:
		if r.Pin != spec.Pin || r.Outcome != nil && r.Outcome.Kind == runtime.Completed {
			return nil, errNoState
		}
		return nil, nil // its handler was not released
	case !r.Stored:
		return nil, nil
	}
	v, err := Decode(hooks.DecodeState, r.PreparedState)
	if err != nil {
		return nil, fmt.Errorf("the undo needs the state that was prepared for it, which cannot be had any more: %w", err)
	}
	return v, nil
}

// restoreOutput decodes the output, unless it differs from what the handler returned: the undo
// handler works without it. The output of a call whose commit was decided is known before the call
// has its outcome.
func restoreOutput(r *history.Call, hooks *bind.Hooks) wire.Value {
	out := r.Outcome
	if out == nil {
		out = r.Decided
	}
	if out == nil || Redacted(out) {
		return nil
	}
	v, err := Decode(hooks.DecodeOutput, out.Output)
	if err != nil {
		return nil
	}
	return v
}

// Redacted reports whether the output of out differs from the one that the handler returned.
func Redacted(out *runtime.Outcome) bool {
	return slices.ContainsFunc(out.Obligations, func(o runtime.Obligation) bool { return o.Code == redact.Obligation })
}

// Decode decodes a recorded value; decode may be nil. The value was valid when it was recorded, but
// the tool may have changed since, and its code may panic. No text is too large: its size was
// checked before it was stored.
func Decode(decode bind.Decoder, text []byte) (v wire.Value, err error) {
	switch {
	case text == nil:
		return nil, errNoValue
	case decode == nil:
		return nil, errNoDecode
	}
	defer func() {
		if p := recover(); p != nil {
			v, err = nil, fmt.Errorf("panic: %v", p)
		}
	}()
	v, violations := decode(text, wire.Limits{Size: max(len(text), 1), Depth: MaxDepth, Number: max(len(text), 1), AnyNumber: true})
	if violations != nil {
		return nil, fmt.Errorf("it does not fit the declaration of now: %s", wording.Violations(violations))
	}
	return v, nil
}

// CheckPrepared returns an error when a state that was prepared for an undo could not be decoded
// again. The error names the places and no values, because a model may see it.
func CheckPrepared(state wire.Value) error {
	if state == nil {
		return nil
	}
	_, violations, err := wire.AppendWithin(nil, state, math.MaxInt, MaxDepth)
	switch {
	case err != nil:
		return fmt.Errorf("what was prepared for undo cannot be stored: %w", err)
	case violations != nil:
		return fmt.Errorf("what was prepared for undo is invalid: %s", wording.Violations(wording.WithoutValues(violations)))
	}
	return nil
}
