package engine_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// after returns the entries of a journal after a position, decoded, and the bytes of their leaves.
func after(t *testing.T, j journal.Journal, position uint64) (list []*journal.Record, bytes int) {
	t.Helper()
	entries, err := j.Read(t.Context(), position, math.MaxInt)
	require.NoError(t, err)
	for _, e := range entries {
		r, err := journal.Decode(e.Leaf)
		require.NoError(t, err)
		list, bytes = append(list, r), bytes+len(e.Leaf)
	}
	return list, bytes
}

func headOf(t *testing.T, j journal.Journal) uint64 {
	t.Helper()
	entries, err := j.Read(t.Context(), 0, math.MaxInt)
	require.NoError(t, err)
	return entries[len(entries)-1].Seq
}

// TestRefusedAttemptsAreCounted: whoever may do nothing writes little, whatever he tries and however often. Beyond
// 32 an hour the attempts are counted, by entries that say how many; those of others are recorded as before.
// SEMANTICS 5.5.10
func TestRefusedAttemptsAreCounted(t *testing.T) {
	for name, try := range map[string]func(o *anOffice, by runtime.Actor) string{
		"an answer to a request": func(o *anOffice, by runtime.Actor) string {
			return o.exec.Decide(o.t.Context(), o.request, action.Answer{By: by, Approve: true, NoWait: true, Message: strings.Repeat("m", 50_000)}).Reason.String()
		},
		"an answer to no request": func(o *anOffice, by runtime.Actor) string {
			return o.exec.Decide(o.t.Context(), strings.Repeat("r", 3_000), action.Answer{By: by, Message: strings.Repeat("m", 50_000)}).Reason.String()
		},
		"a revocation of no grant": func(o *anOffice, by runtime.Actor) string {
			return o.exec.Revoke(o.t.Context(), strings.Repeat("g", 3_000), by, strings.Repeat("m", 50_000)).Error()
		},
		"an undo": func(o *anOffice, by runtime.Actor) string {
			_, err := o.ses.Undo(o.t.Context(), action.UndoRequest{CallID: "done", By: by, Reason: strings.Repeat("m", 50_000)})
			return err.Error()
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := openOffice(t, policyFunc(denyMallory))
			head := headOf(t, o.j)
			mallory := runtime.Actor{ID: "mallory", Method: "token"}
			why := try(o, mallory)
			for range 1_000 {
				assert.Equal(t, why, try(o, mallory), "it is refused alike, recorded or not")
			}
			require.NoError(t, o.exec.Shutdown(expired(t)))
			list, bytes := after(t, o.j, head)
			assert.Less(t, len(list), 32+16)
			assert.Less(t, bytes, 48*2_000)
			counted := 0
			for _, r := range list {
				if r.Operator != nil && r.Operator.Omitted > 0 {
					assert.Equal(t, "mallory", r.By)
					counted += r.Operator.Omitted
				} else {
					counted++
				}
			}
			assert.GreaterOrEqual(t, counted, 1_001)
		})
	}
}

// TestAnAttemptBeyondTheBoundCounts: who was refused often and may answer by now is heard.
func TestAnAttemptBeyondTheBoundCounts(t *testing.T) {
	o := openOffice(t, policyFunc(denyMallory))
	alice := runtime.Actor{ID: "alice", Method: "token"}
	for range 100 {
		require.Equal(t, consent.UnknownRequest, o.exec.Decide(t.Context(), "NONE", action.Answer{By: alice, Approve: true}).Reason)
	}
	assert.Equal(t, runtime.ResolutionAccepted, o.exec.Decide(t.Context(), o.request, action.Answer{By: alice, Approve: true}).Kind)
	require.NoError(t, o.exec.Revoke(t.Context(), o.grant, alice, "enough"))
	head := headOf(t, o.j)
	require.Equal(t, consent.UnknownRequest, o.exec.Decide(t.Context(), "NONE", action.Answer{By: runtime.Actor{ID: "bob"}}).Reason)
	list, _ := after(t, o.j, head)
	require.Len(t, list, 1)
	assert.Equal(t, "bob", list[0].By, "the count is that of one actor")
}

// TestLongNames: what callers name things by is bounded, and nothing of what is longer is in the journal.
// SEMANTICS 1.2.7
func TestLongNames(t *testing.T) {
	var j journal.Memory
	r := recovered(t, &j, readTool(okRead))
	long := strings.Repeat("n", 1<<20)
	start := func(cfg engine.SessionConfig, run string) (*engine.Run, error) {
		return r.exec.Session(cfg).StartRun(t.Context(), engine.RunConfig{ID: run})
	}
	ok, err := start(engine.SessionConfig{ID: "s"}, "r")
	require.NoError(t, err)
	head := headOf(t, &j)
	id := strings.Repeat("i", 8<<10)
	for name, row := range map[string]struct {
		run  *engine.Run
		id   string
		want string
	}{
		"id":        {ok, id + "i", "the id of the call has 8193 bytes, and 8192 are allowed"},
		"principal": {ok.WithPrincipal(long), "c", "the principal of the call has 1048576 bytes, and 256 are allowed"},
		"agent":     {ok.Child(engine.RunConfig{ID: long}), "c", "the id of the sub-agent has"},
	} {
		out := row.run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf(row.id, "file_read", goodInput))
		assert.Equal(t, []any{runtime.Denied, runtime.ReasonInvalidInput, row.id}, []any{out.Kind, out.Reason, out.CallID}, name)
		assert.Contains(t, out.Message, row.want)
		_, err := row.run.Turn(engine.TurnConfig{}).StartCall(callOf(row.id, "file_read", goodInput))
		assert.ErrorContains(t, err, row.want)
	}
	_, err = start(engine.SessionConfig{ID: "s", Principal: long}, "")
	require.ErrorContains(t, err, "the principal of a session has 1048576 bytes")
	_, err = start(engine.SessionConfig{ID: long}, "")
	require.ErrorContains(t, err, "the id of a session has 1048576 bytes")
	_, err = start(engine.SessionConfig{ID: "s"}, long)
	require.ErrorContains(t, err, "the id of the run has 1048576 bytes")
	assert.Equal(t, head, headOf(t, &j), "nothing is recorded")

	turn := ok.Turn(engine.TurnConfig{})
	assert.Equal(t, runtime.ReasonUnknownTool, turn.Execute(t.Context(), callOf("c", long, goodInput)).Reason)
	_, bytes := after(t, &j, head)
	assert.Less(t, bytes, 8<<10)
	assert.Equal(t, runtime.Completed, turn.Execute(t.Context(), callOf(id, "file_read", goodInput)).Kind)
	assert.Equal(t, runtime.ReasonCallIDReused, turn.Execute(t.Context(), callOf(id, "file_read", `{"path":"b.md","limit":2}`)).Reason)

	by := runtime.Actor{ID: strings.Repeat("a", 257)}
	head = headOf(t, &j)
	assert.Equal(t, consent.NotPermitted, r.exec.Decide(t.Context(), "NONE", action.Answer{By: by}).Reason)
	require.ErrorContains(t, r.exec.Revoke(t.Context(), "NONE", by, ""), "the id of the actor has 257 bytes")
	assert.Equal(t, head, headOf(t, &j))
}

// denyMallory lets everybody do everything but mallory.
func denyMallory(_ context.Context, r *runtime.ActRequest) (runtime.ActDecision, error) {
	return runtime.ActDecision{Allow: r.Actor.ID != "mallory", Reason: "not you"}, nil
}

// expired returns a context that has ended.
func expired(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
