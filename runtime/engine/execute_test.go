package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	goruntime "runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/wire"
)

func TestExecuteCompletes(t *testing.T) {
	var seen runtime.CallInfo
	r := newRig(t, readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
		seen, _ = runtime.FromContext(ctx)
		return okRead(ctx, in)
	}))
	call := callOf("c1", "file_read", goodInput)
	call.Metadata = map[string]string{"trace": "t1"}
	out := r.turn().Execute(t.Context(), call)

	assert.Equal(t, runtime.Completed, out.Kind, out.Message)
	assert.Equal(t, runtime.ReasonNone, out.Reason)
	assert.Equal(t, `{"content":"a.md","size":2}`, string(out.Output))
	assert.Equal(t, []string{"tool.invoked", "tool.validated", "tool.authorized", "tool.started", "tool.completed"}, r.kinds("c1"))
	assert.Equal(t, "c1", seen.ID)
	assert.Equal(t, "agent", seen.Principal)
	assert.Equal(t, 1, seen.Attempt)
	assert.Equal(t, "t1", seen.Metadata["trace"])
	events := r.sink.Events()
	for i, e := range events {
		assert.EqualValues(t, events[0].Seq+uint64(i), e.Seq)
		assert.Equal(t, "r", e.RunID)
	}
}

func TestUnknownTool(t *testing.T) {
	r := newRig(t, readTool(okRead), readTool(okRead, named("text_search")))
	out := r.turn().Execute(t.Context(), callOf("c1", "file_raed", goodInput))
	assert.Equal(t, runtime.Denied, out.Kind)
	assert.Equal(t, runtime.ReasonUnknownTool, out.Reason)
	assert.Equal(t, []string{"file_read", "text_search"}, out.Detail.Available)
	assert.Contains(t, out.Message, "file_read, text_search")
	events := r.sink.Events()
	assert.Equal(t, runtime.StateFailed, events[len(events)-1].To)
}

// SEMANTICS 7.4.3
func TestInvalidInput(t *testing.T) {
	for name, tc := range map[string]struct {
		input    string
		keywords []string
	}{
		"null":             {`null`, []string{"type"}},
		"null member":      {`{"path":null,"limit":1}`, []string{"type"}},
		"missing":          {`{"path":"a"}`, []string{"required"}},
		"unknown":          {`{"path":"a","limit":1,"x":1}`, []string{"additionalProperties"}},
		"wrong case":       {`{"Path":"a","limit":1}`, []string{"additionalProperties", "required"}},
		"duplicate":        {`{"path":"a","limit":1,"path":"b"}`, []string{"duplicate"}},
		"array":            {`[1,2]`, []string{"type"}},
		"empty":            {``, []string{"json"}},
		"trailing":         {`{"path":"a","limit":1}{}`, []string{"json"}},
		"several":          {`{"path":"","limit":0}`, []string{"minLength", "minimum"}},
		"not JSON":         {`{path:1}`, []string{"json"}},
		"fraction":         {`{"path":"a","limit":1.5}`, []string{"type"}},
		"beyond the limit": {`{"path":"` + strings.Repeat("a", 70000) + `","limit":1}`, []string{"size"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, readTool(func(context.Context, *readInput) (*readOutput, error) {
				t.Error("the handler ran")
				return nil, nil
			}))
			out := r.turn().Execute(t.Context(), callOf("c1", "file_read", tc.input))
			assert.Equal(t, runtime.Denied, out.Kind)
			assert.Equal(t, runtime.ReasonInvalidInput, out.Reason)
			var keywords []string
			for _, v := range out.Violations {
				keywords = append(keywords, v.Keyword)
				assert.Contains(t, out.Message, v.String())
			}
			assert.Subset(t, keywords, tc.keywords)
			assert.Equal(t, []string{"tool.invoked", "tool.denied"}, r.kinds("c1"))
		})
	}
}

// hollow is an output whose Walk panics.
type hollow struct{}

func (*hollow) Walk(wire.Visitor) { panic("walked into it") }

// SEMANTICS 2.4.3
func TestHandlersThatFail(t *testing.T) {
	none := func() map[string]int { return nil }
	for name, tc := range map[string]struct {
		run    readFunc
		kind   runtime.OutcomeKind
		reason runtime.Reason
		fault  string
	}{
		"error":    {func(context.Context, *readInput) (*readOutput, error) { return nil, errors.New("no such host: /etc/x") }, runtime.Failed, runtime.ReasonHandlerError, "no such host"},
		"panic":    {func(context.Context, *readInput) (*readOutput, error) { panic("secret in a panic") }, runtime.Failed, runtime.ReasonPanic, "secret in a panic"},
		"nil map":  {func(context.Context, *readInput) (*readOutput, error) { none()["x"] = 1; return nil, nil }, runtime.Failed, runtime.ReasonPanic, "nil map"},
		"goexit":   {func(context.Context, *readInput) (*readOutput, error) { goruntime.Goexit(); return nil, nil }, runtime.Failed, runtime.ReasonPanic, "Goexit"},
		"panicnil": {func(context.Context, *readInput) (*readOutput, error) { panic(nil) }, runtime.Failed, runtime.ReasonPanic, "nil"},
		"nothing":  {func(context.Context, *readInput) (*readOutput, error) { return nil, nil }, runtime.Failed, runtime.ReasonInvalidOutput, "neither"},
		"invalid":  {func(context.Context, *readInput) (*readOutput, error) { return &readOutput{Size: -1}, nil }, runtime.Failed, runtime.ReasonInvalidOutput, "minimum"},
		"no utf8":  {func(context.Context, *readInput) (*readOutput, error) { return &readOutput{Content: "\xff"}, nil }, runtime.Failed, runtime.ReasonInvalidOutput, "utf8"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, readTool(tc.run))
			turn := r.turn()
			out := turn.Execute(t.Context(), callOf("c1", "file_read", goodInput))
			assert.Equal(t, tc.kind, out.Kind)
			assert.Equal(t, tc.reason, out.Reason)
			assert.NotContains(t, out.Message, tc.fault, "the model must not see the raw fault")
			assert.Nil(t, out.Output)
			faults := r.allFaults()
			require.Len(t, faults, 1)
			assert.Contains(t, faults[0].Error(), tc.fault)
			assert.Equal(t, tc.reason, faults[0].Reason)
			events := r.sink.Events()
			last := events[len(events)-1]
			assert.Equal(t, runtime.EventFailed, last.Kind)
			assert.Contains(t, last.Err, tc.fault)
			assert.Equal(t, name == "panic" || name == "nil map" || name == "panicnil", last.Stack != "")

			again := turn.Execute(t.Context(), callOf("c2", "file_read", goodInput))
			assert.Equal(t, tc.kind, again.Kind, "the executor goes on")
		})
	}
}

func TestWalkThatPanics(t *testing.T) {
	spec := &runtime.Spec{Name: "file_read"}
	r := newRig(t, runtime.NewTool(spec, &readInputRule,
		func(context.Context, *readInput) (*hollow, error) { return &hollow{}, nil }))
	out := r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
	assert.Equal(t, runtime.ReasonPanic, out.Reason)
}

type brokenCodec struct{}

func (brokenCodec) Decode([]byte, wire.Limits) (wire.Value, []wire.Violation) { panic("broken") }

func TestCodecThatPanics(t *testing.T) {
	r := newRig(t, runtime.NewDynamicTool(&runtime.Spec{Name: "odd"}, brokenCodec{},
		func(context.Context, wire.Value) (wire.Value, error) { return nil, nil }))
	turn := r.turn()
	out := turn.Execute(t.Context(), callOf("c1", "odd", `{}`))
	assert.Equal(t, runtime.ReasonInvalidInput, out.Reason)
	assert.Len(t, r.allFaults(), 1)
	assert.Equal(t, runtime.ReasonCallIDReused, turn.Execute(t.Context(), callOf("c1", "odd", `[]`)).Reason)
}

// SEMANTICS 2.4.2
func TestSafeErrors(t *testing.T) {
	r := newRig(t, readTool(func(context.Context, *readInput) (*readOutput, error) {
		return nil, errors.New("the page \"a.md\" does not exist")
	}, func(s *runtime.Spec) { s.SafeErrors = true }))
	out := r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
	assert.Equal(t, `the page "a.md" does not exist`, out.Message)
}

// SEMANTICS 8.1.6
func TestLargeOutput(t *testing.T) {
	for _, size := range []int{20 << 20, 1<<20 + 1, 1<<20 - len(`{"content":"","size":0}`) + 1} {
		r := newRig(t, readTool(func(context.Context, *readInput) (*readOutput, error) {
			return &readOutput{Content: strings.Repeat("x", size)}, nil
		}))
		out := r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
		assert.Equal(t, runtime.Failed, out.Kind)
		assert.Equal(t, runtime.ReasonOutputTooLarge, out.Reason, size)
	}
	r := newRig(t, readTool(func(context.Context, *readInput) (*readOutput, error) {
		return &readOutput{Content: strings.Repeat("x", 1<<20-len(`{"content":"","size":0}`))}, nil
	}))
	out := r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
	assert.Equal(t, runtime.Completed, out.Kind, out.Message)
	assert.Len(t, out.Output, 1<<20)
}

func TestOutcomeJSON(t *testing.T) {
	r := newRig(t, readTool(okRead))
	turn := r.turn()
	b, err := json.Marshal(turn.Execute(t.Context(), callOf("c1", "file_read", goodInput)))
	require.NoError(t, err)
	var m map[string]any
	require.NoError(t, json.Unmarshal(b, &m))
	assert.Equal(t, "completed", m["outcome"])
	assert.Equal(t, map[string]any{"content": "a.md", "size": 2.0}, m["output"])
	assert.Contains(t, m, "duration_ms")
	assert.NotContains(t, m, "reason")

	b, err = json.Marshal(turn.Execute(t.Context(), callOf("c2", "file_read", `{}`)))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &m))
	assert.Equal(t, "denied", m["outcome"])
	assert.Equal(t, "invalid_input", m["reason"])
	assert.Len(t, m["violations"], 2)
}
