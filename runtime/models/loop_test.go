package models_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/examples/agent_loop/agent"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/models"
	"github.com/ambit-tools/ambit/runtime/models/dialect"
)

// An offered model notes what it is offered before each answer.
type offered struct {
	models.Model
	tools *models.Tools
	now   []string
	seen  [][]string
}

func (o *offered) Offer(choose func(*models.Tools) *models.Tools) {
	o.now = nil
	for _, d := range choose(o.tools).All() {
		o.now = append(o.now, d.Name)
	}
}

func (o *offered) Next(ctx context.Context, said []models.Message) (models.Message, error) {
	o.seen = append(o.seen, o.now)
	return o.Model.Next(ctx, said)
}

// TestLoopOffers: with Loop.Offer the model is told before each answer which tools it may call, and a model that
// cannot be told is an error.
func TestLoopOffers(t *testing.T) {
	exec, err := agent.Setup()
	require.NoError(t, err)
	run, err := exec.Session(engine.SessionConfig{Principal: "agent"}).StartRun(t.Context(), engine.RunConfig{})
	require.NoError(t, err)
	tools, err := models.Definitions(exec.Registry(), dialect.OpenAI)
	require.NoError(t, err)
	answers := &script{lines: []models.Message{says(call("1", "case_open", `{"customer":"Ida <ida@example.com>"}`)), says(call("2", "reply", `{"text":"Here."}`)), says(call("3", "case_close", `{"note":"Done."}`))}}
	model := &offered{Model: answers, tools: tools}
	status, err := (&models.Loop{Run: run, Model: model, Offer: true}).Do(t.Context(), "Help.")
	require.NoError(t, err)
	assert.Equal(t, runtime.RunFinished, status.State)
	require.Len(t, model.seen, 3)
	assert.Len(t, model.seen[0], 6)
	assert.Equal(t, []string{"case_close"}, model.seen[2])
	_, err = (&models.Loop{Run: start(t), Model: &script{}, Offer: true}).Do(t.Context(), "Help.")
	require.ErrorContains(t, err, "no models.Offerer")
	all := &offered{Model: &script{lines: []models.Message{says()}}, tools: tools}
	_, err = (&models.Loop{Run: start(t), Model: all, MaxTurns: 1}).Do(t.Context(), "Help.")
	require.ErrorIs(t, err, models.ErrNoEnd)
	assert.Equal(t, [][]string{nil}, all.seen, "the program chooses what is offered")
}

// TestRefusedCallsWithoutIDs: a refused call is that of its position and tool where the provider gives calls no ids.
func TestRefusedCallsWithoutIDs(t *testing.T) {
	m := says(call("", "order_find", `{"order":"1017"}`), call("", "custom", `free text`), call("", "case_open", `{"customer":"Ida <ida@example.com>"}`))
	m.Refused = []models.Result{models.Refuse("", "custom", errors.New("the call is of a custom tool"))}
	var results []models.Result
	loop := models.Loop{Run: start(t), Model: &script{lines: []models.Message{m}}, MaxTurns: 1, Saw: func(m models.Message) { results = append(results, m.Results...) }}
	_, err := loop.Do(t.Context(), "Help.")
	require.ErrorIs(t, err, models.ErrNoEnd)
	require.Len(t, results, 3)
	assert.Equal(t, runtime.ReasonInvalidInput, results[1].Outcome.Reason)
	assert.Equal(t, "custom", results[1].Tool)
	for _, i := range []int{0, 2} {
		assert.NotEqual(t, runtime.ReasonInvalidInput, results[i].Outcome.Reason, results[i].Text)
	}
}
