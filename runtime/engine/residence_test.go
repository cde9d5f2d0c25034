package engine_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
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

// turnOf returns a turn of a run, which is started, of a session.
func (r *rig) turnOf(session string) *engine.Turn {
	r.t.Helper()
	run, err := r.exec.Session(engine.SessionConfig{ID: session, Principal: "agent"}).StartRun(r.t.Context(), engine.RunConfig{ID: "r"})
	require.NoError(r.t, err)
	return run.Turn(engine.TurnConfig{})
}

// unload waits until so many sessions have left memory: workers may still be about to leave them.
func (r *rig) unload(n int) {
	for n > 0 {
		n -= r.exec.Unload()
		goruntime.Gosched()
	}
}

// TestAStartLoadsWhatIsOpen: the sessions in which a request is open or an outcome unknown, and no other, until they are used.
// SEMANTICS 6.7.12
func TestAStartLoadsWhatIsOpen(t *testing.T) {
	var j journal.Memory
	tools := []*runtime.Tool{readTool(okRead), readTool(okRead, asking(), named("asks"))}
	r := recovered(t, &j, tools...)
	for i := range 20 {
		r.turnOf(fmt.Sprint("s", i)).Execute(t.Context(), callOf("c1", "file_read", goodInput))
	}
	asked := r.turnOf("open").Execute(t.Context(), callOf("c1", "asks", goodInput))
	require.Equal(t, runtime.Pending, asked.Kind)

	r = recovered(t, &j, tools...)
	assert.Equal(t, 1, r.exec.Resident())
	s, known := r.exec.FindSession("s7")
	require.True(t, known)
	assert.Equal(t, 2, r.exec.Resident())
	assert.Equal(t, runtime.Completed, s.Await(t.Context(), "c1").Kind)
	_, known = r.exec.FindSession("no such session")
	assert.False(t, known)
	assert.Equal(t, 2, r.exec.Resident())
	require.Len(t, r.exec.Requests(), 1)
	assert.Equal(t, runtime.ResolutionAccepted, r.exec.Decide(t.Context(), asked.RequestID, yes("alice")).Kind)
	r.unload(2)
	assert.Equal(t, action.CodeUnknownCall, codeOf(r.exec.Resolve(t.Context(), "s8", "c2", action.ResolveRequest{By: runtime.ProgramActor("ops")})))
}

// TestGrantsOfSessionsThatAreElsewhere are listed, found by their id, revoked and retired, after a start and after their
// session has left memory.
// SEMANTICS 6.7.15
func TestGrantsOfSessionsThatAreElsewhere(t *testing.T) {
	var j journal.Memory
	tool := readTool(okRead, asking())
	r := recovered(t, &j, tool)
	var ids []string
	for i := range 3 {
		out := r.turnOf(fmt.Sprint("s", i)).Execute(t.Context(), callOf("c1", "file_read", goodInput))
		answer := yes("alice")
		answer.Grant, answer.Cover = consent.ForSession, runtime.CoverTool
		require.Equal(t, runtime.ResolutionAccepted, r.exec.Decide(t.Context(), out.RequestID, answer).Kind)
		ids = append(ids, out.RequestID)
	}
	r.unload(3)
	require.Len(t, r.exec.Grants(action.GrantFilter{Live: true}), 3)
	assert.Zero(t, r.exec.Resident(), "the grants have stayed")

	for range 2 {
		r = recovered(t, &j, tool)
		assert.Zero(t, r.exec.Resident())
		_, found := r.exec.Request(ids[2])
		assert.True(t, found)
		assert.Equal(t, 1, r.exec.Resident(), "its session alone was loaded")
		r.unload(1)
		require.Len(t, r.exec.Grants(action.GrantFilter{Live: true}), 3)
		assert.Len(t, r.exec.EndedRequests("", 9), 3)
	}
	r = recovered(t, &j, tool)
	require.NoError(t, r.exec.Revoke(t.Context(), ids[0], runtime.ProgramActor("alice"), "enough"))
	assert.Equal(t, consent.AlreadyResolved, r.exec.Decide(t.Context(), ids[1], yes("bob")).Reason)
	r = recovered(t, &j, tool)
	require.Len(t, r.exec.Grants(action.GrantFilter{Live: true}), 2)
	turn := r.turnOf("s1x")
	assert.Equal(t, runtime.Pending, turn.Execute(t.Context(), callOf("c1", "file_read", goodInput)).Kind)
	run, _ := r.exec.Session(engine.SessionConfig{ID: "s1", Principal: "agent"}).Run("r")
	assert.Equal(t, runtime.Completed, run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c2", "file_read", goodInput)).Kind)
}

// TestASessionLeavesMemoryAndIsTheSame: a caller goes on with the pointers that it holds. Counts, ids, outcomes and undos are
// those of the session.
// SEMANTICS 6.7.13
func TestASessionLeavesMemoryAndIsTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal.Memory
		var l loginTool
		r := recovered(t, &j, l.tool(), readTool(okRead, func(s *runtime.Spec) { s.Rules.MaxCalls = 2 }))
		run := r.run()
		child := run.Child(engine.RunConfig{})
		turn := run.Turn(engine.TurnConfig{Budget: 100 * time.Hour})
		require.Equal(t, runtime.Completed, turn.Execute(t.Context(), callOf("c1", "login", adaLogsIn)).Kind)
		made := turn.Execute(t.Context(), callOf("", "file_read", goodInput))
		require.Equal(t, runtime.Completed, made.Kind)
		before := run.Status()
		time.Sleep(2 * time.Minute)
		require.Zero(t, r.exec.Resident())

		assert.Equal(t, before, run.Status())
		assert.Equal(t, 1, r.exec.Resident())
		again := turn.Execute(t.Context(), callOf(made.CallID, "file_read", goodInput))
		assert.Equal(t, []any{made.CallID, made.Output}, []any{again.CallID, again.Output})
		next := turn.Execute(t.Context(), callOf("", "file_read", `{"path":"b.md","limit":2}`))
		assert.Equal(t, runtime.Completed, next.Kind)
		assert.NotEqual(t, made.CallID, next.CallID)
		assert.Equal(t, runtime.ReasonMaxCalls, turn.Execute(t.Context(), callOf("", "file_read", `{"path":"c.md","limit":2}`)).Reason)
		assert.NotEqual(t, child.Agent(), run.Child(engine.RunConfig{}).Agent())

		time.Sleep(2 * time.Minute)
		require.Zero(t, r.exec.Resident())
		assert.Equal(t, undoing{Kind: undoOK}, r.undoOf("c1"))
		time.Sleep(2 * time.Minute)
		require.NoError(t, run.Close(t.Context()))
		time.Sleep(2 * time.Minute)
		assert.Equal(t, runtime.ReasonRunFinished, turn.Execute(t.Context(), callOf("late", "file_read", goodInput)).Reason)
		require.NoError(t, r.exec.Shutdown(t.Context()))
	})
}

// TestASessionStaysWhileACallRuns, also when the call has ended and its handler has not returned.
// SEMANTICS 6.7.13
func TestASessionStaysWhileACallRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal.Memory
		release := make(chan struct{})
		r := recovered(t, &j, readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
			<-release
			return okRead(ctx, in)
		}), readTool(okRead, asking(), named("asks")))
		turn := r.turnOf("s")
		id, err := turn.StartCall(callOf("c1", "file_read", goodInput))
		require.NoError(t, err)
		time.Sleep(time.Second)
		assert.Zero(t, r.exec.Unload())
		time.Sleep(time.Hour)
		assert.Equal(t, runtime.TimedOut, turn.Await(t.Context(), id).Kind)
		assert.Zero(t, r.exec.Unload())
		assert.Equal(t, 1, r.exec.Resident())
		close(release)
		synctest.Wait()
		assert.Equal(t, 1, r.exec.Unload())

		asked := turn.Execute(t.Context(), callOf("c2", "asks", goodInput))
		require.Equal(t, runtime.Pending, asked.Kind)
		assert.Zero(t, r.exec.Unload(), "a request is open")
		require.Equal(t, runtime.ResolutionAccepted, r.exec.Decide(t.Context(), asked.RequestID, yes("alice")).Kind)
		synctest.Wait()
		assert.Equal(t, 1, r.exec.Unload())
		require.NoError(t, r.exec.Shutdown(t.Context()))
	})
}

// A spoiled is a journal in which one session cannot be read.
type spoiled struct {
	journal.Memory
	session string
}

var errSpoiled = errors.New("the entries of the session are forged")

func (s *spoiled) Back(ctx context.Context, session string, before uint64, f func(*journal.Entry) bool) error {
	if session == s.session && session != "" {
		return errSpoiled
	}
	return s.Memory.Back(ctx, session, before, f)
}

// TestASessionThatCannotBeLoadedRefusesItsCalls, with the reason for operators, and calls of other sessions run.
// SEMANTICS 6.7.14
func TestASessionThatCannotBeLoadedRefusesItsCalls(t *testing.T) {
	var j spoiled
	r := recovered(t, &j, readTool(okRead))
	bad, good := r.turnOf("bad"), r.turnOf("good")
	require.Equal(t, runtime.Completed, bad.Execute(t.Context(), callOf("c1", "file_read", goodInput)).Kind)
	r.unload(2)
	j.session = "bad"
	before, err := j.Read(t.Context(), 0, 1<<10)
	require.NoError(t, err)

	out := bad.Execute(t.Context(), callOf("c1", "file_read", goodInput))
	assert.Equal(t, []any{runtime.Denied, runtime.ReasonJournalUnavailable}, []any{out.Kind, out.Reason})
	faults := r.allFaults()
	require.NotEmpty(t, faults)
	require.ErrorIs(t, faults[0], errSpoiled)
	require.ErrorContains(t, faults[0], `session "bad"`)
	s := r.exec.Session(engine.SessionConfig{ID: "bad", Principal: "agent"})
	_, err = s.StartRun(t.Context(), engine.RunConfig{})
	require.ErrorIs(t, err, errSpoiled)
	_, err = s.Undo(t.Context(), action.UndoRequest{CallID: "c1", By: runtime.ProgramActor("ops")})
	assert.Equal(t, action.CodeJournalUnavailable, codeOf(err))
	assert.Equal(t, action.CodeJournalUnavailable, codeOf(s.Cancel(t.Context(), "c1", runtime.ProgramActor("ops"), "")))
	assert.Equal(t, action.CodeJournalUnavailable, codeOf(s.Resolve(t.Context(), "c1", action.ResolveRequest{By: runtime.ProgramActor("ops")})))
	assert.Equal(t, runtime.ReasonJournalUnavailable, bad.WhatIf(t.Context(), callOf("c2", "file_read", goodInput)).Outcome.Reason)
	after, err := j.Read(t.Context(), 0, 1<<10)
	require.NoError(t, err)
	assert.Equal(t, before, after, "nothing is recorded of it")

	assert.Equal(t, runtime.Completed, good.Execute(t.Context(), callOf("c1", "file_read", goodInput)).Kind)
	j.session = ""
	assert.Equal(t, runtime.Completed, bad.Execute(t.Context(), callOf("c1", "file_read", goodInput)).Kind)
}

// A timing is the clock of the machine, and counts the timers that are set.
type timing struct {
	mu  sync.Mutex
	set map[*time.Timer]time.Duration
}

func (c *timing) Now() time.Time { return time.Now() }

func (c *timing) AfterFunc(d time.Duration, f func()) runtime.Timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	var t *time.Timer
	t = time.AfterFunc(d, func() {
		c.mu.Lock()
		delete(c.set, t)
		c.mu.Unlock()
		f()
	})
	c.set[t] = d
	return counting{t, c}
}

// A counting is a timer of a timing.
type counting struct {
	*time.Timer
	of *timing
}

func (t counting) Stop() bool {
	t.of.mu.Lock()
	defer t.of.mu.Unlock()
	delete(t.of.set, t.Timer)
	return t.Timer.Stop()
}

// TestShutdownStopsTheTimerOfIdleSessions: it would keep the executor in memory until it fires.
// SEMANTICS 6.7.13
func TestShutdownStopsTheTimerOfIdleSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := &timing{set: map[*time.Timer]time.Duration{}}
		r := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{readTool(okRead)}, engine.WithJournal(new(journal.Memory)), engine.WithClock(clock))
		r.recover()
		r.turnOf("s").Execute(t.Context(), callOf("c1", "file_read", goodInput))
		synctest.Wait()
		require.Contains(t, slices.Collect(maps.Values(clock.set)), engine.IdleTime)
		require.NoError(t, r.exec.Shutdown(t.Context()))
		synctest.Wait()
		assert.Empty(t, clock.set)
	})
}
