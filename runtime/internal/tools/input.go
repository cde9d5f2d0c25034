package tools

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/jsonedit"
	"github.com/ambit-tools/ambit/runtime/internal/rewrites"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
	"github.com/ambit-tools/ambit/runtime/internal/walk"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// An Input is the decoded input of a call.
type Input struct {
	Args      wire.Value
	Text      []byte // of Args
	Heartbeat bool   // the model asked to be continued
}

// heartbeatName is the member that an input has beside the arguments if its tool declares
// heartbeat. It says whether the model wants to continue after the call.
const heartbeatName = "request_heartbeat"

// Read decodes an input of a call: the arguments, and request_heartbeat if the tool declares
// heartbeat. It returns the panic of a codec.
func (t *Tool) Read(input []byte) (in Input, violations []wire.Violation, fault *usercode.Panicked) {
	defer usercode.Catch(&fault)
	in, violations = t.read(input)
	return in, violations, nil
}

// read is Read for a caller that recovers (SEMANTICS 4.18, 4.19 and 7.4).
func (t *Tool) read(input []byte) (in Input, violations []wire.Violation) {
	if !t.Spec.Heartbeat {
		in.Text = input
		in.Args, violations = t.Decode(input)
		return in, violations
	}
	var value []byte
	in.Text, value = jsonedit.Take(input, heartbeatName, wire.Limits{Size: t.Spec.InputLimit()})
	in.Args, violations = t.Decode(in.Text)
	switch string(value) {
	case "", "false":
	case "true":
		in.Heartbeat = true
	default:
		actual := wire.Violation{Pointer: "/" + heartbeatName, Keyword: "type", Expected: "boolean", Actual: string(value[:min(len(value), 64)])}
		violations = append(violations, actual)
	}
	return in, violations
}

// Decode decodes arguments. A panic of the codec goes to the caller.
func (t *Tool) Decode(text []byte) (wire.Value, []wire.Violation) {
	return t.Hooks.Decode(text, wire.Limits{Size: t.Spec.InputLimit()})
}

// TooLarge returns the violation of an input of size bytes that is larger than the tool allows.
func (t *Tool) TooLarge(size int) []wire.Violation {
	return []wire.Violation{{
		Keyword:  "size",
		Expected: fmt.Sprintf("at most %d bytes", t.Spec.InputLimit()), Actual: fmt.Sprintf("%d bytes", size),
	}}
}

// ReadArgs decodes arguments without request_heartbeat, as strictly as an input. args is nil when
// there are violations.
func (t *Tool) ReadArgs(text []byte) (args wire.Value, violations []wire.Violation, fault *usercode.Panicked) {
	defer usercode.Catch(&fault)
	if args, violations = t.Decode(text); violations != nil {
		return nil, violations, nil
	}
	return args, nil, nil
}

// Canonical returns a form of an input that is equal for equal arguments. heartbeat says that the
// model asked to be continued, where the input does not. It returns nil when the input is invalid or
// its codec panics: the call itself reports that.
func (t *Tool) Canonical(input []byte, heartbeat bool) (text []byte) {
	defer func() {
		if recover() != nil {
			text = nil
		}
	}()
	in, violations := t.read(input)
	if violations != nil {
		return nil
	}
	text, err := wire.AppendCanonical(nil, in.Args)
	if err != nil {
		return nil
	}
	return strconv.AppendBool(text, in.Heartbeat || heartbeat)
}

// Arguments returns the arguments of a call as JSON: final, with which it ran, if that is still
// known, otherwise those of its input. It returns nil when neither is known.
func (t *Tool) Arguments(final wire.Value, input []byte) (text []byte) {
	defer func() {
		if recover() != nil { // a fault of the codec
			text = nil
		}
	}()
	if final != nil {
		return JSON(final)
	}
	in, violations := t.read(input)
	if in.Args == nil || violations != nil {
		return nil
	}
	return in.Text
}

// Rewrite applies the rewrites of list to arguments, of which text is the JSON, and decodes the
// result as strictly as any input. Members that are not rewritten keep their text, numbers to the last digit, and
// absent members still get their defaults (SEMANTICS 3.5).
func (t *Tool) Rewrite(text []byte, of wire.Value, list []runtime.Rewrite) ([]byte, wire.Value, error) {
	text, err := rewrites.Apply(text, JSON(of), list, t.Spec.InputLimit())
	if err != nil {
		return nil, nil, err
	}
	args, violations := t.Decode(text)
	if violations != nil {
		return nil, nil, fmt.Errorf("the rewritten arguments are invalid: %s", wording.Violations(violations))
	}
	return text, args, nil
}

// Equal reports whether two values are equal.
func Equal(a, b wire.Value) bool {
	x, err := wire.AppendCanonical(nil, a)
	if err != nil {
		return false
	}
	y, err := wire.AppendCanonical(nil, b)
	return err == nil && bytes.Equal(x, y)
}

// JSON returns a value as JSON, nil when there is none. It does not check the rules of the
// schema, because the defaults of a decoded value may add more members than the schema allows.
func JSON(v wire.Value) []byte {
	if v == nil {
		return nil
	}
	b, _ := wire.Append(nil, walk.Unruled{Of: v})
	return b
}
