package runtime_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/argv"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A text is an input of any bytes.
type text string

func (t text) Walk(w wire.Visitor) { w.Visit(wire.Token{Kind: wire.KindString, Str: string(t)}) }

type textCodec struct{}

func (textCodec) Decode(b []byte, _ wire.Limits) (wire.Value, []wire.Violation) { return text(b), nil }

func commandSpec() *runtime.Spec {
	return &runtime.Spec{Name: "say", Command: &runtime.Command{Program: "say"}}
}

func sayArgv(in wire.Value) ([]string, error) {
	a := argv.New("say")
	a.One(argv.Of("a/b", string(in.(text))))
	return a.Argv()
}

// TestCommandTools: a command says with which arguments it would run, refuses what is no argument,
// and is registered.
func TestCommandTools(t *testing.T) {
	tool := runtime.NewDynamicCommandTool(commandSpec(), textCodec{}, textCodec{}, sayArgv, nil)
	in, bad := tool.Decode([]byte("-x y"))
	require.Nil(t, bad)
	args, err := tool.Argv(in)
	require.NoError(t, err)
	require.Equal(t, []string{"say", "-x y"}, args)

	_, bad = tool.Decode([]byte("a\x00b"))
	require.Equal(t, []wire.Violation{{Pointer: "/a~1b", Keyword: "argument", Expected: "no NUL", Actual: "one"}}, bad)

	require.Empty(t, tool.Unenforced())
	_, err = runtime.NewRegistry(tool)
	require.NoError(t, err)
	_, err = runtime.NewRegistry(runtime.NewDynamicCommandTool(commandSpec(), textCodec{}, nil, sayArgv, nil))
	require.ErrorContains(t, err, "codec")
}

// TestCommandWithAHandler: a tool that declares a command does not run a handler in its place.
func TestCommandWithAHandler(t *testing.T) {
	handler := runtime.NewDynamicTool(commandSpec(), textCodec{}, func(context.Context, wire.Value) (wire.Value, error) { return nil, nil })
	args, err := handler.Argv(text("x"))
	require.NoError(t, err)
	require.Nil(t, args)
	_, err = runtime.NewRegistry(handler)
	require.ErrorContains(t, err, `tool "say": it declares a command and has a handler`)
}
