package engine

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/internal/callctx"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/transaction"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/rules"
)

const (
	limit     = time.Minute // of a handler
	undoGrace = time.Second // of a commit
)

// A undoWorld is the owner of an undo, the participant that its handler writes through, and the recorder.
// Each notes what happens.
type undoWorld struct {
	silent
	handlers undoHandlers
	env      attemptEnv
	sched    sched.Scheduler
	spec     runtime.Spec
	mu       sync.Mutex
	did      []string
	started  error
	decided  func() error
	seal     func()
	commit   func() error
	last     *undoFault // given to Concluded
	held     sched.Gate // of the session, by handlers
}

func undoNewWorld() *undoWorld {
	w := &undoWorld{spec: runtime.Spec{Name: "put", Effect: runtime.SideEffectWrite}}
	w.env = attemptEnv{Sched: &w.sched, Participants: transaction.Participants{{Name: "here", Participant: w}}, Grace: undoGrace}
	return w
}

func (w *undoWorld) Info() callctx.Info {
	return callctx.Info{ID: "c1", Tool: "put", Session: "s", Undo: true}
}
func (w *undoWorld) Declaration() *runtime.Spec { return &w.spec }
func (w *undoWorld) PartFault(err error)        { w.note("fault: " + err.Error()) }

func (w *undoWorld) Started() error { w.note("started"); return w.started }
func (w *undoWorld) Decided(_ time.Time, seals []journal.Seal) error {
	w.note(fmt.Sprintf("decided %d", len(seals)))
	if w.decided == nil {
		return nil
	}
	return w.decided()
}
func (w *undoWorld) Concluded(f *undoFault) { w.note("concluded"); w.last = f }

func (w *undoWorld) Begin(context.Context, runtime.CallKey) (runtime.Part, error) {
	return undoPart{w}, nil
}
func (w *undoWorld) Unsettled(context.Context) ([]runtime.CallKey, error) { return nil, nil }
func (w *undoWorld) Settle(context.Context, runtime.CallKey, bool) error  { return nil }

type undoPart struct{ *undoWorld }

func (p undoPart) Seal(context.Context) ([]byte, error) {
	p.note("seal")
	if p.seal != nil {
		p.seal()
	}
	return []byte{1}, nil
}
func (p undoPart) Commit(context.Context) error {
	p.note("commit")
	if p.commit == nil {
		return nil
	}
	return p.commit()
}
func (p undoPart) Rollback(context.Context) error { p.note("rollback"); return nil }

func (w *undoWorld) note(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.did = append(w.did, what)
}

// notes returns what has happened so far.
func (w *undoWorld) notes() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.did)
}

// run runs a handler that writes through the participant and returns what f does.
func (w *undoWorld) run(ctx context.Context, f func(context.Context) error) *undoFault {
	return w.handlers.Run(ctx, &w.env, undoRequest{
		Owner: w, Number: 3, Effect: rules.Digest{7}, Deadline: limit, Recorder: w, Hold: w.held.Force, LetGo: w.held.Leave,
		Handler: func(ctx context.Context) error {
			at := ctx.Value(callctx.Key{}).(*attemptContext)
			if info := at.Info(); info.Attempt != 3 || info.Effect != (rules.Digest{7}) || !info.Undo {
				return fmt.Errorf("the handler is told %+v", info)
			}
			if _, err := at.Part(w, true); err != nil {
				return err
			}
			return f(ctx)
		},
	})
}

// holds returns how many handlers run or commit.
func (w *undoWorld) holds() int64 { return w.held.WaitFor(&w.sched, 0) }

func succeed(context.Context) error { return nil }

// untilDone returns when the context of the handler ends.
func untilDone(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestResults: what a handler did is committed only when it returned nil in time, and is rolled back
// otherwise.
func TestResults(t *testing.T) {
	errDisk := errors.New("the disk is full")
	for name, row := range map[string]struct {
		handler func(context.Context) error
		want    *undoFault
		text    string
		did     []string
	}{
		"succeeds":   {handler: succeed, did: []string{"started", "seal", "decided 1", "commit"}},
		"fails":      {func(context.Context) error { return errDisk }, &undoFault{Code: action.CodeHandlerError}, errDisk.Error(), []string{"started", "rollback"}},
		"panics":     {func(context.Context) error { panic("no") }, &undoFault{Code: action.CodeHandlerError}, "no", []string{"started", "rollback"}},
		"exits":      {func(context.Context) error { goruntime.Goexit(); return nil }, &undoFault{Code: action.CodeHandlerError}, "runtime.Goexit", []string{"started", "rollback"}},
		"sees drift": {func(context.Context) error { return runtime.ErrDrift }, &undoFault{Code: action.CodeDrift}, runtime.ErrDrift.Error(), []string{"started", "rollback"}},
		"stays":      {untilDone, &undoFault{Code: action.CodeTimedOut}, "did not finish within 60s", []string{"started", "rollback"}},
		"is late": {func(context.Context) error { time.Sleep(limit); return nil }, &undoFault{Code: action.CodeTimedOut}, "did not finish within 60s",
			[]string{"started", "rollback"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := undoNewWorld()
				fault := w.run(t.Context(), row.handler)
				synctest.Wait()
				assert.Equal(t, row.did, w.notes())
				assert.Zero(t, w.holds())
				if row.want == nil {
					require.Nil(t, fault)
					return
				}
				require.NotNil(t, fault)
				require.ErrorContains(t, fault.Err, row.text)
				fault.Err = nil
				assert.Equal(t, row.want, fault)
			})
		})
	}
}

// TestLateByTheClock: a handler that returns when its time is over is late, whether its timer has
// fired or not.
func TestLateByTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 50 {
			w := undoNewWorld()
			fault := w.run(t.Context(), func(context.Context) error { time.Sleep(limit); return nil })
			require.NotNil(t, fault)
			require.Equal(t, action.CodeTimedOut, fault.Code)
		}
	})
}

// TestEndsFromOutside: the caller, the shutdown and the loss of the journal end a handler.
func TestEndsFromOutside(t *testing.T) {
	for name, row := range map[string]struct {
		end  func(w *undoWorld, cancel context.CancelFunc)
		want action.Code
	}{
		"caller":   {func(_ *undoWorld, cancel context.CancelFunc) { cancel() }, action.CodeCancelled},
		"shutdown": {func(w *undoWorld, _ context.CancelFunc) { w.handlers.Cancel() }, action.CodeCancelled},
		"journal":  {func(w *undoWorld, _ context.CancelFunc) { w.handlers.Halt() }, action.CodeJournalUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := undoNewWorld()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				go func() {
					time.Sleep(time.Second)
					row.end(w, cancel)
				}()
				fault := w.run(ctx, untilDone)
				require.NotNil(t, fault)
				assert.Equal(t, row.want, fault.Code)
				require.Error(t, fault.Err)
				if row.want == action.CodeJournalUnavailable {
					assert.Equal(t, []string{"started"}, w.notes(), "recovery settles it")
					assert.Equal(t, action.CodeJournalUnavailable, w.run(t.Context(), succeed).Code, "none may begin")
					assert.Equal(t, []string{"started"}, w.notes())
					return
				}
				assert.Equal(t, []string{"started", "rollback"}, w.notes())
			})
		})
	}
}

// TestRecordsFirst: no handler runs before its intent is durable, and nothing is committed before the
// decision is.
func TestRecordsFirst(t *testing.T) {
	errJournal := errors.New("no journal")
	w := undoNewWorld()
	w.started = errJournal
	assert.Equal(t, &undoFault{Code: action.CodeJournalUnavailable, Err: errJournal}, w.run(t.Context(), succeed))
	assert.Equal(t, []string{"started"}, w.notes())

	w = undoNewWorld()
	w.decided = func() error { return errJournal }
	assert.Equal(t, &undoFault{Code: action.CodeJournalUnavailable, Err: errJournal}, w.run(t.Context(), succeed))
	assert.Equal(t, []string{"started", "seal", "decided 1"}, w.notes())
}

// TestCommitThatLasts: a decided commit is not taken back when it outlives the grace period.
// SEMANTICS 1.4.8
func TestCommitThatLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := undoNewWorld()
		w.commit = func() error { time.Sleep(time.Hour); return nil }
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute/2, cancel)
		start := time.Now()
		assert.Equal(t, &undoFault{Code: action.CodeUnknown, Err: errCommitting, Pending: true}, w.run(ctx, succeed))
		assert.Equal(t, time.Minute/2+undoGrace, time.Since(start))
		assert.EqualValues(t, 1, w.holds(), "the commit lasts")
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		assert.Equal(t, []string{"started", "seal", "decided 1", "commit", "concluded"}, w.notes())
		assert.Nil(t, w.last)
		assert.Zero(t, w.holds())
	})
}

// TestCommitThatWasNotDecided in its grace period is prevented, whatever its seal does then.
func TestCommitThatWasNotDecided(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := undoNewWorld()
		w.seal = func() { time.Sleep(2 * limit) }
		fault := w.run(t.Context(), succeed)
		require.NotNil(t, fault)
		assert.Equal(t, action.CodeCommitFailed, fault.Code)
		require.ErrorIs(t, fault.Err, errCommitting)
		time.Sleep(time.Hour)
		synctest.Wait()
		assert.NotContains(t, w.notes(), "decided 1")
		assert.NotContains(t, w.notes(), "commit")
		assert.True(t, fault.NotRolledBack, "its participant is still sealing")
	})
}

// TestTold: operators are told the cause without sensitive values, a model only what it may read, and both
// that nothing was taken back where that is so.
func TestTold(t *testing.T) {
	hide := func(text string) string { return strings.ReplaceAll(text, "secret", "***") }
	raw := errors.New("no secret")
	for name, row := range map[string]struct {
		fault           undoFault
		safe            bool
		message, detail string
		attempted       bool
	}{
		"handler":  {undoFault{Code: action.CodeHandlerError, Err: raw}, false, `"put" was not undone (handler_error)`, "no ***", true},
		"safe":     {undoFault{Code: action.CodeHandlerError, Err: raw}, true, "no ***", "no ***", true},
		"public":   {undoFault{Code: action.CodeHandlerError, Err: runtime.Public("e", raw)}, false, "no ***", "no ***", true},
		"drift":    {undoFault{Code: action.CodeDrift, Err: raw}, true, `"put" cannot be undone: ` + runtime.ErrDrift.Error(), "no ***", false},
		"policy":   {undoFault{Code: action.CodeDenied, Err: raw, ByPolicy: true}, false, "no ***", "no ***", false},
		"its code": {undoFault{Code: action.CodeDenied, Err: raw}, true, `"put" was not undone (denied)`, "no ***", false},
		"stands": {undoFault{Code: action.CodeTimedOut, Err: raw, NotRolledBack: true}, true, `"put" was not undone (timed_out)`,
			"no ***; what the undo did was not taken back", true},
	} {
		t.Run(name, func(t *testing.T) {
			e := row.fault.Told("put", row.safe, hide)
			assert.Equal(t, &action.Error{Code: row.fault.Code, Message: row.message, Detail: row.detail, Attempted: row.attempted, Err: row.fault.Err}, e)
		})
	}
}

// TestJudge: an undo is denied unless the policy has answered, and neither denies nor lets nothing allow it.
func TestJudge(t *testing.T) {
	raw := errors.New("no answer")
	for name, row := range map[string]struct {
		d        runtime.Decision
		err      error
		says     string
		byPolicy bool
	}{
		"error":   {runtime.Decision{Effect: runtime.EffectAllow}, raw, "no answer", false},
		"denial":  {runtime.Decision{Effect: runtime.EffectAllow, Denials: []runtime.Denial{{Code: "mode_off"}}}, nil, "the policy denies the undo: mode_off", true},
		"nothing": {runtime.Decision{}, nil, "no policy allows the undo", true},
	} {
		t.Run(name, func(t *testing.T) {
			f := judgeUndo(row.d, row.err)
			require.NotNil(t, f)
			assert.Equal(t, action.CodeDenied, f.Code)
			assert.Equal(t, row.byPolicy, f.ByPolicy)
			assert.EqualError(t, f.Err, row.says)
		})
	}
	assert.Nil(t, judgeUndo(runtime.Decision{Effect: runtime.EffectAllow}, nil))
}
