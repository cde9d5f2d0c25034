package engine_test

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/engine"
)

func TestMessagesAreBounded(t *testing.T) {
	r := newRigWith(t, decide(runtime.Decision{Denials: []runtime.Denial{{Code: "no", Message: strings.Repeat("ö", 20_000)}}}),
		[]*runtime.Tool{readTool(okRead)})
	turn := r.turn()
	out := turn.Execute(t.Context(), callOf("c1", "file_read", goodInput))
	assert.Equal(t, runtime.ReasonPolicyDenied, out.Reason)
	assert.LessOrEqual(t, len(out.Message), 8<<10)
	assert.True(t, strings.HasSuffix(out.Message, "ö... (cut here: it has 40000 bytes)"))

	out = turn.Execute(t.Context(), callOf("c2", strings.Repeat("ö", 1<<20), `{}`))
	assert.Equal(t, `there is no tool "`+strings.Repeat("ö", 64)+`"...; there are: file_read`, out.Message)

	id := strings.Repeat("i", 8<<10)
	turn.Execute(t.Context(), callOf(id, "file_read", goodInput))
	out = turn.Execute(t.Context(), callOf(id, "file_read", `{"path":"b.md","limit":2}`))
	assert.Equal(t, runtime.ReasonCallIDReused, out.Reason)
	assert.Less(t, len(out.Message), 200)
	assert.Equal(t, id, out.CallID)
}

// TestLargeInputsAreNotKept makes a session retain calls whose inputs are far too
// large: what it retains is enough to recognize them.
// SEMANTICS 7.2.1
func TestLargeInputsAreNotKept(t *testing.T) {
	r := newRig(t, readTool(okRead, func(s *runtime.Spec) { s.Limits.Input = 1 << 10 }))
	run := r.run()
	turn := run.Turn(engine.TurnConfig{})
	input := []byte(strings.Repeat(" ", 8<<20))
	var before, after goruntime.MemStats
	goruntime.GC()
	goruntime.ReadMemStats(&before)
	for i := range 10 {
		id := fmt.Sprintf("c%d", i)
		out := turn.Execute(t.Context(), runtime.Call{ID: id, Tool: "file_read", Input: input})
		assert.Equal(t, "the input is invalid: (root): size: want at most 1024 bytes, have 8388608 bytes", out.Message)
		assert.Equal(t, out, turn.Execute(t.Context(), runtime.Call{ID: id, Tool: "file_read", Input: input}))
		out = turn.Execute(t.Context(), runtime.Call{ID: id, Tool: "file_read", Input: input[1:]})
		assert.Equal(t, runtime.ReasonCallIDReused, out.Reason)
	}
	goruntime.GC()
	goruntime.ReadMemStats(&after)
	assert.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(4<<20))
	goruntime.KeepAlive(input)
	goruntime.KeepAlive(run)
}

func TestObserversAreToldOfEveryOutcome(t *testing.T) {
	var seen []string
	r := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{readTool(okRead)},
		engine.WithObserver(func(info runtime.CallInfo, out runtime.Outcome) {
			assert.Equal(t, info.ID, out.CallID)
			seen = append(seen, out.Reason.String())
		}))
	turn := r.turn()
	turn.Execute(t.Context(), callOf("c1", "file_read", goodInput))
	turn.Execute(t.Context(), callOf("c1", "file_read", goodInput)) // the same call
	turn.Execute(t.Context(), callOf("c1", "file_read", `{"path":"b.md","limit":2}`))
	turn.Execute(t.Context(), callOf("c2", "none", `{}`))
	turn.ExecuteBatch(t.Context(), []runtime.Call{callOf("c1", "file_read", `{}`)}, engine.Parallel)
	assert.Equal(t, []string{"", "call_id_reused", "unknown_tool", "call_id_reused"}, seen)
}

// SEMANTICS 1.4.2
func TestWhoeverAttachesKnowsTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
			time.Sleep(time.Second)
			return okRead(ctx, in)
		}))
		turn := r.turn()
		go turn.Execute(t.Context(), callOf("c1", "file_read", goodInput))
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		out := turn.Execute(ctx, callOf("c1", "file_read", goodInput))
		assert.Equal(t, runtime.Cancelled, out.Kind)
		assert.Equal(t, "c1", out.CallID)
		assert.Equal(t, "c1", turn.Execute(t.Context(), callOf("c1", "file_read", goodInput)).CallID)
	})
}

func TestNoContextIsTheBackground(t *testing.T) {
	r := newRig(t, readTool(okRead))
	session := r.exec.Session(engine.SessionConfig{})
	var none context.Context
	run, err := session.StartRun(none, engine.RunConfig{})
	require.NoError(t, err)
	out := run.Turn(engine.TurnConfig{}).Execute(none, callOf("c1", "file_read", goodInput))
	assert.Equal(t, runtime.Completed, out.Kind)
	assert.Equal(t, out, session.Await(none, "c1"))
	assert.NoError(t, run.Close(none))
	assert.NoError(t, r.exec.Shutdown(none))
}

func TestTimesInMessages(t *testing.T) {
	for budget, want := range map[time.Duration]string{
		998828 * time.Nanosecond:   "1ms of the turn's time is left",
		time.Nanosecond:            "1ms of",
		2500 * time.Microsecond:    "3ms of",
		-1:                         "0s of",
		250 * time.Millisecond:     "250ms of",
		4999999 * time.Microsecond: "5s of",
		1234567 * time.Microsecond: "1.235s of",
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, readTool(okRead))
			out := r.run().Turn(engine.TurnConfig{Budget: budget}).Execute(t.Context(), callOf("c1", "file_read", goodInput))
			assert.Equal(t, runtime.ReasonDeadline, out.Reason)
			assert.True(t, strings.HasPrefix(out.Message, want), out.Message)
		})
	}
}

func TestFaultsNameTheirCallOnce(t *testing.T) {
	r := newRig(t, readTool(func(ctx context.Context, _ *readInput) (*readOutput, error) {
		return nil, fmt.Errorf(`write: %w`, errors.New(`call "c1" of "file_read": too late`))
	}))
	r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
	require.Len(t, r.allFaults(), 1)
	assert.EqualError(t, r.allFaults()[0], `write: call "c1" of "file_read": too late`)
	assert.EqualError(t, &action.CallError{Err: errors.New("of no call")}, "of no call")
}
