package engine_test

import (
	"context"
	"errors"
	goruntime "runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A textFunc is an error whose text is made by a function.
type textFunc func() string

func (f textFunc) Error() string { return f() }

func TestErrorTextMayAskForItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asks := func(ctx context.Context) error {
			return textFunc(func() string {
				info, ok := runtime.FromContext(ctx)
				assert.True(t, ok)
				return "no luck with " + info.ID
			})
		}
		r := newRig(t,
			readTool(func(ctx context.Context, _ *readInput) (*readOutput, error) { return nil, asks(ctx) }),
			readTool(func(ctx context.Context, _ *readInput) (*readOutput, error) { panic(asks(ctx)) }, named("panics")))
		turn := r.turn()
		assert.Equal(t, runtime.ReasonHandlerError, turn.Execute(t.Context(), callOf("c1", "file_read", goodInput)).Reason)
		assert.Equal(t, runtime.ReasonPanic, turn.Execute(t.Context(), callOf("c2", "panics", goodInput)).Reason)
		events := r.sink.Events()
		assert.Equal(t, "no luck with c1", events[4].Err)
		assert.Equal(t, "panic: no luck with c2", events[9].Err)
	})
}

// TestTextsThatHang has error texts whose methods never return: the call ends at its
// deadline.
func TestTextsThatHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		hangs := textFunc(func() string { <-release; return "at last" })
		r := newRigWith(t, runtime.PolicyFunc(func(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
			if in.Tool.Name == "unjudged" {
				return runtime.Decision{}, hangs
			}
			return runtime.Decision{Effect: runtime.EffectAllow}, nil
		}), []*runtime.Tool{
			readTool(func(context.Context, *readInput) (*readOutput, error) { return nil, hangs }),
			readTool(func(context.Context, *readInput) (*readOutput, error) { panic(hangs) }, named("panics")),
			readTool(okRead, named("unjudged")),
		}, engine.WithErrorHandler(func(e *action.CallError) { _ = e.Unwrap().Error() }))
		turn := r.turn()
		start := time.Now()
		assert.Equal(t, runtime.TimedOut, turn.Execute(t.Context(), callOf("c1", "file_read", goodInput)).Kind)
		assert.Equal(t, 5*time.Second, time.Since(start))
		assert.Equal(t, runtime.TimedOut, turn.Execute(t.Context(), callOf("c2", "panics", goodInput)).Kind)
		assert.Equal(t, 10*time.Second, time.Since(start))
		assert.Equal(t, runtime.ReasonPolicyError, turn.Execute(t.Context(), callOf("c3", "unjudged", goodInput)).Reason)
		assert.Equal(t, 10*time.Second+runtime.DefaultPolicyTimeout, time.Since(start))
		close(release)
		require.NoError(t, r.exec.Shutdown(t.Context()))
		assert.Equal(t, runtime.EventLateResult, r.sink.Events()[len(r.sink.Events())-1].Kind)
	})
}

// A wrapper is an error whose Unwrap method is a function.
type wrapper func() error

func (wrapper) Error() string   { return "wrapped" }
func (w wrapper) Unwrap() error { return w() }

// An hourOutput is an output that takes its time to be encoded.
type hourOutput struct{}

func (hourOutput) Walk(w wire.Visitor) {
	time.Sleep(time.Hour)
	wire.Raw(`{}`).Walk(w)
}

// TestResultsAreReadWithinTheDeadline: the methods of an error and the encoding of an output are code of the tool, which
// the deadline of the tool bounds. An error that wraps itself ends nothing but its call.
// SEMANTICS 6.1.10
func TestResultsAreReadWithinTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slowly := func() error { time.Sleep(time.Hour); return nil }
		var cycle error
		cycle = wrapper(func() error { return cycle })
		short := func(s *runtime.Spec) { s.Deadline = 500 * time.Millisecond }
		retried := func(s *runtime.Spec) { s.Idempotent, s.Retry = true, &runtime.Retry{Max: 1} }
		fails := func(name string, err error, change ...func(*runtime.Spec)) *runtime.Tool {
			return readTool(func(context.Context, *readInput) (*readOutput, error) { return nil, err }, append(change, short, named(name))...)
		}
		text := textFunc(func() string { time.Sleep(time.Hour); return "at last" })
		r := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{
			fails("text", text), fails("text_retried", text, retried), fails("unwrap", wrapper(slowly)), fails("unwrap_retried", wrapper(slowly), retried),
			fails("public", runtime.Public("slow", text)), fails("cycle", cycle), fails("cycle_retried", cycle, retried),
			readTool(func(context.Context, *readInput) (*readOutput, error) { panic(text) }, short, named("panics")),
			runtime.NewDynamicTool(&runtime.Spec{Name: "output", Deadline: 500 * time.Millisecond}, anyCodec{},
				func(context.Context, wire.Value) (wire.Value, error) { return hourOutput{}, nil }),
		})
		for _, tool := range []string{"text", "text_retried", "unwrap", "unwrap_retried", "public", "panics", "output"} {
			input := goodInput
			if tool == "output" {
				input = `{}`
			}
			start := time.Now()
			out := r.turn().Execute(t.Context(), callOf(tool, tool, input))
			assert.Equal(t, runtime.TimedOut, out.Kind, tool)
			assert.Equal(t, 500*time.Millisecond, time.Since(start), tool)
		}
		for _, tool := range []string{"cycle", "cycle_retried"} {
			out := r.turn().Execute(t.Context(), callOf(tool, tool, goodInput))
			assert.Equal(t, runtime.ReasonHandlerError, out.Reason, tool)
		}
		time.Sleep(3 * time.Hour) // the late results
		require.NoError(t, r.exec.Shutdown(t.Context()))
	})
}

// A codec is a Codec that does something first.
type codec func()

func (c codec) Decode(b []byte, l wire.Limits) (wire.Value, []wire.Violation) {
	c()
	return anyCodec{}.Decode(b, l)
}

// TestCodecThatDoesNotReturn lets codecs panic, call runtime.Goexit and hang: the call
// has an outcome and its caller can cancel it.
func TestCodecThatDoesNotReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var tools []*runtime.Tool
		for name, does := range map[string]codec{
			"panics": func() { panic("ouch") }, "leaves": goruntime.Goexit, "hangs": func() { <-release },
		} {
			tools = append(tools, runtime.NewDynamicTool(&runtime.Spec{Name: name}, does,
				func(_ context.Context, in wire.Value) (wire.Value, error) { return in, nil }))
		}
		r := newRigWith(t, runtime.PolicyFunc(allowAll), tools)
		turn := r.turn()
		for name, says := range map[string]string{"panics": "ouch", "leaves": "Goexit"} {
			out := turn.Execute(t.Context(), callOf(name, name, `{}`))
			assert.Equal(t, runtime.Denied, out.Kind, name)
			assert.Equal(t, runtime.ReasonInvalidInput, out.Reason, name)
			assert.NotContains(t, out.Message, says)
			faults := r.allFaults()
			assert.ErrorContains(t, faults[len(faults)-1], says)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		out := turn.Execute(ctx, callOf("hangs", "hangs", `{}`))
		assert.Equal(t, runtime.Cancelled, out.Kind)
		close(release)
		require.NoError(t, r.exec.Shutdown(t.Context()))
		assert.Equal(t, []string{"tool.invoked", "tool.aborted"}, r.kinds("hangs"))
	})
}

// A leavingSink calls runtime.Goexit at the first event of a kind.
type leavingSink struct {
	kind runtime.EventKind
	left bool
}

func (s *leavingSink) Emit(e *runtime.Event) error {
	if e.Kind == s.kind && !s.left {
		s.left = true
		goruntime.Goexit()
	}
	return nil
}

func TestSinkThatLeavesItsGoroutine(t *testing.T) {
	fails := errors.New("no")
	for _, kind := range []runtime.EventKind{
		runtime.EventInvoked, runtime.EventValidated, runtime.EventAuthorized, runtime.EventStarted,
		runtime.EventCompleted, runtime.EventFailed, runtime.EventAborted,
	} {
		t.Run(kind.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var after runtime.MemorySink
				r := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{
					readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
						switch kind {
						case runtime.EventFailed:
							return nil, fails
						case runtime.EventAborted:
							time.Sleep(time.Minute)
						}
						return okRead(ctx, in)
					}),
					readTool(okRead, named("other")),
				}, engine.WithSink(&leavingSink{kind: kind}), engine.WithSink(&after))
				turn := r.turn()
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					turn.Execute(t.Context(), callOf("c1", "file_read", goodInput))
				}()
				<-ended
				again := turn.Execute(t.Context(), callOf("c1", "file_read", goodInput))
				assert.Equal(t, "c1", again.CallID, "the call has an outcome")
				out := turn.Execute(t.Context(), callOf("c2", "other", goodInput))
				assert.Equal(t, runtime.Completed, out.Kind, "%v", out.Message)
				require.NoError(t, r.exec.Shutdown(t.Context()))
				assert.Equal(t, r.sink.Events(), after.Events(), "the other sinks get every event")
				var told string
				for _, fault := range r.allFaults() {
					told += fault.Error() + "\n"
				}
				assert.Contains(t, told, "leavingSink")
			})
		})
	}
}
