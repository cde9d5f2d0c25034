package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	goruntime "runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/engine"
)

type badSink struct{ panics bool }

func (s badSink) Emit(*runtime.Event) error {
	if s.panics {
		panic("sink")
	}
	return errors.New("disk full")
}

// SEMANTICS 2.1.3
func TestSinks(t *testing.T) {
	var lines, logged bytes.Buffer
	log := slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	r := newRigWith(t, runtime.PolicyFunc(allowAll),
		[]*runtime.Tool{readTool(func(context.Context, *readInput) (*readOutput, error) { panic("ouch") })},
		engine.WithSink(runtime.NewJSONSink(&lines)), engine.WithSink(runtime.NewLogSink(log)),
		engine.WithSink(badSink{}), engine.WithSink(badSink{panics: true}))
	out := r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
	assert.Equal(t, runtime.ReasonPanic, out.Reason)
	assert.Len(t, r.allFaults(), 5*2+1, "two bad sinks, five events, and the panic")

	var kinds []string
	for line := range strings.Lines(lines.String()) {
		var m map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &m))
		kinds = append(kinds, m["event"].(string))
		assert.Equal(t, "c1", m["call"])
		assert.InDelta(t, 1, m["turn"], 0)
		if m["event"] == "tool.failed" {
			assert.Equal(t, "failed", m["outcome"])
			assert.Equal(t, "panic", m["reason"])
			assert.Contains(t, m["error"], "ouch")
			assert.Contains(t, m["stack"], "sink_test.go")
		} else {
			assert.NotContains(t, m, "outcome")
		}
	}
	assert.Equal(t, r.kinds("c1"), kinds)
	assert.Equal(t, 5, strings.Count(logged.String(), "\n"))
	assert.Contains(t, logged.String(), "level=WARN msg=tool.failed")
}

// A spoiler is a sink that overwrites everything in an event except its number.
type spoiler struct{}

const spoilt = "left by an earlier event"

func (spoiler) Emit(e *runtime.Event) error {
	v := reflect.ValueOf(e).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); {
		case v.Type().Field(i).Name == "Seq":
		case f.Kind() == reflect.String:
			f.SetString(spoilt)
		case f.CanInt():
			f.SetInt(99)
		case f.CanUint():
			f.SetUint(99)
		case f.Type() == reflect.TypeFor[time.Time]():
			f.Set(reflect.ValueOf(time.Unix(99, 0)))
		default:
			f.Set(reflect.ValueOf([]runtime.Reason{99}))
		}
	}
	return nil
}

// TestEventsShowNothingOfEarlierOnes checks that every event sets every field, because
// all events of an executor share one piece of memory.
func TestEventsShowNothingOfEarlierOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var clean, after runtime.MemorySink
		call := func(opts ...engine.Option) {
			r := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{readTool(okRead)}, opts...)
			r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
			r.turn().Execute(t.Context(), callOf("c2", "nothing", goodInput))
		}
		call(engine.WithSink(&clean))
		call(engine.WithSink(&after), engine.WithSink(spoiler{}))
		require.Len(t, after.Events(), len(clean.Events()))
		for i, want := range clean.Events() {
			got := after.Events()[i]
			got.SessionID, got.RunID = want.SessionID, want.RunID
			assert.Equal(t, want, got)
		}
	})
}

// TestSensitiveValuesStayInside looks for a password everywhere except in the handler.
// SEMANTICS 2.4.3, 2.4.4, 5.9.3
func TestSensitiveValuesStayInside(t *testing.T) {
	const password = "hunter2\"tricky"
	login := func(run func(*loginInput) (*readOutput, error)) *runtime.Tool {
		return runtime.NewTool(&runtime.Spec{Name: "login", SafeErrors: true}, &loginInputRule,
			func(_ context.Context, in *loginInput) (*readOutput, error) { return run(in) })
	}
	for name, tc := range map[string]struct {
		run    func(*loginInput) (*readOutput, error)
		input  string
		policy runtime.Policy
	}{
		"error":       {run: func(in *loginInput) (*readOutput, error) { return nil, errors.New("no user with " + in.Password) }},
		"quoted":      {run: func(in *loginInput) (*readOutput, error) { return nil, fmt.Errorf("bad: %q", in.Password) }},
		"panic":       {run: func(in *loginInput) (*readOutput, error) { panic(in) }},
		"panic value": {run: func(in *loginInput) (*readOutput, error) { panic("with " + in.Password) }},
		"invalid":     {input: `{"user":1,"password":"` + strings.Repeat("hunter2", 20) + `"}`},
		"denied": {policy: runtime.PolicyFunc(func(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
			return runtime.Decision{Denials: []runtime.Denial{{Code: "weak", Message: "weak: " + in.Args.(*loginInput).Password}}}, nil
		})},
		"policy error": {policy: runtime.PolicyFunc(func(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
			return runtime.Decision{}, errors.New(in.Args.(*loginInput).Password)
		})},
	} {
		t.Run(name, func(t *testing.T) {
			policy := tc.policy
			if policy == nil {
				policy = runtime.PolicyFunc(allowAll)
			}
			input := tc.input
			if input == "" {
				b, err := json.Marshal(map[string]string{"user": "bob", "password": password})
				require.NoError(t, err)
				input = string(b)
			}
			var lines, log, faults bytes.Buffer
			r := newRigWith(t, policy, []*runtime.Tool{login(tc.run)}, engine.WithSink(runtime.NewJSONSink(&lines)),
				engine.WithSink(runtime.NewLogSink(slog.New(slog.NewTextHandler(&log, nil)))),
				engine.WithErrorHandler(func(f *action.CallError) { faults.WriteString(f.Error()) }))
			out := r.turn().Execute(t.Context(), callOf("c1", "login", input))
			assert.NotEqual(t, runtime.Completed, out.Kind)
			require.NoError(t, r.exec.Flush(t.Context()))
			assert.NotContains(t, lines.String(), "hunter2")
			assert.NotEmpty(t, log.String())
			assert.NotContains(t, log.String(), "hunter2")
			assert.Equal(t, name != "invalid" && name != "denied", faults.Len() > 0)
			assert.NotContains(t, faults.String(), "hunter2")
			if name != "denied" { // the author of the policy writes its message
				b, err := json.Marshal(out)
				require.NoError(t, err)
				assert.NotContains(t, string(b), "hunter2")
			}
		})
	}
}

func TestShortSecretsWithholdTheText(t *testing.T) {
	tool := runtime.NewTool(&runtime.Spec{Name: "login", SafeErrors: true}, &loginInputRule,
		func(_ context.Context, in *loginInput) (*readOutput, error) {
			return nil, errors.New("pin " + in.Password + " is wrong")
		})
	r := newRig(t, tool)
	out := r.turn().Execute(t.Context(), callOf("c1", "login", `{"user":"bob","password":"42"}`))
	assert.Equal(t, "(withheld: it mentions a sensitive value)", out.Message)
}

func TestLongErrorTextsAreCut(t *testing.T) {
	r := newRig(t, readTool(func(context.Context, *readInput) (*readOutput, error) {
		return nil, errors.New(strings.Repeat("ö", 5000) + "\xff")
	}, func(s *runtime.Spec) { s.SafeErrors = true }))
	out := r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
	assert.LessOrEqual(t, len(out.Message), 4200)
	assert.True(t, strings.HasSuffix(out.Message, "ö…"))
}

type angryError struct{}

func (angryError) Error() string { panic("no") }

func TestErrorThatPanics(t *testing.T) {
	r := newRig(t, readTool(func(context.Context, *readInput) (*readOutput, error) { return nil, angryError{} },
		func(s *runtime.Spec) { s.SafeErrors = true }))
	out := r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
	assert.Equal(t, runtime.ReasonHandlerError, out.Reason)
}

// TestErrorHandlerThatLeavesItsGoroutine is told each fault of a sink, and the sinks
// after that one get their events.
func TestErrorHandlerThatLeavesItsGoroutine(t *testing.T) {
	var after runtime.MemorySink
	var told atomic.Int32
	r := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{readTool(okRead)},
		engine.WithSink(badSink{}), engine.WithSink(&after),
		engine.WithErrorHandler(func(*action.CallError) {
			told.Add(1)
			goruntime.Goexit()
		}))
	out := r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
	assert.Equal(t, runtime.Completed, out.Kind)
	require.NoError(t, r.exec.Flush(t.Context()))
	assert.EqualValues(t, 5, told.Load())
	assert.Equal(t, r.sink.Events(), after.Events())
}

// TestOutcomesAsJSON: a reader that has only the lines learns whether the state was
// restored, which call was there before, and which request is to be answered.
// SEMANTICS 2.2.1
func TestOutcomesAsJSON(t *testing.T) {
	for want, out := range map[string]runtime.Outcome{
		`{"call":"c1","tool":"x","outcome":"failed","reason":"handler_error","duration_ms":0,"rolled_back":true}`: {
			CallID: "c1", Tool: "x", Kind: runtime.Failed, Reason: runtime.ReasonHandlerError, RolledBack: true},
		`{"call":"c2","tool":"x","outcome":"duplicate","duration_ms":0,"of":"c1"}`: {
			CallID: "c2", Tool: "x", Kind: runtime.Duplicate, Of: "c1"},
		`{"call":"c3","tool":"x","outcome":"pending","duration_ms":1.5,"request":"R"}`: {
			CallID: "c3", Tool: "x", Kind: runtime.Pending, RequestID: "R", Duration: 1500 * time.Microsecond},
		`{"call":"c4","tool":"x","outcome":"denied","reason":"cooldown","duration_ms":0,"detail":{"retry_after_ms":1500}}`: {
			CallID: "c4", Tool: "x", Reason: runtime.ReasonCooldown, Detail: runtime.Detail{RetryAfter: 1500 * time.Millisecond}},
		`{"call":"c5","tool":"x","outcome":"timed_out","reason":"deadline","duration_ms":0,"detail":{"deadline_ms":5000}}`: {
			CallID: "c5", Tool: "x", Kind: runtime.TimedOut, Reason: runtime.ReasonDeadline, Detail: runtime.Detail{Deadline: 5 * time.Second}},
		`{"call":"c6","tool":"x","outcome":"denied","reason":"prerequisite_missing","duration_ms":0,"detail":{"waiting":["c1"],"expires_in_ms":1000}}`: {
			CallID: "c6", Tool: "x", Reason: runtime.ReasonPrerequisiteMissing, Detail: runtime.Detail{Waiting: []string{"c1"}, ExpiresIn: time.Second}},
	} {
		have, err := json.Marshal(out)
		require.NoError(t, err)
		assert.Equal(t, want, string(have))
	}
}
