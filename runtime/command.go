package runtime

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"

	"github.com/ambit-tools/ambit/runtime/internal/bind"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// NewCommandTool returns a tool that runs a process in place of a handler: args makes its arguments
// of an input, stdin what it reads, where the declaration says so. The rules check input and output.
//
// An executor runs it by a process.Runner (engine.WithProcesses); without one it does not open.
// Tool.Decode and Tool.Argv say what would run.
func NewCommandTool[In, Out input](
	spec *Spec, rule, output *wire.ObjectRule, args func(In) ([]string, error), stdin func(In) string,
) *Tool {
	t := &Tool{spec: spec}
	if rule == nil || output == nil || args == nil {
		t.err = errors.New("a rule or the function of the arguments is nil")
		return t
	}
	c := &bind.Command{
		Argv:   func(v wire.Value) ([]string, error) { return args(inner(v).(In)) },
		Output: decoder(reflect.TypeFor[Out]().Elem(), output),
	}
	if stdin != nil {
		c.Stdin = func(v wire.Value) string { return stdin(inner(v).(In)) }
	}
	t.setCommand(c, decoder(reflect.TypeFor[In]().Elem(), rule))
	return t
}

// NewDynamicCommandTool is NewCommandTool without generated types: codecs decode input and output.
func NewDynamicCommandTool(spec *Spec, in, out Codec, args func(wire.Value) ([]string, error), stdin func(wire.Value) string) *Tool {
	t := &Tool{spec: spec}
	if in == nil || out == nil || args == nil {
		t.err = errors.New("a codec or the function of the arguments is nil")
		return t
	}
	c := &bind.Command{Argv: func(v wire.Value) ([]string, error) { return args(inner(v)) }, Output: out.Decode}
	if stdin != nil {
		c.Stdin = func(v wire.Value) string { return stdin(inner(v)) }
	}
	t.setCommand(c, in.Decode)
	return t
}

// WithDynamicCommand makes of a dynamic tool the stand-in of a command, as a simulation has it:
// policies and approvers see what the command would run, with the arguments that args makes, and the
// handler runs in place of the process.
func WithDynamicCommand(args func(wire.Value) ([]string, error)) DynamicOption {
	return func(h *hooks) {
		h.Command = &bind.Command{Argv: func(v wire.Value) ([]string, error) { return args(inner(v)) }}
	}
}

// withoutCommand is the error of a tool that declares a command and would run a handler: what the
// declaration says of the process would not hold.
func (t *Tool) withoutCommand() error {
	switch {
	case t.spec.Command != nil && t.hooks.Command == nil:
		return errors.New("it declares a command and has a handler: make it with NewCommandTool")
	case t.spec.Command == nil && t.hooks.Command != nil:
		return errors.New("it has the code of a command and declares none: give its Spec a Command")
	}
	return nil
}

// setCommand makes a command of a tool that decode decodes the input of.
func (t *Tool) setCommand(c *bind.Command, decode bind.Decoder) {
	t.hooks.Command, t.hooks.Decode = c, planned(t.spec, c, decode)
}

// planned returns the decoder of the input of a command. An input of which no arguments can be made
// is refused when it is decoded: each path to a process decodes. The value has what runs for it.
func planned(spec *Spec, c *bind.Command, decode bind.Decoder) bind.Decoder {
	return func(b []byte, l wire.Limits) (wire.Value, []wire.Violation) {
		v, bad := decode(b, l)
		if bad != nil {
			return nil, bad
		}
		args, err := c.Argv(v)
		if err != nil {
			return nil, []wire.Violation{argumentViolation(err)}
		}
		if spec.Command == nil { // NewRegistry refuses the tool
			return v, nil
		}
		return &PlannedInput{Value: v, Plan: spec.Command.Invocation(args)}, nil
	}
}

// argumentViolation says which value is no argument (SEMANTICS 7.5.10).
func argumentViolation(err error) wire.Violation {
	v := wire.Violation{Keyword: "argument", Expected: "a value that can be an argument of a program", Actual: err.Error()}
	var bad *ArgumentError
	if errors.As(err, &bad) {
		v.Pointer, v.Expected, v.Actual = "/"+wire.EscapePointer(bad.Member), "no NUL", "one"
		if bad.Index >= 0 {
			v.Pointer += "/" + strconv.Itoa(bad.Index)
		}
	}
	return v
}

// Argv returns the arguments with which a command would run for a decoded input, the name of its
// program first. It is nil for a tool that has a handler.
func (t *Tool) Argv(in wire.Value) ([]string, error) {
	if t.hooks.Command == nil {
		return nil, nil
	}
	return t.hooks.Command.Argv(in)
}

// Invocation returns what a command would run for an input that was valid before, such as that of a
// recorded call. It is nil for a tool that has a handler. The error has no value of the input.
func (t *Tool) Invocation(recorded []byte) (in *Invocation, err error) {
	if t.hooks.Command == nil {
		return nil, nil
	}
	defer func() {
		if p := recover(); p != nil {
			in, err = nil, errors.New("the code of the tool panics for the recorded arguments")
		}
	}()
	n := max(len(recorded), 1)
	v, bad := t.hooks.Decode(recorded, wire.Limits{Size: n, Number: n, AnyNumber: true})
	if p, planned := v.(*PlannedInput); bad == nil && planned {
		return p.Plan, nil
	}
	return nil, errors.New("the recorded arguments do not fit the declaration of now")
}

// A PlannedInput is the decoded input of a command, with what runs for it: policy, consent and process
// have the same arguments, because they are made once for each value that is decoded.
type PlannedInput struct {
	wire.Value
	Plan *Invocation
}

// inner returns a decoded value without its plan.
func inner(v wire.Value) wire.Value {
	if p, ok := v.(*PlannedInput); ok {
		return p.Value
	}
	return v
}

// An ArgumentError is the error of a value that no argument can be made of.
type ArgumentError struct {
	Member string
	Index  int // of an element of an array; -1 for the member itself
}

// Error implements error.
func (e *ArgumentError) Error() string {
	if e.Index >= 0 {
		return fmt.Sprintf("argv: element %d of %s holds a NUL, which no argument can", e.Index, e.Member)
	}
	return fmt.Sprintf("argv: %s holds a NUL, which no argument can", e.Member)
}
