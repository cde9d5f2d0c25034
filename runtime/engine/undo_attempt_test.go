package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	goruntime "runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// restoreTool returns a tool that writes through a participant. Its undo handler does
// so too, and then calls after.
func restoreTool(l *ledgerOfWrites, after func(context.Context) error, change ...func(*runtime.Spec)) *runtime.Tool {
	spec := &runtime.Spec{Name: "put", Effect: runtime.SideEffectWrite, Deadline: time.Second, Undo: &runtime.UndoSpec{}}
	for _, f := range change {
		f(spec)
	}
	return runtime.NewTool(spec, &readInputRule,
		func(ctx context.Context, in *readInput) (*readOutput, error) {
			if err := l.write(ctx, in.Path); err != nil {
				return nil, err
			}
			return okRead(ctx, in)
		},
		runtime.WithUndo(&readInputRule, &readOutputRule,
			func(_ context.Context, in *readInput) (*readInput, error) { return in, nil },
			func(ctx context.Context, u *runtime.Undo[readInput, readInput, readOutput]) error {
				if err := l.write(ctx, "not "+u.Input.Path); err != nil || after == nil {
					return err
				}
				return after(ctx)
			}))
}

// undoRig is a rig over a journal whose participant is l.
func undoRig(t *testing.T, j journal.Journal, l *ledgerOfWrites, opts []engine.Option, tools ...*runtime.Tool) *rig {
	t.Helper()
	r := newRigWith(t, runtime.PolicyFunc(allowAll), tools,
		append(opts, engine.WithParticipant("ledger", l), engine.WithJournal(j))...)
	r.recover()
	return r
}

// puts makes the call c1.
func (r *rig) puts() {
	r.t.Helper()
	out := r.turn().Execute(r.t.Context(), callOf("c1", "put", goodInput))
	require.Equal(r.t, runtime.Completed, out.Kind, out.Message)
}

// TestUndoHandlerHasTheContextOfACall: an undo handler can do what a handler can do.
// SEMANTICS 6.4.1
func TestUndoHandlerHasTheContextOfACall(t *testing.T) {
	for name, foreign := range map[string]bool{"own": false, "foreign": true} {
		t.Run(name, func(t *testing.T) {
			var j journal.Memory
			l := &ledgerOfWrites{foreign: foreign}
			var info runtime.CallInfo
			var due time.Time
			r := undoRig(t, &j, l, nil, restoreTool(l, func(ctx context.Context) error {
				info, _ = runtime.FromContext(ctx)
				due, _ = ctx.Deadline()
				return nil
			}))
			r.puts()
			before := len(l.steps)
			assert.Equal(t, undoing{Kind: undoOK}, r.undoOf("c1"))
			assert.Equal(t, []string{"a.md", "not a.md"}, l.stands)
			assert.Equal(t, []string{"begin", "seal", "commit"}, l.steps[before:])
			assert.True(t, info.Undo)
			assert.Equal(t, "c1", info.ID)
			assert.Equal(t, due, info.Deadline())
			kinds := journalKinds(t, &j)
			assert.Equal(t, []string{journal.KindUndoStarted, journal.KindUndoDecided, "tool.undone"}, kinds[len(kinds)-3:])
			require.NoError(t, r.exec.Shutdown(t.Context()))

			r = undoRig(t, &j, l, nil, restoreTool(l, nil))
			assert.Equal(t, action.CodeAlreadyUndone, r.undoOf("c1").Reason)
			assert.Empty(t, r.allFaults())
		})
	}
}

// journalKinds returns the kinds of all entries.
func journalKinds(t *testing.T, j journal.Journal) (kinds []string) {
	t.Helper()
	entries, err := j.Read(t.Context(), 0, 1000)
	require.NoError(t, err)
	for _, e := range entries {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

// A failingUndo is one way in which an undo fails.
type failingUndo struct {
	after   func(context.Context) error
	fails   map[string]error
	foreign bool
	change  func(*runtime.Spec)
	kind    string
	reason  action.Code
	message string
	err     string
}

var errMischief = errors.New("mischief")

var failingUndos = map[string]failingUndo{
	"an error": {
		after: func(context.Context) error { return errMischief }, kind: undoFailed, reason: action.CodeHandlerError,
		message: `"put" was not undone (handler_error)`, err: "mischief",
	},
	"a safe error": {
		after: func(context.Context) error { return errMischief }, change: func(s *runtime.Spec) { s.SafeErrors = true }, kind: undoFailed, reason: action.CodeHandlerError,
		message: "mischief", err: "mischief",
	},
	"a public error": {
		after: func(context.Context) error { return fmt.Errorf("undo: %w", runtime.Public("locked", errMischief)) }, kind: undoFailed,
		reason: action.CodeHandlerError, message: "mischief", err: "undo: mischief",
	},
	"public drift": {
		after: func(context.Context) error {
			return runtime.Public("moved", fmt.Errorf("the page: %w", runtime.ErrDrift))
		},
		kind: undoRejected, reason: action.CodeDrift, message: "the page: changed since the call", err: "the page: changed since the call",
	},
	"a panic": {
		after: func(context.Context) error { panic("mischief") }, kind: undoFailed, reason: action.CodeHandlerError,
		message: `"put" was not undone (handler_error)`, err: "panic: mischief",
	},
	"it leaves its goroutine": {
		after: func(context.Context) error { goruntime.Goexit(); return nil }, kind: undoFailed, reason: action.CodeHandlerError,
		message: `"put" was not undone (handler_error)`, err: "the goroutine was left by runtime.Goexit",
	},
	"drift": {
		after: func(context.Context) error { return runtime.ErrDrift }, kind: undoRejected, reason: action.CodeDrift,
		message: `"put" cannot be undone: changed since the call`, err: "changed since the call",
	},
	"it cannot be sealed": {
		fails: map[string]error{"seal": errMischief}, kind: undoFailed, reason: action.CodeCommitFailed,
		message: `"put" was not undone (commit_failed)`, err: `participant "ledger": mischief`,
	},
	"a foreign commit fails": {
		fails: map[string]error{"commit": errMischief}, foreign: true, kind: undoFailed, reason: action.CodeCommitFailed,
		message: `"put" was not undone (commit_failed)`, err: "mischief",
	},
	"it is not taken back": {
		after: func(context.Context) error { return errMischief }, fails: map[string]error{"rollback": errMischief}, kind: undoFailed,
		reason: action.CodeHandlerError, message: `"put" was not undone (handler_error)`, err: "mischief; what the undo did was not taken back",
	},
}

// TestUndoThatFails: nothing of the undo is committed. Its caller, the error handler
// and the log get the reason, and it can be tried again.
// SEMANTICS 6.4.1
func TestUndoThatFails(t *testing.T) {
	for name, row := range failingUndos {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			var j journal.Memory
			l := &ledgerOfWrites{foreign: row.foreign}
			opts := []engine.Option{engine.WithSink(runtime.NewLogSink(slog.New(slog.NewTextHandler(&log, nil))))}
			change := row.change
			if change == nil {
				change = func(*runtime.Spec) {}
			}
			fail := true
			r := undoRig(t, &j, l, opts, restoreTool(l, func(ctx context.Context) error {
				if fail && row.after != nil {
					return row.after(ctx)
				}
				return nil
			}, change))
			r.puts()
			l.fails = row.fails
			res := r.undoOf("c1")
			assert.Equal(t, undoing{Kind: row.kind, Reason: row.reason, Message: row.message, Err: row.err}, res)
			left := []string{"a.md"}
			if row.fails["rollback"] != nil {
				left = append(left, "not a.md")
			}
			assert.Equal(t, left, l.stands)
			require.NoError(t, r.exec.Flush(t.Context()))
			assert.Contains(t, log.String(), "level=WARN msg=tool.undo_failed")
			assert.Contains(t, log.String(), "reason="+string(row.reason))
			faults := r.allFaults()
			require.NotEmpty(t, faults)
			assert.Contains(t, faults[len(faults)-1].Error(), `call "c1" of "put": undo: `)
			ev := r.sink.Events()[len(r.sink.Events())-1]
			assert.Equal(t, []string{res.Kind, string(row.reason)}, []string{ev.Resolution, ev.Rejection})

			fail, l.fails = false, nil
			if row.fails["rollback"] != nil { // the next recovery rolls it back
				require.NoError(t, r.exec.Shutdown(t.Context()))
				r = undoRig(t, &j, l, nil, restoreTool(l, nil))
				assert.Equal(t, []string{"a.md"}, l.stands)
			}
			assert.Equal(t, undoOK, r.undoOf("c1").Kind)
			assert.Equal(t, []string{"a.md", "not a.md"}, l.stands)
		})
	}
}
