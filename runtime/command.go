package runtime

import (
	"errors"
	"reflect"
	"strconv"

	"github.com/ambit-tools/ambit/runtime/internal/bind"
	"github.com/ambit-tools/ambit/runtime/process/argv"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// errCommand keeps a tool from being registered whose declaration promises a process that nothing
// starts yet, and limits that nothing holds yet.
var errCommand = errors.New("it is a command, and this version only checks and generates commands: remove it from the registry, or give it a handler in place of command")

// NewCommandTool returns a tool that runs a process in place of a handler: args makes its arguments
// of an input, stdin what it reads, where the declaration says so. The rules check input and output.
//
// This version does not run commands: NewRegistry refuses the tool. Tool.Decode and Tool.Argv say
// what it would run.
func NewCommandTool[In, Out input](
	spec *Spec, rule, output *wire.ObjectRule, args func(In) ([]string, error), stdin func(In) string,
) *Tool {
	t := &Tool{spec: spec, err: errCommand}
	if rule == nil || output == nil || args == nil {
		t.err = errors.New("a rule or the function of the arguments is nil")
		return t
	}
	c := &bind.Command{
		Argv:   func(v wire.Value) ([]string, error) { return args(v.(In)) },
		Output: decoder(reflect.TypeFor[Out]().Elem(), output),
	}
	if stdin != nil {
		c.Stdin = func(v wire.Value) string { return stdin(v.(In)) }
	}
	t.hooks.setCommand(c, decoder(reflect.TypeFor[In]().Elem(), rule))
	return t
}

// NewDynamicCommandTool is NewCommandTool without generated types: codecs decode input and output.
func NewDynamicCommandTool(spec *Spec, in, out Codec, args func(wire.Value) ([]string, error), stdin func(wire.Value) string) *Tool {
	t := &Tool{spec: spec, err: errCommand}
	if in == nil || out == nil || args == nil {
		t.err = errors.New("a codec or the function of the arguments is nil")
		return t
	}
	t.hooks.setCommand(&bind.Command{Argv: args, Stdin: stdin, Output: out.Decode}, in.Decode)
	return t
}

// withoutCommand is the error of a tool that declares a command and would run a handler: what the
// declaration says of the process would not hold.
func (t *Tool) withoutCommand() error {
	if t.spec.Command != nil && t.hooks.Command == nil {
		return errors.New("it declares a command and has a handler: make it with NewCommandTool")
	}
	return nil
}

// setCommand makes a tool of a command. An input of which no arguments can be made is refused when
// it is decoded: each path to a process decodes.
func (h *hooks) setCommand(c *bind.Command, decode bind.Decoder) {
	h.Command = c
	h.Decode = func(b []byte, l wire.Limits) (wire.Value, []wire.Violation) {
		v, bad := decode(b, l)
		if bad != nil {
			return nil, bad
		}
		if _, err := c.Argv(v); err != nil {
			return nil, []wire.Violation{argumentViolation(err)}
		}
		return v, nil
	}
}

// argumentViolation says which value is no argument (SEMANTICS 7.5.10).
func argumentViolation(err error) wire.Violation {
	v := wire.Violation{Keyword: "argument", Expected: "a value that can be an argument of a program", Actual: err.Error()}
	var bad *argv.ValueError
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
