package engine_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// SEMANTICS 8.1.12
func TestOpenRequestsOfASessionAreBounded(t *testing.T) {
	j := new(journal.Memory)
	tool := readTool(okRead, asking())
	r := recovered(t, j, tool)
	run, err := r.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"}).StartRun(t.Context(), engine.RunConfig{ID: "r"})
	require.NoError(t, err)
	ask := func(run *engine.Run) runtime.Outcome {
		return run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("", "file_read", goodInput))
	}
	var ids []string
	for range engine.DefaultMaxOpenRequests {
		out := ask(run)
		require.Equal(t, runtime.Pending, out.Kind)
		ids = append(ids, out.RequestID)
	}
	full := func(run *engine.Run) {
		t.Helper()
		out := ask(run)
		assert.Equal(t, runtime.Denied, out.Kind)
		assert.Equal(t, []runtime.Reason{runtime.ReasonTooManyPending}, out.AllReasons)
		assert.Contains(t, out.Message, "100 requests of this session wait for answers")
		assert.Equal(t, "too_many_pending", out.Reason.String())
		assert.Equal(t, map[string]int{"file_read": 100}, run.Status().Invocations, "it reserves nothing")
		v := run.Turn(engine.TurnConfig{}).WhatIf(t.Context(), callOf("", "file_read", goodInput))
		assert.Equal(t, runtime.ReasonTooManyPending, v.Outcome.Reason)
	}
	full(run)
	other, err := r.exec.Session(engine.SessionConfig{ID: "other", Principal: "agent"}).StartRun(t.Context(), engine.RunConfig{})
	require.NoError(t, err)
	assert.Equal(t, runtime.Pending, ask(other).Kind, "another session has a bound of its own")

	r = recovered(t, j, tool) // requests of an earlier process count
	run, open := r.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"}).Run("r")
	require.True(t, open)
	full(run)
	require.Equal(t, runtime.Completed, r.exec.Decide(t.Context(), ids[0], yes("alice")).Outcome.Kind)
	assert.Equal(t, runtime.Pending, ask(run).Kind, "one was answered")
}

// TestRulesRefuseBeforeTheBoundOfRequests: a refusal by a rule comes before the bound,
// because no approver would be asked.
func TestRulesRefuseBeforeTheBoundOfRequests(t *testing.T) {
	tool := readTool(okRead, asking(), func(s *runtime.Spec) { s.Rules.MaxCalls = 1 })
	r := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{tool}, engine.WithPendingRequests(), engine.WithMaxOpenRequests(1))
	turn := r.run().Turn(engine.TurnConfig{})
	require.Equal(t, runtime.Pending, turn.Execute(t.Context(), callOf("c1", "file_read", goodInput)).Kind)
	assert.Equal(t, runtime.ReasonMaxCalls, turn.Execute(t.Context(), callOf("c2", "file_read", goodInput)).Reason)
}

func TestABoundOfNoRequestsIsRefused(t *testing.T) {
	reg, err := runtime.NewRegistry(readTool(okRead))
	require.NoError(t, err)
	_, err = engine.NewExecutor(reg, runtime.PolicyFunc(allowAll), engine.WithMaxOpenRequests(0))
	assert.ErrorContains(t, err, "at most 0 open requests of a session")
}

// expired counts the calls that were denied because no approver answered.
func (r *rig) expired() (n int) {
	for _, ev := range r.sink.Events() {
		if ev.Reason == runtime.ReasonConsentExpired {
			n++
		}
	}
	return n
}

// TestManyPendingAcrossSessions closes runs, answers requests and lets requests expire
// among many. The cost of each is tested in runtime/consent.
func TestManyPendingAcrossSessions(t *testing.T) {
	const each = engine.DefaultMaxOpenRequests
	sessions := max(battery.Count(t, 20, 1000), 3)
	synctest.Test(t, func(t *testing.T) {
		r := newInbox(t, readTool(okRead, asking()))
		runs := make([]*engine.Run, sessions)
		var last string
		for i := range runs {
			var err error
			runs[i], err = r.exec.Session(engine.SessionConfig{ID: fmt.Sprint("s", i), Principal: "agent"}).StartRun(t.Context(), engine.RunConfig{})
			require.NoError(t, err)
			for range each {
				out := runs[i].Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("", "file_read", goodInput))
				require.Equal(t, runtime.Pending, out.Kind)
				last = out.RequestID
			}
		}
		require.Len(t, r.exec.Requests(), sessions*each)
		cancelled := 0
		r.exec.NoteConsent(func(ev consent.Event) {
			if ev.Kind == consent.EventCancelled {
				cancelled++
			}
		})
		require.NoError(t, runs[0].Close(t.Context()))
		assert.Equal(t, each, cancelled, "a close is about its own")
		require.Equal(t, runtime.Completed, r.exec.Decide(t.Context(), last, yes("alice")).Outcome.Kind)

		// The expired requests are ended, and their callers told, before the lock is
		// taken for the next 64.
		expired, most := 0, 0
		r.exec.NoteConsent(func(ev consent.Event) {
			if ev.Kind != consent.EventExpired {
				return
			}
			if expired++; expired%consent.AtOnce == 0 && expired <= 10*consent.AtOnce {
				most = max(most, expired-r.expired())
			}
		})
		time.Sleep(time.Hour)
		synctest.Wait()
		assert.Equal(t, sessions*each-each-1, expired)
		assert.Equal(t, expired, r.expired())
		assert.Equal(t, consent.AtOnce, most)
		assert.Empty(t, r.exec.Requests())
	})
}
