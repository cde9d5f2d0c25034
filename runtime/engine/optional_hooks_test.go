package engine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A slowValue takes 30 ms to be walked.
type slowValue struct{ wire.Value }

func (v slowValue) Walk(w wire.Visitor) {
	time.Sleep(30 * time.Millisecond)
	v.Value.Walk(w)
}

// A slowCodec decodes any JSON to a slowValue.
type slowCodec struct{}

func (slowCodec) Decode(b []byte, l wire.Limits) (wire.Value, []wire.Violation) {
	v, violations := wire.ParseRaw(b, l)
	return slowValue{v}, violations
}

func emptyObject(context.Context, wire.Value) (wire.Value, error) { return wire.Raw(`{}`), nil }

// TestDryCallThatEndsBeforeItsAdmission: the caller of WhatIf leaves while the arguments are walked.
// Nothing of the call stays in the result that tells a worker that it is done.
func TestDryCallThatEndsBeforeItsAdmission(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spec := &runtime.Spec{Name: "read", Effect: runtime.SideEffectRead, Dedupe: runtime.Dedupe{Mode: runtime.DedupeWindow, Window: time.Hour}}
		r := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{runtime.NewDynamicTool(spec, slowCodec{}, emptyObject)})
		run := r.run()
		for range 2 {
			go func() {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
				defer cancel()
				v := run.Turn(engine.TurnConfig{}).WhatIf(ctx, runtime.Call{Tool: "read", Input: []byte(goodInput)})
				assert.Equal(t, runtime.Cancelled, v.Outcome.Kind)
			}()
		}
		time.Sleep(time.Minute)
		require.False(t, engine.WorkerDoneHolds())
	})
}

// TestOptionalHooks: a nil preview and a nil reconcile handler of a dynamic tool are no hooks.
func TestOptionalHooks(t *testing.T) {
	spec := &runtime.Spec{Name: "pay", Effect: runtime.SideEffectWrite}
	asking(func(c *runtime.Consent) { c.Preview = true })(spec)
	tool := runtime.NewDynamicTool(spec, slowCodec{}, emptyObject, runtime.WithDynamicPreview(nil), runtime.WithDynamicReconcile(nil))
	r := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{tool}, engine.WithPendingRequests())
	out := r.run().Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c1", "pay", goodInput))
	require.Equal(t, runtime.Pending, out.Kind, out.Message)
}
