package dynamic_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/gen/dynamic/internal/answer"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/wire"
)

const undoProgram = `package main

import (
	"context"

	"%[1]s/gen/dynamic/agreed/undone"
	"%[1]s/gen/dynamic/internal/answer"
	"%[1]s/runtime"
)

type handler struct{ tell answer.Tell }

func (handler) Keep(_ context.Context, in *undone.KeepInput) (*undone.KeepOutput, error) {
	return &undone.KeepOutput{After: in.Thing}, nil
}

func (handler) PrepareKeep(_ context.Context, in *undone.KeepInput) (*undone.KeepUndo, error) {
	return &undone.KeepUndo{Before: in.Thing}, nil
}

func (h handler) UndoKeep(_ context.Context, u *runtime.Undo[undone.KeepInput, undone.KeepUndo, undone.KeepOutput]) error {
	h.tell(u.Input, u.State, u.Output)
	return nil
}

func (handler) ReconcileKeep(context.Context, *runtime.Reconcile[undone.KeepInput]) (*undone.KeepOutput, error) {
	return nil, nil
}

func main() {
	answer.MainUndo(func(tell answer.Tell) []*runtime.Tool { return undone.Tools(handler{tell}) })
}
`

// TestUndoneAgree has generated and interpreted tools undo calls of an earlier
// process: both are given what there was.
func TestUndoneAgree(t *testing.T) {
	things := []string{
		`{"name":"cup","shade":"dark"}`,
		`{"name":"é\"\n","secret":"hunter2","maybe":null,"ratio":1e+300,"shade":"light"}`,
		`{"name":"box","maybe":-7,"ratio":0.1,"shade":"dark","pair":["hunter2",true],"where":{"kind":"shelf","n":3},` +
			`"inside":[{"name":"cup","secret":"hunter3","shade":"dark","where":{"kind":"safe","code":"1234"}},{"name":"pen","shade":"light","inside":[]}],` +
			`"labels":{"a":"b","c/~":"d"},"anything":{"x":[1.5,{"y":null}]}}`,
	}
	inputs := make([][]byte, len(things))
	for i, thing := range things {
		inputs[i] = []byte(`{"thing":` + thing + `}`)
	}
	file := parse(t, "undone.yaml")
	loaded, err := dynamic.Load(file)
	require.NoError(t, err)
	out := run(t, file, undoProgram, inputs)
	for i, thing := range things {
		require.True(t, out.Scan())
		var generated answer.Undone
		require.NoError(t, json.Unmarshal(out.Bytes(), &generated))
		interpreted, err := answer.Undo(interpretedKeep(loaded[0], thing), inputs[i])
		require.NoError(t, err)
		assert.Equal(t, generated, interpreted)
		assert.Equal(t, answer.Undone{
			Outcome: "completed", Undo: "ok ",
			Input: `{"thing":` + thing + `}[]`, State: `{"before":` + thing + `}[]`, Output: `{"after":` + thing + `}[]`,
		}, generated)
	}
	assert.False(t, out.Scan())
}

// interpretedKeep is the tool of undoProgram without generated code.
func interpretedKeep(tool *dynamic.Tool, thing string) func(answer.Tell) []*runtime.Tool {
	made := func(of *dynamic.Type, name string) (wire.Value, error) {
		v, _ := of.Decode([]byte(`{"`+name+`":`+thing+`}`), wire.Limits{})
		return v, nil
	}
	return func(tell answer.Tell) []*runtime.Tool {
		return []*runtime.Tool{runtime.NewDynamicTool(tool.Spec, tool.Input,
			func(context.Context, wire.Value) (wire.Value, error) { return made(tool.Output, "after") },
			runtime.WithDynamicUndo(tool.State, tool.Output,
				func(context.Context, wire.Value) (wire.Value, error) { return made(tool.State, "before") },
				func(_ context.Context, _ string, input, state, output wire.Value) error {
					tell(input, state, output)
					return nil
				}))}
	}
}
