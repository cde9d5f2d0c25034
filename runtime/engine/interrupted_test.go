package engine_test

import (
	"context"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
)

func reads(s *runtime.Spec)         { s.Effect = runtime.SideEffectRead }
func transactional(s *runtime.Spec) { writes(s); s.Transactional = true }

// interruptions are handlers that run when the process dies, and the outcomes of their
// calls.
var interruptions = map[string]struct {
	declared, later func(*runtime.Spec)
	participant     bool // the handler writes through a participant
	unsettled       bool // and the participant cannot roll back
	kind            runtime.OutcomeKind
	rolledBack      bool
}{
	"it writes":                         {writes, writes, false, false, runtime.Unknown, false},
	"it reads":                          {reads, reads, false, false, runtime.Failed, false},
	"it read":                           {reads, writes, false, false, runtime.Failed, false},
	"it wrote, and reads by now":        {writes, reads, false, false, runtime.Unknown, false},
	"transactional":                     {transactional, transactional, false, false, runtime.Failed, true},
	"transactional, and wrote":          {transactional, transactional, true, false, runtime.Failed, true},
	"it was transactional":              {transactional, writes, false, false, runtime.Failed, true},
	"it is transactional by now":        {writes, transactional, false, false, runtime.Unknown, false},
	"at a participant":                  {writes, writes, true, false, runtime.Failed, true},
	"it cannot be taken back":           {transactional, transactional, true, true, runtime.Unknown, false},
	"it only reads, which cannot be so": {reads, reads, true, true, runtime.Failed, false},
}

// TestInterruptedCallIsUnknownOnlyWhereItMustBe lets the process die while a handler
// runs. The declaration of the tool when the handler started determines the outcome.
// SEMANTICS 6.7.3, 6.7.4
func TestInterruptedCallIsUnknownOnlyWhereItMustBe(t *testing.T) {
	for name, row := range interruptions {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var j journal.Memory
				l := &ledgerOfWrites{fails: map[string]error{}}
				never := make(chan struct{})
				hang := func(context.Context, *readInput) (*readOutput, error) {
					<-never
					return nil, context.Canceled
				}
				tool := readTool(hang, row.declared)
				if row.participant {
					tool = writeTool(l, hang, row.declared)
				}
				turn := transacting(t, &j, l, tool).turn()
				go turn.Execute(context.Background(), callOf("c1", "file_read", goodInput))
				synctest.Wait()
				if row.unsettled {
					l.fails["settle"] = errMischief
				}
				r := transacting(t, &j, l, readTool(okRead, row.later))
				out := r.exec.Await(t.Context(), "s", "c1")
				assert.Equal(t, row.kind, out.Kind, out.Message)
				assert.Equal(t, runtime.ReasonInterrupted, out.Reason)
				assert.Equal(t, row.rolledBack, out.RolledBack)
				assert.Equal(t, row.unsettled, len(l.stands) > 0)
				want := []string{"tool.orphaned", "tool.unknown"}
				if row.kind == runtime.Failed {
					want[1] = "tool.aborted"
				}
				if row.rolledBack {
					want = append(want, "tool.rolled_back")
				}
				assert.Equal(t, want, r.kinds("c1"))
				l.fails = nil
				r = transacting(t, &j, l, readTool(okRead, row.later))
				assert.Equal(t, out, r.exec.Await(t.Context(), "s", "c1"))
				close(never)
				synctest.Wait()
			})
		})
	}
}

// TestParticipantAtAnotherPlace: a successor with another workspace does not say of a call that its effects were taken back,
// or that they stand. One with the same workspace does.
// SEMANTICS 6.8.7
func TestParticipantAtAnotherPlace(t *testing.T) {
	for name, row := range map[string]struct {
		place   string
		kind    runtime.OutcomeKind
		message string
	}{
		"the same": {"disk one", runtime.Failed, "what it did was taken back"},
		"another":  {"disk two", runtime.Unknown, "what it did could not be taken back"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var j journal.Memory
				one := &ledgerOfWrites{place: "disk one"}
				never := make(chan struct{})
				hang := func(context.Context, *readInput) (*readOutput, error) {
					<-never
					return nil, context.Canceled
				}
				turn := transacting(t, &j, one, writeTool(one, hang, transactional)).turn()
				go turn.Execute(context.Background(), callOf("c1", "file_read", goodInput))
				synctest.Wait()
				two := one
				if row.place != one.place {
					two = &ledgerOfWrites{place: row.place}
				}
				r := transacting(t, &j, two, writeTool(two, nil, transactional))
				out := r.exec.Await(t.Context(), "s", "c1")
				assert.Equal(t, row.kind, out.Kind, out.Message)
				assert.Contains(t, out.Message, row.message)
				assert.Equal(t, row.kind == runtime.Failed, out.RolledBack)
				var told string
				for _, f := range r.allFaults() {
					told += f.Error()
				}
				assert.Equal(t, row.kind == runtime.Unknown, strings.Contains(told, `kept the parts of the call at the place "disk one", and this one is "disk two"`), told)
				close(never)
				synctest.Wait()
			})
		})
	}
}

// TestSharedParticipant: the recovery of one executor leaves the parts of another one, whose journal it does not have.
// SEMANTICS 6.8.7
func TestSharedParticipant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var one, other journal.Memory
		l := &ledgerOfWrites{fails: map[string]error{}}
		never := make(chan struct{})
		hang := func(context.Context, *readInput) (*readOutput, error) {
			<-never
			return nil, context.Canceled
		}
		turn := transacting(t, &one, l, writeTool(l, hang, transactional)).turn()
		go turn.Execute(context.Background(), callOf("c1", "file_read", goodInput))
		synctest.Wait()
		require.NotEmpty(t, l.stands)
		second := transacting(t, &other, l, writeTool(l, nil, transactional))
		assert.NotEmpty(t, l.stands, "the second executor does not know the call")
		var told string
		for _, f := range second.allFaults() {
			told += f.Error()
		}
		assert.Contains(t, told, `has parts of call "c1" of session "s", which this journal does not have`)
		transacting(t, &one, l, writeTool(l, nil, transactional))
		assert.Empty(t, l.stands, "the successor of the first one takes it back")
		close(never)
		synctest.Wait()
	})
}

// TestInterruptedCommit: recovery finishes a commit that was decided. A commit at a
// foreign participant is unknown, except for a tool that only reads, which has no
// effect there.
// SEMANTICS 6.7.3, 6.8.4
func TestInterruptedCommit(t *testing.T) {
	for name, row := range map[string]struct {
		declared func(*runtime.Spec)
		foreign  bool
		kind     runtime.OutcomeKind
	}{
		"transactional":          {transactional, false, runtime.Completed},
		"transactional, foreign": {transactional, true, runtime.Unknown},
		"it reads":               {reads, true, runtime.Completed},
	} {
		t.Run(name, func(t *testing.T) {
			var j journal.Memory
			l := &ledgerOfWrites{foreign: row.foreign, fails: map[string]error{"commit": runtime.ErrMaybeCommitted}}
			r := transacting(t, &j, l, writeTool(l, okRead, row.declared))
			out := r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
			assert.Equal(t, row.kind, out.Kind, "without a crash: %s", out.Message)
			ended := "tool.completed"
			if out.Kind == runtime.Unknown {
				ended = "tool.unknown"
			}
			l.fails = nil
			r = transacting(t, beforeLast(t, &j, ended), l, writeTool(l, okRead, row.declared))
			assert.Equal(t, row.kind, r.exec.Await(t.Context(), "s", "c1").Kind)
		})
	}
}

// TestInterruptedCallThatDoesNotRunAgain has the same outcome as without a retry.
// SEMANTICS 6.7.3
func TestInterruptedCallThatDoesNotRunAgain(t *testing.T) {
	for name, row := range map[string]struct {
		declared func(*runtime.Spec)
		kind     runtime.OutcomeKind
	}{"it writes": {writes, runtime.Unknown}, "it reads": {reads, runtime.Failed}, "transactional": {transactional, runtime.Failed}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var j journal.Memory
				never := make(chan struct{})
				change := func(s *runtime.Spec) { row.declared(s); retried(s) }
				turn := recovered(t, &j, readTool(func(context.Context, *readInput) (*readOutput, error) {
					<-never
					return nil, context.Canceled
				}, change)).turn()
				go turn.Execute(context.Background(), callOf("c1", "file_read", goodInput))
				synctest.Wait()
				r := recoveredWith(t, &j, decide(runtime.Decision{Effect: runtime.EffectDeny}), readTool(okRead, change))
				out := r.exec.Await(t.Context(), "s", "c1")
				assert.Equal(t, row.kind, out.Kind, out.Message)
				assert.Contains(t, out.Message, "; it was not run again: the policy does not let it run as it was")
				close(never)
				synctest.Wait()
			})
		})
	}
}

// TestFactsOfARerun: a call that is run again by another process is evaluated again when its facts
// changed meanwhile.
// SEMANTICS 3.5.3
func TestFactsOfARerun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal.Memory
		never := make(chan struct{})
		change := func(s *runtime.Spec) { reads(s); retried(s) }
		turn := recovered(t, &j, readTool(func(context.Context, *readInput) (*readOutput, error) {
			<-never
			return nil, context.Canceled
		}, change)).turn()
		go turn.Execute(context.Background(), callOf("c1", "file_read", goodInput))
		synctest.Wait()

		var seen []uint32
		r := recoveredWith(t, &j, runtime.PolicyFunc(func(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
			if in.CallID != "c1" {
				return runtime.Decision{Effect: runtime.EffectAllow}, nil
			}
			successes := in.Facts().Tool(0).Successes
			seen = append(seen, successes)
			time.Sleep(100 * time.Millisecond)
			if successes > 0 {
				return runtime.Decision{Effect: runtime.EffectDeny}, nil
			}
			return runtime.Decision{Effect: runtime.EffectAllow}, nil
		}), readTool(okRead, change))
		synctest.Wait() // the policy evaluates c1
		again, open := r.session().Run("r")
		require.True(t, open)
		assert.Equal(t, runtime.Completed, again.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c2", "file_read", goodInput)).Kind)
		out := r.exec.Await(t.Context(), "s", "c1")
		assert.Equal(t, runtime.Failed, out.Kind, out.Message)
		assert.Contains(t, out.Message, "; it was not run again: the policy does not let it run as it was")
		assert.Equal(t, []uint32{0, 1}, seen)
		close(never)
		synctest.Wait()
	})
}

// TestShutdownKnowsWhatIsLeft: the caller of a handler that does not return is told
// that the call has failed if no effect of it can last.
// SEMANTICS 6.9.6
func TestShutdownKnowsWhatIsLeft(t *testing.T) {
	for name, row := range map[string]struct {
		declared func(*runtime.Spec)
		kind     runtime.OutcomeKind
	}{
		"it writes": {writes, runtime.Unknown}, "it reads": {reads, runtime.Failed}, "transactional": {transactional, runtime.Failed},
		"it reads, and may run again": {func(s *runtime.Spec) { retried(s) }, runtime.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, sleepy(time.Hour, row.declared, func(s *runtime.Spec) { s.Deadline = 2 * time.Hour }))
				out := told(r.turn(), callOf("c1", "file_read", goodInput))
				synctest.Wait()
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				assert.Error(t, r.exec.Shutdown(ctx))
				assert.Equal(t, row.kind, (<-out).Kind)
				time.Sleep(2 * time.Hour)
				synctest.Wait()
			})
		})
	}
}

// admitted makes the call c2 by begin, which waits for c1, and returns once the journal
// has the admission of c2. The first executor continues until the end.
func admitted(t *testing.T, j journal.Journal, change func(*runtime.Spec), begin func(*rig, *engine.Turn)) {
	t.Helper()
	started, release := make(chan struct{}), make(chan struct{})
	r := recovered(t, j, readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
		close(started)
		<-release
		return okRead(ctx, in)
	}, narrow, change), readTool(okRead, named("other")))
	turn := r.turn()
	var calls sync.WaitGroup
	calls.Go(func() {
		if out := turn.Execute(context.Background(), callOf("c1", "file_read", goodInput)); out.Kind == runtime.Pending {
			r.exec.Decide(context.Background(), out.RequestID, yes("alice"))
		}
	})
	<-started
	calls.Go(func() { begin(r, turn) })
	for !isAdmitted(r) {
		goruntime.Gosched()
	}
	turn.Execute(t.Context(), callOf("c3", "other", goodInput)) // its entry includes what is known of c2
	t.Cleanup(func() {
		r.sessionAgain().Cancel(context.Background(), "c2", runtime.ProgramActor("alice"), "")
		close(release)
		calls.Wait()
	})
}

func isAdmitted(r *rig) bool {
	kinds := r.kinds("c2")
	return len(kinds) > 0 && kinds[len(kinds)-1] == "tool.authorized"
}

func narrow(s *runtime.Spec) { writes(s); s.Limits.Concurrency = 1 }

// trigger makes a call without waiting for it.
func trigger(_ *rig, turn *engine.Turn) {
	if _, err := turn.StartCall(callOf("c2", "file_read", goodInput)); err != nil {
		panic(err)
	}
}

// execute makes a call and waits for it.
func execute(_ *rig, turn *engine.Turn) {
	turn.Execute(context.Background(), callOf("c2", "file_read", goodInput))
}

// approved makes a call that is approved after its caller has left.
func approved(r *rig, turn *engine.Turn) {
	out := turn.Execute(context.Background(), callOf("c2", "file_read", goodInput))
	r.exec.Decide(context.Background(), out.RequestID, yes("alice"))
}

// readmissions are calls that were admitted when the process died, and how they end.
var readmissions = map[string]struct {
	make   func(*rig, *engine.Turn)
	change func(*runtime.Spec)
	effect runtime.Effect
	later  func(*runtime.Spec)
	kind   runtime.OutcomeKind
	reason runtime.Reason
}{
	"it runs":                   {trigger, nil, runtime.EffectAllow, nil, runtime.Completed, runtime.ReasonNone},
	"its slot is its own":       {trigger, func(s *runtime.Spec) { s.Rules.MaxCalls = 2 }, runtime.EffectAllow, nil, runtime.Completed, runtime.ReasonNone},
	"fewer may run by now":      {trigger, nil, runtime.EffectAllow, func(s *runtime.Spec) { s.Rules.MaxCalls = 1 }, runtime.Denied, runtime.ReasonMaxCalls},
	"the policy denies it":      {trigger, nil, runtime.EffectDeny, nil, runtime.Denied, runtime.ReasonPolicyDenied},
	"somebody is asked by now":  {trigger, nil, runtime.EffectAsk, nil, runtime.Pending, runtime.ReasonConsentRequired},
	"its caller waited":         {execute, nil, runtime.EffectAllow, nil, runtime.Failed, runtime.ReasonInterrupted},
	"its caller left, approved": {approved, asking(), runtime.EffectAllow, asking(), runtime.Completed, runtime.ReasonNone},
}

// TestTriggeredCallsRunAfterARestart: a call that was admitted, and that no caller
// waits for, is evaluated again and run once.
// SEMANTICS 6.7.1
func TestTriggeredCallsRunAfterARestart(t *testing.T) {
	for name, row := range readmissions {
		t.Run(name, func(t *testing.T) {
			change, later := row.change, row.later
			if change == nil {
				change = func(*runtime.Spec) {}
			}
			if later == nil {
				later = change
			}
			var j journal.Memory
			admitted(t, &j, change, row.make)
			var mu sync.Mutex
			ran := 0
			counting := func(ctx context.Context, in *readInput) (*readOutput, error) {
				mu.Lock()
				defer mu.Unlock()
				ran++
				return okRead(ctx, in)
			}
			r := recoveredWith(t, &j, decide(runtime.Decision{Effect: row.effect}), readTool(counting, narrow, later), readTool(okRead, named("other")))
			s := r.sessionAgain()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if row.kind == runtime.Pending {
				cancel()
			}
			out := s.Await(ctx, "c2")
			for row.kind == runtime.Pending && out.Kind == runtime.Cancelled { // not asked yet: only the wait was given up
				goruntime.Gosched()
				out = s.Await(ctx, "c2")
			}
			if row.kind == runtime.Pending {
				r.exec.Decide(t.Context(), out.RequestID, yes("alice"))
				assert.Equal(t, runtime.Completed, s.Await(t.Context(), "c2").Kind)
			}
			assert.Equal(t, row.kind, out.Kind, out.Message)
			assert.Equal(t, row.reason, out.Reason)
			run, _ := s.Run("r")
			invocations := map[string]int{"file_read": 1, "other": 1}
			if row.kind == runtime.Completed || row.kind == runtime.Pending {
				invocations["file_read"] = 2
			}
			assert.Equal(t, invocations, run.Status().Invocations)
			require.NoError(t, r.exec.Shutdown(t.Context()))

			again := recovered(t, &j, readTool(counting, narrow, later), readTool(okRead, named("other")))
			if row.kind != runtime.Pending {
				assert.Equal(t, out, again.exec.Await(t.Context(), "s", "c2"))
			}
			assert.Equal(t, invocations["file_read"]-1, ran, "once")
			assert.Empty(t, append(r.allFaults(), again.allFaults()...))
		})
	}
}
