package anthropic_test

import (
	"strings"
	"testing"

	"github.com/ambit-tools/ambit/internal/wiretest"
	"github.com/ambit-tools/ambit/runtime/models"
	"github.com/ambit-tools/ambit/runtime/models/anthropic"
)

// stopped writes a text that ended for a reason.
func stopped(write func(int, wiretest.Step) string, reason string) string {
	return strings.Replace(write(0, wiretest.Step{Text: "I"}), `"stop_reason":"end_turn"`, `"stop_reason":`+reason, 1)
}

// TestAbnormalEnds: a message that ended abnormally is an error with the reason, streamed or not. A
// text that was cut off at the limit of tokens is said to be.
func TestAbnormalEnds(t *testing.T) {
	for _, streamed := range []bool{false, true} {
		write := message
		if streamed {
			write = stream
		}
		for reason, want := range map[string]string{
			`"refusal","stop_details":{"type":"refusal","category":"cyber","explanation":"No."}`: "refusal), and none of its calls was made: cyber No.",
			`"model_context_window_exceeded"`: "model_context_window_exceeded",
		} {
			if m, err := one(t, streamed, stopped(write, reason)); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, %v", reason, m, err)
			}
		}
		for reason, truncated := range map[string]bool{`"max_tokens"`: true, `"stop_sequence"`: false} {
			if m, err := one(t, streamed, stopped(write, reason)); err != nil || m.Truncated != truncated {
				t.Errorf("%s: %v, %v", reason, m, err)
			}
		}
	}
}

// TestPause: a message whose turn is paused is sent back, and the model goes on. It cannot do so
// without end.
func TestPause(t *testing.T) {
	pause := stopped(message, `"pause_turn"`)
	ask := func(bodies ...string) (models.Message, *wiretest.Server, error) {
		server := wiretest.Serve(t, bodies...)
		model, err := anthropic.New(client(server), wiretest.NewDesk(t).Registry, params)
		if err != nil {
			t.Fatal(err)
		}
		m, err := model.Next(t.Context(), []models.Message{{Role: models.User, Text: "Help."}})
		return m, server, err
	}
	m, server, err := ask(pause, message(1, wiretest.Step{Text: " go."}))
	if err != nil || m.Text != "I go." {
		t.Fatalf("%v, %v", m, err)
	}
	if len(server.Sent) != 2 || !strings.Contains(server.Sent[1], `"role":"assistant"`) {
		t.Errorf("%v", server.Sent)
	}
	var bodies []string
	for range 20 {
		bodies = append(bodies, pause)
	}
	if m, server, err = ask(bodies...); err == nil || !strings.Contains(err.Error(), "pause_turn") || len(server.Sent) != 11 {
		t.Errorf("%v, %v, %d requests", m, err, len(server.Sent))
	}
}
