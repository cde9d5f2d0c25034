package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A nodeOutput is a tree, or an output of a handler that is built from it.
type nodeOutput struct {
	Left, Right *nodeOutput
}

var nodeRule = wire.ObjectRule{Names: []string{"left", "right"}}

func (v *nodeOutput) Walk(w wire.Visitor) {
	wire.BeginObject(w, &nodeRule)
	if v.Left != nil {
		wire.Member(w, "left", v.Left, wire.WalkObject, &nodeRule)
	}
	if v.Right != nil {
		wire.Member(w, "right", v.Right, wire.WalkObject, &nodeRule)
	}
	wire.End(w)
}

// chain returns a tree of depth n. With both it is as wide as possible, although it is
// made of n nodes only.
func chain(n int, both bool) *nodeOutput {
	v := &nodeOutput{}
	for range n - 1 {
		above := &nodeOutput{Left: v}
		if both {
			above.Right = v
		}
		v = above
	}
	return v
}

// An endlessOutput never ends, and has no depth.
type endlessOutput struct{}

func (v *endlessOutput) Walk(w wire.Visitor) {
	wire.BeginArray(w, -1, nil)
	for {
		w.Visit(wire.Token{Kind: wire.KindNull})
	}
}

func TestOutputsThatDoNotEnd(t *testing.T) {
	loop := &nodeOutput{}
	loop.Right = loop
	for name, tc := range map[string]struct {
		out    wire.Value
		reason runtime.Reason
	}{
		"deep":     {chain(128, false), runtime.ReasonNone},
		"too deep": {chain(129, false), runtime.ReasonInvalidOutput},
		"cyclic":   {loop, runtime.ReasonInvalidOutput},
		"wide":     {chain(100, true), runtime.ReasonOutputTooLarge},
		"endless":  {&endlessOutput{}, runtime.ReasonOutputTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, runtime.NewDynamicTool(&runtime.Spec{Name: "grow"}, anyCodec{},
				func(context.Context, wire.Value) (wire.Value, error) { return tc.out, nil }))
			out := r.turn().Execute(t.Context(), callOf("c1", "grow", `{}`))
			assert.Equal(t, tc.reason, out.Reason, out.Message)
		})
	}
}

// An anyCodec takes every JSON value.
type anyCodec struct{}

func (anyCodec) Decode(b []byte, l wire.Limits) (wire.Value, []wire.Violation) {
	v, violations := wire.ParseRaw(b, l)
	return v, violations
}

// TestOutputsOfAllLengths makes calls whose outputs do and do not fit beside their
// inputs in the session's memory: each caller gets its own output.
func TestOutputsOfAllLengths(t *testing.T) {
	r := newRig(t, readTool(func(_ context.Context, in *readInput) (*readOutput, error) {
		return &readOutput{Content: strings.Repeat("x", int(in.Limit)), Size: in.Limit}, nil
	}))
	turn := r.turn()
	call := func(i int) runtime.Outcome {
		path := strings.Repeat("p", 1+i%150)
		input := fmt.Sprintf(`{"path":%q,"limit":%d}`, path, 1+i)
		return turn.Execute(t.Context(), callOf(fmt.Sprint("c", i), "file_read", input))
	}
	want := func(i int) string { return fmt.Sprintf(`{"content":%q,"size":%d}`, strings.Repeat("x", 1+i), 1+i) }
	for i := range 300 {
		out := call(i)
		require.Equal(t, want(i), string(out.Output))
		_ = append(out.Output, "appended by a caller"...)
	}
	events := len(r.sink.Events())
	for i := range 300 {
		require.Equal(t, want(i), string(call(i).Output), "the same call again")
	}
	assert.Len(t, r.sink.Events(), events, "it was not run again")
}
