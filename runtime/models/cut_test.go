package models_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/models"
)

// answers is a model that gives one answer after the other.
type answers []models.Message

func (a *answers) Next(context.Context, []models.Message) (models.Message, error) {
	next := (*a)[0]
	*a = (*a)[1:]
	return next, nil
}

// TestLoopSaysThatAnAnswerWasCutOff: a text that ends at the limit of tokens is not the end. The model
// is told so once, and the program when that did not help.
func TestLoopSaysThatAnAnswerWasCutOff(t *testing.T) {
	cut := models.Message{Text: "Ida writ"}.Cut()
	var said []models.Message
	model := answers{cut, {Text: "Done."}, {Text: "Done."}, {Text: "Done."}}
	loop := models.Loop{Run: start(t), Model: &model, Saw: func(m models.Message) { said = append(said, m) }}
	_, err := loop.Do(t.Context(), "Help.")
	require.NoError(t, err)
	require.Greater(t, len(said), 3)
	assert.True(t, said[1].Truncated)
	assert.Equal(t, models.User, said[2].Role)
	assert.Contains(t, said[2].Text, "cut off at its limit of tokens")
	assert.Equal(t, "Done.", said[3].Text)

	model = answers{cut, cut}
	loop = models.Loop{Run: start(t), Model: &model}
	_, err = loop.Do(t.Context(), "Help.")
	require.ErrorIs(t, err, models.ErrTruncated)
}
