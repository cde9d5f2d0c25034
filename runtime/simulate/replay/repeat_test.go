package replay_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/simulate/replay"
)

// eachSince replays a recording, and judges each call since a time by itself. It returns the calls that are decided otherwise.
func eachSince(t *testing.T, j replay.Source, text string, policy runtime.PolicyFunc, since time.Time) (report *replay.Report, otherwise string) {
	t.Helper()
	report, err := replay.Run(t.Context(), j, &replay.Candidate{
		Declaration: parse(t, text), Policy: func(*runtime.Registry) (runtime.Policy, error) { return policy, nil }, Each: true, Since: since,
	})
	require.NoError(t, err)
	var list []string
	for _, r := range report.Runs {
		require.Empty(t, r.NotReplayable)
		if r.Divergence != nil {
			for _, d := range append([]*replay.Divergence{r.Divergence}, r.Further...) {
				list = append(list, fmt.Sprint(d.Call, " ", d.Class))
			}
		}
	}
	return report, strings.Join(list, ", ")
}

// TestEachCallIsJudgedOnTheRecordedState: what the candidate denies has counted, what it allows has not run, and what was undone was undone.
func TestEachCallIsJudgedOnTheRecordedState(t *testing.T) {
	text := with("undo: {state: {type: object}, ttl: 1m}\n    rules: {max_calls: 4}")
	r := newRecorder(t, parse(t, text), runtime.PolicyFunc(allow))
	begin := r.clock.Now()
	for i := range 5 { // the last one is denied
		r.one(fmt.Sprint("c", i+1), `{"ms":4000}`)
		r.advance(10 * time.Second)
		if i == 2 {
			r.do(func() { r.ses.Undo(t.Context(), action.UndoRequest{CallID: "c3", By: runtime.ProgramActor("bob")}) })
		}
	}
	j := r.end()
	report, otherwise := eachSince(t, j, text, allow, time.Time{})
	assert.Empty(t, otherwise)
	unchanged(t, report)

	_, otherwise = eachSince(t, j, strings.Replace(text, "max_calls: 4", "max_calls: 2", 1), allow, time.Time{})
	assert.Equal(t, "c3 newly_denied, c4 newly_denied", otherwise)
	_, otherwise = eachSince(t, j, strings.Replace(text, "max_calls: 4", "max_calls: 9", 1), allow, time.Time{})
	assert.Equal(t, "c5 newly_allowed", otherwise)
	late, otherwise := eachSince(t, j, strings.Replace(text, "undo:", "deadline: 3s\n    undo:", 1), allow, time.Time{})
	assert.Equal(t, "c1 otherwise, c2 otherwise, c3 otherwise, c4 otherwise", otherwise)
	assert.Equal(t, "timed_out", late.Runs[0].Divergence.Candidate.Outcome)

	twice := func(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
		if in.Undo || in.Facts().Tool(0).Successes == 2 {
			return runtime.Decision{}, nil
		}
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	}
	report, otherwise = eachSince(t, j, text, twice, time.Time{})
	assert.Equal(t, "c3 newly_denied, c3 newly_denied, c4 newly_denied", otherwise, "the second one is the undo of c3, after which two had succeeded again")
	assert.True(t, report.Runs[0].Further[0].Undo)
	assert.Equal(t, 5, report.Summary.Unchanged+report.Summary.NewlyDenied+report.Summary.Otherwise-1)

	report, otherwise = eachSince(t, j, text, twice, begin.Add(25*time.Second))
	assert.Equal(t, "c3 newly_denied, c4 newly_denied", otherwise, "c3 was made earlier, its undo was not")
	assert.Equal(t, 2, report.Summary.Calls)
	report, otherwise = eachSince(t, j, text, twice, begin.Add(time.Hour))
	assert.Empty(t, otherwise)
	assert.Empty(t, report.Runs)
}

// TestEachCallKeepsItsAnswers: a call that was asked about is approved as it was, edited, whatever the candidate would ask.
func TestEachCallKeepsItsAnswers(t *testing.T) {
	text := with(`consent: {ask: always, timeout: 60s, max_cover: tool, approvers: [alice, bob], allow_edit: true}`)
	r := newRecorder(t, parse(t, text), runtime.PolicyFunc(allow))
	r.one("c1", `{"n":1}`)
	r.answer("c1", action.Answer{By: runtime.ProgramActor("alice"), Approve: true, Edit: []byte(`{"n":2}`)})
	r.one("c2", `{"n":3}`)
	r.answer("c2", action.Answer{By: runtime.ProgramActor("alice")})
	r.one("c3", `{"n":4}`)
	j := r.end()
	_, otherwise := eachSince(t, j, text, allow, time.Time{})
	assert.Empty(t, otherwise)
	_, otherwise = eachSince(t, j, with("deadline: 10s"), allow, time.Time{})
	assert.Equal(t, "c1 no_longer_asked, c2 no_longer_asked, c3 no_longer_asked", otherwise)
	deny := func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) { return runtime.Decision{}, nil }
	_, otherwise = eachSince(t, j, with(askAlways), deny, time.Time{})
	assert.Equal(t, "c1 newly_denied, c2 newly_denied, c3 newly_denied", otherwise)
}
