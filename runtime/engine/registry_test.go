package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/facts"
	"github.com/ambit-tools/ambit/runtime/wire"
)

func TestRegistryReportsEveryBadTool(t *testing.T) {
	_, err := runtime.NewRegistry(
		nil,
		readTool(okRead, named("Bad")),
		readTool(okRead), readTool(okRead),
		readTool(nil, named("no_handler")),
		readTool(okRead, named("odd"), func(s *runtime.Spec) {
			s.Deadline, s.Effect, s.Limits.Concurrency = -1, 9, -1
			s.Modes = []runtime.Mode{{Name: "web"}}
		}),
		runtime.NewDynamicTool(&runtime.Spec{Name: "dynamic"}, nil, nil),
		runtime.NewTool(&runtime.Spec{Name: "mixed"}, &readInputRule, okRead,
			runtime.WithReconcile(func(context.Context, *runtime.Reconcile[readInput]) (*loginInput, error) { return nil, nil })),
		runtime.NewTool(&runtime.Spec{Name: "unruled"}, &readInputRule, okRead, runtime.WithUndo(&readInputRule, nil,
			func(context.Context, *readInput) (*readInput, error) { return nil, nil },
			func(context.Context, *runtime.Undo[readInput, readInput, readOutput]) error { return nil })),
		runtime.NewDynamicTool(&runtime.Spec{Name: "uncoded"}, noCodec{}, func(context.Context, wire.Value) (wire.Value, error) { return nil, nil },
			runtime.WithDynamicUndo(nil, noCodec{}, nil, nil)),
	)
	require.Error(t, err)
	for _, part := range []string{
		"tool 0 of the registry is nil", `the name "Bad" is not`, `"file_read" is registered twice, at 2 and 3`,
		`"no_handler": the rule of the input or the handler is nil`, "the deadline -1ns is negative", "effect(9) is not a side effect",
		"a limit is negative", `the mode "web" has no values`, `"dynamic": the codec or the handler is nil`,
		`"unruled": a rule that WithUndo is given is nil`, `"uncoded": a codec that WithDynamicUndo is given is nil`,
		`"mixed": a hook was written for the output *engine_test.loginInput`,
	} {
		assert.ErrorContains(t, err, part)
	}
}

// noCodec decodes nothing.
type noCodec struct{}

func (noCodec) Decode([]byte, wire.Limits) (wire.Value, []wire.Violation) { return nil, nil }

func TestRegistry(t *testing.T) {
	reg, err := runtime.NewRegistry(readTool(okRead, named("b")), readTool(okRead, named("a")))
	require.NoError(t, err)
	assert.Equal(t, []string{"b", "a"}, reg.Names())
	tool, i, ok := reg.Lookup("a")
	require.True(t, ok)
	assert.Equal(t, 1, i)
	assert.Equal(t, "a", tool.Name())
	_, _, ok = reg.Lookup("c")
	assert.False(t, ok)
	assert.Zero(t, (*runtime.Registry)(nil).Len())
	assert.Empty(t, (*runtime.Registry)(nil).Names())
}

func TestHooksAreCarried(t *testing.T) {
	reg, err := runtime.NewRegistry(runtime.NewTool(&runtime.Spec{Name: "file_write", Undo: &runtime.UndoSpec{TTL: time.Hour}}, &readInputRule, okRead,
		runtime.WithUndo(&readOutputRule, &readOutputRule,
			func(context.Context, *readInput) (*readOutput, error) { return nil, nil },
			func(context.Context, *runtime.Undo[readInput, readOutput, readOutput]) error { return nil }),
		runtime.WithPreview(func(context.Context, *readInput) (runtime.Preview, error) { return runtime.Preview{}, nil }),
		runtime.WithReconcile(func(context.Context, *runtime.Reconcile[readInput]) (*readOutput, error) { return nil, nil })))
	require.NoError(t, err)
	tool, _, _ := reg.Lookup("file_write")
	assert.Empty(t, tool.Unenforced())
}

func TestUnenforced(t *testing.T) {
	assert.Empty(t, (&runtime.Spec{Name: "x", Limits: runtime.Limits{Output: 1, Concurrency: 2}}).Unenforced())
	all := runtime.Spec{
		Limits: runtime.Limits{Memory: 1}, Retry: &runtime.Retry{Max: 1}, Heartbeat: true, Every: 1, Args: "{}",
		Dedupe: runtime.Dedupe{Mode: runtime.DedupeAlways}, Idempotency: &runtime.Idempotency{}, Reconcile: true,
		Consent: &runtime.Consent{}, Undo: &runtime.UndoSpec{}, Artifact: &runtime.Artifact{}, Rules: runtime.Rules{MaxCalls: 1},
		Deprecated: &runtime.Deprecation{},
	}
	assert.Equal(t, []string{"limits.memory"}, all.Unenforced())
}

func TestMemo(t *testing.T) {
	var in []*runtime.Facts
	policy := runtime.PolicyFunc(func(_ context.Context, p *runtime.PolicyInput) (runtime.Decision, error) {
		in = append(in, p.Facts())
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	})
	r := newRigWith(t, policy, []*runtime.Tool{readTool(okRead, named("a")), readTool(okRead, named("b"))})
	turn := r.turn()
	for _, tool := range []string{"a", "b", "b", "a"} {
		turn.Execute(t.Context(), callOf("", tool, goodInput))
	}
	type memo struct {
		base    any
		changed []int
	}
	derive := func(base any, changed []int) any { return memo{base, changed} }
	require.Len(t, in, 4)
	first := (*facts.Snapshot)(in[0]).Memo(derive)
	assert.Equal(t, memo{}, first)
	assert.Equal(t, first, (*facts.Snapshot)(in[0]).Memo(func(any, []int) any { return "another" }), "derived once")
	assert.Equal(t, memo{}, (*facts.Snapshot)(in[2]).Memo(derive), "no base: the snapshot before was not memoised when this one was taken")

	turn.Execute(t.Context(), callOf("", "b", goodInput))
	assert.Equal(t, uint64(5), in[4].Version())
	third := (*facts.Snapshot)(in[4]).Memo(derive)
	turn.Execute(t.Context(), callOf("", "a", goodInput))
	turn.Execute(t.Context(), callOf("", "b", goodInput))
	assert.Equal(t, memo{third, []int{1, 0}}, (*facts.Snapshot)(in[6]).Memo(func(base any, changed []int) any {
		return memo{base, changed}
	}), "over a snapshot that nobody derived from")
}
