package genai_test

import (
	"strings"
	"testing"

	"github.com/ambit-tools/ambit/internal/wiretest"
	"github.com/ambit-tools/ambit/runtime/models"
	"github.com/ambit-tools/ambit/runtime/models/genai"
)

// TestAbnormalEnds: an answer that ended abnormally is an error with the reason, streamed or not.
func TestAbnormalEnds(t *testing.T) {
	desk := wiretest.NewDesk(t)
	for body, want := range map[string]string{
		candidate(`,"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"call:order_find("`): "MALFORMED_FUNCTION_CALL",
		candidate(`,"finishReason":"SAFETY"`, `{"text":"I"}`):                                     "SAFETY",
		`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}`:                                 "PROHIBITED_CONTENT",
	} {
		for _, streamed := range []bool{false, true} {
			text := body
			if streamed {
				text = "data: " + body + "\n\n"
			}
			model, err := genai.New(client(t, wiretest.Serve(t, text)), desk.Registry, "m", nil)
			if err != nil {
				t.Fatal(err)
			}
			model.Stream = streamed
			m, err := model.Next(t.Context(), []models.Message{{Role: models.User, Text: "Help."}})
			if err == nil || !strings.Contains(err.Error(), want) || len(m.Calls) > 0 {
				t.Errorf("%s, streamed %t: %v, %v", body, streamed, m, err)
			}
		}
	}
}

// TestAnswerWithoutParts: it is in no later request, and a text that was cut off is said to be.
func TestAnswerWithoutParts(t *testing.T) {
	desk := wiretest.NewDesk(t)
	server := wiretest.Serve(t, candidate(stop), candidate(`,"finishReason":"MAX_TOKENS"`, `{"text":"I"}`))
	model, err := genai.New(client(t, server), desk.Registry, "m", nil)
	if err != nil {
		t.Fatal(err)
	}
	said := []models.Message{{Role: models.User, Text: "Help."}}
	for _, truncated := range []bool{false, true} {
		m, err := model.Next(t.Context(), said)
		if err != nil || m.Truncated != truncated {
			t.Fatalf("%v, %v", m, err)
		}
		said = append(said, m, models.Message{Role: models.User, Text: "Go on."})
	}
	if strings.Contains(server.Sent[1], `"model"`) {
		t.Errorf("the empty answer is sent:\n%s", server.Sent[1])
	}
}
