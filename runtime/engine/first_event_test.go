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
	"github.com/ambit-tools/ambit/runtime/journal"
)

// A slowTracer takes its time with each call, which its session knows already and whose first event has not happened.
type slowTracer struct{ takes time.Duration }

func (s *slowTracer) Start(ctx context.Context, _ runtime.CallInfo) (context.Context, runtime.Span) {
	time.Sleep(s.takes)
	return ctx, nil
}

// TestCancelBeforeTheFirstEvent: a call that is cancelled between the step in which its session gets to know it and its
// first event begins all the same, once, and its session can leave memory afterwards.
// SEMANTICS 2.1.9
func TestCancelBeforeTheFirstEvent(t *testing.T) {
	for name, call := range map[string]func(*engine.Turn) error{
		"execute": func(turn *engine.Turn) error {
			turn.Execute(context.Background(), callOf("c1", "file_read", goodInput))
			return nil
		},
		"start": func(turn *engine.Turn) error {
			_, err := turn.StartCall(callOf("c1", "file_read", goodInput))
			return err
		},
		"batch": func(turn *engine.Turn) error {
			turn.ExecuteBatch(context.Background(), []runtime.Call{callOf("c1", "file_read", goodInput)}, engine.Parallel)
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var j journal.Memory
				ran := func(context.Context, *readInput) (*readOutput, error) { t.Error("it ran"); return nil, nil }
				tools := []*runtime.Tool{readTool(ran)}
				r := newRigWith(t, runtime.PolicyFunc(allowAll), tools, engine.WithJournal(&j), engine.WithTracer(&slowTracer{time.Minute}))
				r.recover()
				turn, made := r.turn(), make(chan error, 1)
				go func() { made <- call(turn) }()
				synctest.Wait()
				require.NoError(t, r.exec.Cancel(t.Context(), "s", "c1", runtime.ProgramActor("alice"), ""))
				s, _ := r.exec.FindSession("s")
				out := s.Await(t.Context(), "c1")
				assert.Equal(t, []any{runtime.Cancelled, runtime.ReasonCancelled}, []any{out.Kind, out.Reason})
				require.NoError(t, <-made)
				synctest.Wait()
				want := []string{"tool.invoked", "tool.aborted"}
				assert.Equal(t, want, r.kinds("c1"))
				assert.Equal(t, want, kindsOfCall(t, &j, "c1"))
				assert.Equal(t, 1, r.exec.Unload(), "nothing of the session is under way")
				assert.Empty(t, r.allFaults())
				require.NoError(t, r.exec.Shutdown(t.Context()))

				again := recovered(t, &j, tools...)
				assert.Equal(t, out.Kind, again.session().Await(t.Context(), "c1").Kind)
				require.NoError(t, again.exec.Shutdown(t.Context()))
			})
		})
	}
}

// kindsOfCall returns the kinds of the entries of a call of the session s, in order.
func kindsOfCall(t *testing.T, j *journal.Memory, id string) (kinds []string) {
	t.Helper()
	entries, err := j.Call(t.Context(), journal.CallKey{Session: "s", Call: id})
	require.NoError(t, err)
	for i := range entries {
		kinds = append(kinds, entries[i].Kind)
	}
	return kinds
}
