package engine_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	goruntime "runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// recovered returns a rig of tools that continues a journal.
func recovered(t *testing.T, j journal.Journal, tools ...*runtime.Tool) *rig {
	t.Helper()
	return recoveredWith(t, j, runtime.PolicyFunc(allowAll), tools...)
}

// recoveredWith is recovered with a policy.
func recoveredWith(t *testing.T, j journal.Journal, policy runtime.Policy, tools ...*runtime.Tool) *rig {
	t.Helper()
	r := newRigWith(t, policy, tools, engine.WithPendingRequests(), engine.WithJournal(j))
	r.recover()
	return r
}

func TestNothingRunsBeforeRecovery(t *testing.T) {
	reg, err := runtime.NewRegistry(readTool(okRead))
	require.NoError(t, err)
	exec, err := engine.NewExecutor(reg, runtime.PolicyFunc(allowAll), engine.WithJournal(new(journal.Memory)))
	require.NoError(t, err)
	_, err = exec.Session(engine.SessionConfig{ID: "s"}).StartRun(t.Context(), engine.RunConfig{})
	assert.ErrorContains(t, err, "call Recover before anything else")
	assert.ErrorContains(t, exec.Recover(t.Context()), "recover before the first session is made")

	r := recovered(t, new(journal.Memory), readTool(okRead))
	assert.ErrorContains(t, r.exec.Recover(t.Context()), "recovered before")
}

func TestNothingIsRecoveredAfterAShutdown(t *testing.T) {
	r := recovered(t, new(journal.Memory), readTool(okRead))
	require.NoError(t, r.exec.Shutdown(t.Context()))
	assert.EqualError(t, r.exec.Recover(t.Context()), "the executor was shut down: a new one recovers the journal")

	reg, err := runtime.NewRegistry(readTool(okRead))
	require.NoError(t, err)
	exec, err := engine.NewExecutor(reg, runtime.PolicyFunc(allowAll), engine.WithJournal(new(journal.Memory)))
	require.NoError(t, err)
	require.NoError(t, exec.Shutdown(t.Context()))
	assert.ErrorContains(t, exec.Recover(t.Context()), "was shut down")
}

// SEMANTICS 6.6.4, 6.6.6
func TestOutcomesOutliveTheProcess(t *testing.T) {
	var j journal.Memory
	r := recovered(t, &j, readTool(okRead), readTool(okRead, named("other"), func(s *runtime.Spec) { s.Rules.MaxCalls = 1 }))
	turn := r.turn()
	done := turn.Execute(t.Context(), callOf("c1", "file_read", goodInput))
	require.Equal(t, runtime.Completed, done.Kind)
	turn.Execute(t.Context(), callOf("c2", "other", goodInput))
	refused := turn.Execute(t.Context(), callOf("c3", "other", goodInput))
	invalid := turn.Execute(t.Context(), callOf("c4", "other", `{"path":1}`))
	require.Equal(t, runtime.ReasonMaxCalls, refused.Reason)

	never := func(context.Context, *readInput) (*readOutput, error) { panic("it ran again") }
	r = recovered(t, &j, readTool(never), readTool(never, named("other"), func(s *runtime.Spec) { s.Rules.MaxCalls = 1 }))
	run, open := r.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"}).Run("r")
	require.True(t, open)
	turn = run.Turn(engine.TurnConfig{})
	assert.Equal(t, done, turn.Execute(t.Context(), callOf("c1", "file_read", goodInput)))
	assert.Equal(t, done, turn.Execute(t.Context(), callOf("c1", "file_read", ` {"limit":2.0,"path":"a.md"}`)), "equal arguments")
	assert.Equal(t, refused, turn.Execute(t.Context(), callOf("c3", "other", goodInput)))
	assert.Equal(t, invalid, turn.Execute(t.Context(), callOf("c4", "other", `{"path":1}`)))
	assert.Equal(t, runtime.ReasonCallIDReused, turn.Execute(t.Context(), callOf("c1", "file_read", `{"path":"b.md"}`)).Reason)
	assert.Equal(t, runtime.ReasonCallIDReused, turn.Execute(t.Context(), callOf("c4", "other", goodInput)).Reason)
	assert.Equal(t, runtime.ReasonMaxCalls, turn.Execute(t.Context(), callOf("c5", "other", goodInput)).Reason)
	assert.Equal(t, map[string]int{"file_read": 1, "other": 1}, run.Status().Invocations)
	assert.Empty(t, r.allFaults())
}

// TestMadeIDsOutliveTheProcess: after a restart an unnamed sub-agent, call or run is a new one, with counters
// of its own (SEMANTICS 1.4.6).
func TestMadeIDsOutliveTheProcess(t *testing.T) {
	var j journal.Memory
	once := readTool(okRead, func(s *runtime.Spec) { s.Rules.MaxCalls = 1 })
	var agents, calls, runs []string
	for range 3 {
		r := recovered(t, &j, once)
		s := r.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"})
		run, open := s.Run("r")
		if !open {
			run = r.run()
		}
		child := run.Child(engine.RunConfig{})
		grand := child.Child(engine.RunConfig{})
		for _, part := range []*engine.Run{child, grand} {
			out := part.Turn(engine.TurnConfig{}).Execute(t.Context(), runtime.Call{Tool: "file_read", Input: []byte(goodInput)})
			assert.Equal(t, runtime.Completed, out.Kind, "the counters of sub-agent %q: %s", part.Agent(), out.Message)
			calls = append(calls, out.CallID)
		}
		agents = append(agents, child.Agent(), grand.Agent())
		other, err := s.StartRun(t.Context(), engine.RunConfig{})
		require.NoError(t, err)
		runs = append(runs, other.ID())
		require.NoError(t, other.Close(t.Context()))
	}
	assert.Equal(t, []string{"agent-1", "agent-1/agent-1", "agent-2", "agent-2/agent-1", "agent-3", "agent-3/agent-1"}, agents)
	assert.Equal(t, []string{"call-1", "call-2", "call-3", "call-4", "call-5", "call-6"}, calls)
	assert.Len(t, slices.Compact(slices.Sorted(slices.Values(runs))), 3)
}

func TestRequestsOutliveTheProcess(t *testing.T) {
	var j journal.Memory
	r := recovered(t, &j, readTool(okRead, asking()))
	out := r.turn().Execute(t.Context(), runtime.Call{
		ID: "c1", Tool: "file_read", Input: []byte(goodInput), Metadata: map[string]string{"trace": "7"},
	})
	require.Equal(t, runtime.Pending, out.Kind)

	var metadata map[string]string
	r = recovered(t, &j, readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
		info, _ := runtime.FromContext(ctx)
		metadata = info.Metadata
		return okRead(ctx, in)
	}, asking()))
	requests := r.exec.Requests()
	require.Len(t, requests, 1)
	assert.JSONEq(t, goodInput, string(requests[0].Shown))
	res := r.exec.Decide(t.Context(), out.RequestID, yes("alice"))
	require.Equal(t, runtime.ResolutionAccepted, res.Kind)
	assert.Equal(t, runtime.Completed, res.Outcome.Kind, res.Outcome.Message)
	assert.Equal(t, map[string]string{"trace": "7"}, metadata)

	r = recovered(t, &j, readTool(okRead, asking()))
	assert.Empty(t, r.exec.Requests())
	assert.Equal(t, "already_resolved", r.exec.Decide(t.Context(), out.RequestID, yes("bob")).Reason.String())
}

// TestDeclarationChangedMeanwhile: an approval under another declaration is rejected and uses nothing; a denial counts.
// SEMANTICS 5.8.1, 5.8.2
func TestDeclarationChangedMeanwhile(t *testing.T) {
	var j journal.Memory
	r := recovered(t, &j, readTool(okRead, asking()))
	out := r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
	r = recovered(t, &j, readTool(okRead, asking(), func(s *runtime.Spec) { s.Pin = "another" }))
	for range 2 {
		res := r.exec.Decide(t.Context(), out.RequestID, yes("alice"))
		require.Equal(t, runtime.ResolutionRejected, res.Kind)
		assert.Equal(t, consent.TermsChanged, res.Reason)
		assert.Contains(t, res.Detail, "the declaration of the tool has changed")
		assert.Equal(t, runtime.Pending, res.Outcome.Kind)
		assert.Len(t, r.exec.Requests(), 1)
		assert.Empty(t, r.exec.Requests()[0].Votes)
	}
	assert.Equal(t, consent.Prospect{Rejection: consent.TermsChanged, Changed: []consent.Change{consent.ChangedDeclaration}, Missing: 0}, r.exec.Probe(t.Context(), out.RequestID, yes("alice")))
	no := yes("alice")
	no.Approve = false
	res := r.exec.Decide(t.Context(), out.RequestID, no)
	require.Equal(t, runtime.ResolutionAccepted, res.Kind)
	assert.Equal(t, runtime.ReasonConsentDenied, res.Outcome.Reason)
}

// SEMANTICS 6.6.2
func TestGrantsOutliveTheProcess(t *testing.T) {
	var j journal.Memory
	r := recovered(t, &j, readTool(okRead, asking()))
	out := r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
	answer := yes("alice")
	answer.Grant, answer.Cover = consent.ForSession, runtime.CoverTool
	require.Equal(t, runtime.ResolutionAccepted, r.exec.Decide(t.Context(), out.RequestID, answer).Kind)

	r = recovered(t, &j, readTool(okRead, asking()))
	require.Len(t, r.exec.Grants(action.GrantFilter{Live: true}), 1)
	run, _ := r.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"}).Run("r")
	assert.Equal(t, runtime.Completed, run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c2", "file_read", goodInput)).Kind)
	r.exec.Revoke(t.Context(), out.RequestID, runtime.ProgramActor("alice"), "enough")

	r = recovered(t, &j, readTool(okRead, asking()))
	assert.Empty(t, r.exec.Grants(action.GrantFilter{Live: true}))
}

// TestInterruptedCalls: the process dies in the middle of handlers.
// SEMANTICS 6.7.2, 6.7.5
func TestInterruptedCalls(t *testing.T) {
	var j journal.Memory
	started, release := make(chan struct{}), make(chan struct{})
	hang := readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
		close(started)
		<-release
		return okRead(ctx, in)
	}, func(s *runtime.Spec) { s.Effect, s.Rules.MaxCalls = runtime.SideEffectWrite, 1 })
	old := recovered(t, &j, hang)
	turn := old.turn()
	ended := make(chan runtime.Outcome, 1)
	go func() { ended <- turn.Execute(context.Background(), callOf("c1", "file_read", goodInput)) }()
	<-started
	unfinished, err := j.Unfinished(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []journal.CallKey{{Session: "s", Call: "c1"}}, unfinished, "its start is durable before the handler runs")

	r := recovered(t, &j, readTool(okRead, func(s *runtime.Spec) { s.Rules.MaxCalls = 1 }))
	s := r.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"})
	out := s.Await(t.Context(), "c1")
	assert.Equal(t, runtime.Unknown, out.Kind)
	assert.Equal(t, runtime.ReasonInterrupted, out.Reason)
	assert.Equal(t, []string{"tool.orphaned", "tool.unknown"}, r.kinds("c1"))
	run, _ := s.Run("r")
	assert.Equal(t, runtime.ReasonMaxCalls, run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c2", "file_read", goodInput)).Reason)
	unfinished, err = j.Unfinished(t.Context())
	require.NoError(t, err)
	assert.Empty(t, unfinished)

	close(release) // the old process finds that it no longer owns the journal
	late := <-ended
	assert.Equal(t, runtime.Unknown, late.Kind)
	assert.Equal(t, runtime.ReasonJournalUnavailable, late.Reason)
}

// broken is a journal that cannot be written after some appends.
type broken struct {
	journal.Memory
	left int
}

var errFull = errors.New("no space left on device")

func (b *broken) Append(ctx context.Context, entries []journal.Entry) error {
	if b.left--; b.left < 0 {
		return errFull
	}
	return b.Memory.Append(ctx, entries)
}

// TestUnwritableJournal makes the journal fail after each append of a call.
// SEMANTICS 6.6.3, 6.6.4, 6.6.7
func TestUnwritableJournal(t *testing.T) {
	for left := 1; ; left++ { // the first append is that of the recovery
		ran := false
		j := &broken{left: left}
		r := recovered(t, j, readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
			ran = true
			return okRead(ctx, in)
		}))
		turn := r.turn()
		out := turn.Execute(t.Context(), callOf("c1", "file_read", goodInput))
		if out.Kind == runtime.Completed {
			assert.Equal(t, 3, left, "two appends per call")
			return
		}
		assert.Equal(t, runtime.ReasonJournalUnavailable, out.Reason)
		assert.Equal(t, left > 1, ran)
		want := runtime.Denied
		if ran {
			want = runtime.Unknown
		}
		assert.Equal(t, want, out.Kind)
		assert.NotEmpty(t, r.allFaults())
		next := turn.Execute(t.Context(), callOf("c2", "file_read", goodInput))
		assert.Equal(t, runtime.Denied, next.Kind)
		assert.Equal(t, runtime.ReasonJournalUnavailable, next.Reason)
		assert.ErrorIs(t, r.exec.Shutdown(t.Context()), errFull)
	}
}

// TestRequestIsDurableBeforeAnybodyIsTold: a request is durable before an approver can
// see it, and an answer before it counts.
// SEMANTICS 5.1.1, 6.6.1, 6.6.2
func TestRequestIsDurableBeforeAnybodyIsTold(t *testing.T) {
	var told bool
	j := &broken{left: 1}
	reg, err := runtime.NewRegistry(readTool(okRead, asking()))
	require.NoError(t, err)
	exec, err := engine.NewExecutor(reg, runtime.PolicyFunc(allowAll), engine.WithJournal(j), engine.WithPolicyTimeout(time.Minute),
		engine.WithApprover(consent.ApproverFunc(func(context.Context, *consent.Notice) error { told = true; return nil })))
	require.NoError(t, err)
	require.NoError(t, exec.Recover(t.Context()))
	run, err := exec.Session(engine.SessionConfig{ID: "s"}).StartRun(t.Context(), engine.RunConfig{})
	require.NoError(t, err)
	out := run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c1", "file_read", goodInput))
	assert.Equal(t, runtime.Denied, out.Kind)
	assert.Equal(t, runtime.ReasonJournalUnavailable, out.Reason)
	assert.False(t, told)

	r := recovered(t, &broken{left: 2}, readTool(okRead, asking()))
	out = r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
	require.Equal(t, runtime.Pending, out.Kind)
	res := r.exec.Decide(t.Context(), out.RequestID, yes("alice"))
	assert.Equal(t, runtime.ResolutionRejected, res.Kind)
	assert.Equal(t, "journal_unavailable", res.Reason.String())
	assert.Equal(t, runtime.Denied, res.Outcome.Kind)
}

// TestNamesThatAreNoText: with ids of arbitrary bytes the journal can still be read.
func TestNamesThatAreNoText(t *testing.T) {
	var j journal.Memory
	r := recovered(t, &j, readTool(okRead))
	run, err := r.exec.Session(engine.SessionConfig{ID: "s\xff", Principal: "p\xfe"}).StartRun(t.Context(), engine.RunConfig{ID: "r\xff"})
	require.NoError(t, err)
	turn := run.WithPrincipal("q\xff").Child(engine.RunConfig{ID: "\xff"}).Turn(engine.TurnConfig{})
	assert.Equal(t, runtime.Completed, turn.Execute(t.Context(), callOf("c\xff\x00\n", "file_read", goodInput)).Kind)
	turn.Execute(t.Context(), callOf("d\xff", "none\xff", "\xff"))
	turn.Execute(t.Context(), runtime.Call{ID: "e", Tool: "file_read", Input: []byte(goodInput), Principal: "\xff", Metadata: map[string]string{"\xff": "\xff"}})
	require.NoError(t, run.Close(t.Context()))
	r = recovered(t, &j, readTool(okRead))
	assert.Equal(t, runtime.Completed, r.exec.Session(engine.SessionConfig{ID: "s\xff"}).Await(t.Context(), "c\xff\x00\n").Kind)
}

// TestRewriteIsRecordedWithWhatItReplaces: the journal has both digests.
// SEMANTICS 3.7.3, 7.4.2
func TestRewriteIsRecordedWithWhatItReplaces(t *testing.T) {
	var j journal.Memory
	rewrite := decide(runtime.Decision{Effect: runtime.EffectAllow, Rewrites: []runtime.Rewrite{{Pointer: "/limit", Value: []byte("7")}}})
	r := newRigWith(t, rewrite, []*runtime.Tool{readTool(okRead)}, engine.WithJournal(&j))
	r.recover()
	require.Equal(t, runtime.Completed, r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput)).Kind)
	assert.Equal(t, map[string]string{"args": `{"path":"a.md","limit":2}`, "final": `{"path":"a.md","limit":7}`}, recordedArguments(t, &j, "c1"))
}

// recordedArguments returns what the journal has of the arguments of a call: as they were given, and as the
// handler got them.
func recordedArguments(t *testing.T, j *journal.Memory, call string) map[string]string {
	t.Helper()
	entries, err := j.Call(t.Context(), journal.CallKey{Session: "s", Call: call})
	require.NoError(t, err)
	recorded := map[string]string{}
	for _, e := range entries {
		record, err := journal.Decode(e.Leaf)
		require.NoError(t, err)
		for name, p := range map[string]*journal.Payload{"args": record.Args, "final": record.Final} {
			if p != nil {
				sum := sha256.Sum256(p.Value)
				assert.Equal(t, hex.EncodeToString(sum[:]), p.SHA256)
				recorded[name] = string(p.Value)
			}
		}
	}
	return recorded
}

// TestAdmittedAndNotStarted: the process dies while a call waits for a slot of its
// tool.
func TestAdmittedAndNotStarted(t *testing.T) {
	var j journal.Memory
	started, release := make(chan struct{}), make(chan struct{})
	narrow := func(s *runtime.Spec) { writes(s); s.Limits.Concurrency, s.Rules.MaxCalls = 1, 2 }
	r := recovered(t, &j, readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
		close(started)
		<-release
		return okRead(ctx, in)
	}, narrow), readTool(okRead, named("other")))
	turn := r.turn()
	ctx, stop := context.WithCancel(t.Context())
	var calls sync.WaitGroup
	calls.Go(func() { turn.Execute(ctx, callOf("c1", "file_read", goodInput)) })
	<-started
	calls.Go(func() { turn.Execute(ctx, callOf("c2", "file_read", goodInput)) })
	for len(r.kinds("c2")) < 3 { // until it is admitted
		goruntime.Gosched()
	}
	turn.Execute(t.Context(), callOf("c3", "other", goodInput)) // its entry includes what is known of c2

	again := recovered(t, &j, readTool(okRead, narrow), readTool(okRead, named("other")))
	s := again.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"})
	out := s.Await(t.Context(), "c2")
	assert.Equal(t, runtime.Failed, out.Kind)
	assert.Equal(t, runtime.ReasonInterrupted, out.Reason)
	assert.Equal(t, runtime.Unknown, s.Await(t.Context(), "c1").Kind)
	run, _ := s.Run("r")
	assert.Equal(t, runtime.Completed, run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c4", "file_read", goodInput)).Kind, "its slot is free")
	stop()
	close(release)
	calls.Wait()
}

// TestWhatNobodyWaitsFor: entries that no caller waits for may be lost when the process
// dies. Sinks have then seen more than the journal has.
// SEMANTICS 6.6.6
func TestWhatNobodyWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal.Memory
		r := recovered(t, &j, readTool(okRead, asking(func(c *runtime.Consent) { c.Timeout = time.Hour })))
		run := r.run()
		entries, err := j.Read(t.Context(), 1, 10)
		require.NoError(t, err)
		assert.Empty(t, entries, "that a run was started is in memory")
		time.Sleep(time.Second)
		entries, err = j.Read(t.Context(), 1, 10)
		require.NoError(t, err)
		require.Len(t, entries, 2)
		assert.Equal(t, journal.KindRunStarted, entries[1].Kind)

		length := func() int {
			entries, err := j.Read(t.Context(), 0, 100)
			require.NoError(t, err)
			return len(entries)
		}
		run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c1", "file_read", goodInput))
		before := length()
		time.Sleep(48*time.Minute + time.Millisecond) // four fifths of the hour have passed
		seen := r.kinds("c1")
		assert.Equal(t, "approval.expiring", seen[len(seen)-1])
		assert.Equal(t, before, length(), "the sink has seen it, the journal has not")
		time.Sleep(time.Second)
		assert.Equal(t, before+1, length())
		require.NoError(t, run.Close(t.Context()))
		require.NoError(t, r.exec.Shutdown(t.Context()))
	})
}
