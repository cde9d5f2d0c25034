package openai_test

import (
	"fmt"
	"strings"
	"testing"

	sdk "github.com/openai/openai-go/v3"

	"github.com/ambit-tools/ambit/internal/wiretest"
	"github.com/ambit-tools/ambit/runtime/models"
	"github.com/ambit-tools/ambit/runtime/models/dialect"
	"github.com/ambit-tools/ambit/runtime/models/openai"
)

// event writes an event of a stream.
func event(kind, rest string) string {
	return fmt.Sprintf("event: %s\ndata: {\"type\":%q%s}\n\n", kind, kind, rest)
}

// TestAbnormalEnds: an answer that failed or ended abnormally is an error with the reason, streamed or
// not.
func TestAbnormalEnds(t *testing.T) {
	desk := wiretest.NewDesk(t)
	broken := `{"id":"r","object":"response","status":"failed","error":{"code":"server_error","message":"It broke."},"output":[]}`
	filtered := `{"id":"r","object":"response","status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[]}`
	chat := completion(0, wiretest.Step{Text: "I"})
	for n, test := range []struct {
		api        int
		body, want string
	}{
		{0, broken, "server_error: It broke."},
		{0, filtered, "content_filter"},
		{0, strings.Replace(broken, "failed", "cancelled", 1), "cancelled"},
		{1, event("response.failed", `,"response":`+broken), "server_error: It broke."},
		{1, event("response.incomplete", `,"response":`+filtered), "content_filter"},
		{1, event("error", `,"code":"rate_limit_exceeded","message":"Later.","param":null,"sequence_number":1`), "rate_limit_exceeded: Later."},
		{2, strings.Replace(chat, `"finish_reason":"stop"`, `"finish_reason":"content_filter"`, 1), "content_filter"},
		{2, `{"choices":[]}`, "no answer"},
		{3, strings.Replace(completionStream(0, wiretest.Step{Text: "I"}), `"finish_reason":"stop"`, `"finish_reason":"content_filter"`, 1), "content_filter"},
	} {
		m, err := apis[test.api].ask(t, desk.Registry, test.body)
		if err == nil || !strings.Contains(err.Error(), test.want) || len(m.Calls) > 0 {
			t.Errorf("%d: %v, %v, want %s", n, m, err, test.want)
		}
	}
}

// TestTextAtTheLimit: a text that was cut off at the limit of tokens is said to be.
func TestTextAtTheLimit(t *testing.T) {
	desk := wiretest.NewDesk(t)
	whole := response(0, wiretest.Step{Text: "I"})
	for n, body := range map[int]string{
		0: strings.Replace(whole, `"object":"response","status":"completed"`, `"object":"response","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}`, 1),
		2: strings.Replace(completion(0, wiretest.Step{Text: "I"}), `"finish_reason":"stop"`, `"finish_reason":"length"`, 1),
	} {
		if m, err := apis[n].ask(t, desk.Registry, body); err != nil || !m.Truncated || m.Text != "I" {
			t.Errorf("%s: %v, %v", apis[n].name, m, err)
		}
	}
}

// TestChatMessageWithoutChoices: it is an error and no panic.
func TestChatMessageWithoutChoices(t *testing.T) {
	tools, err := models.Definitions(wiretest.NewDesk(t).Registry, dialect.OpenAI)
	if err != nil {
		t.Fatal(err)
	}
	if m, err := openai.ChatMessage(tools, &sdk.ChatCompletion{}); err == nil {
		t.Errorf("%v", m)
	}
}

// TestCustomCalls: each call of a message has a result, a call of a custom tool too, in the form that is its own.
func TestCustomCalls(t *testing.T) {
	step, done := wiretest.Calls("case_open", `{"customer":"Ida"}`), wiretest.Step{Text: "Done."}
	for n, c := range map[int]struct{ body, answered string }{
		0: {strings.Replace(response(0, step), `"output":[`, `"output":[{"type":"custom_tool_call","id":"ct","call_id":"odd","name":"case_open","input":"{\"customer\":\"Bob\"}"},`, 1),
			`"call_id":"odd","output":`},
		2: {strings.Replace(completion(0, step), `"tool_calls":[`, `"tool_calls":[{"id":"odd","type":"custom","custom":{"name":"case_open","input":"{\"customer\":\"Bob\"}"}},`, 1),
			`"tool_call_id":"odd"`},
	} {
		desk := wiretest.NewDesk(t)
		server := wiretest.Serve(t, c.body, apis[n].write(1, done))
		model, err := apis[n].model(dialect.OpenAI, client(server), desk.Registry)
		if err != nil {
			t.Fatal(err)
		}
		var results []models.Result
		loop := models.Loop{Run: desk.Run, Model: model, MaxTurns: 2, Saw: func(m models.Message) { results = append(results, m.Results...) }}
		_, _ = loop.Do(t.Context(), wiretest.Request) // the case stays open
		if len(results) != 2 || !results[0].IsError || !strings.Contains(results[0].Text, "custom tool") || results[1].IsError {
			t.Errorf("%v", results)
		}
		if len(server.Sent) < 2 || !strings.Contains(server.Sent[1], c.answered) {
			t.Fatalf("the call has no result: %v", server.Sent)
		}
		if own := strings.Contains(server.Sent[1], `"type":"custom_tool_call_output"`); own != (n == 0) {
			t.Errorf("the form of the result: %s", server.Sent[1])
		}
		if n := desk.Run.Status().Invocations["case_open"]; n != 1 {
			t.Errorf("%d invocations", n)
		}
	}
}

// TestCustomCallsOfOneID: of calls with one id, the results are told apart by their positions.
func TestCustomCallsOfOneID(t *testing.T) {
	for _, id := range []string{"odd", ""} {
		step := wiretest.Calls("case_open", `{"customer":"Ida"}`)
		step.IDs = []string{id}
		custom := fmt.Sprintf(`{"type":"custom_tool_call","id":"ct","call_id":%q,"name":"case_open","input":"{\"customer\":\"Bob\"}"}`, id)
		whole := response(0, step)
		end := strings.LastIndex(whole, "]}")
		desk := wiretest.NewDesk(t)
		server := wiretest.Serve(t, whole[:end]+","+custom+whole[end:], response(1, wiretest.Step{Text: "Done."}))
		model, err := apis[0].model(dialect.OpenAI, client(server), desk.Registry)
		if err != nil {
			t.Fatal(err)
		}
		var results []models.Result
		loop := models.Loop{Run: desk.Run, Model: model, MaxTurns: 2, Saw: func(m models.Message) { results = append(results, m.Results...) }}
		_, _ = loop.Do(t.Context(), wiretest.Request) // the case stays open
		if len(results) != 2 || results[0].IsError || !strings.Contains(results[1].Text, "custom tool") {
			t.Fatalf("%v", results)
		}
		answered := server.Sent[1]
		first, second := strings.Index(answered, `"type":"function_call_output"`), strings.Index(answered, `"type":"custom_tool_call_output"`)
		if first < 0 || second < first {
			t.Errorf("the results are\n%s", answered)
		}
		for _, r := range results {
			if r.ID == "" || strings.Count(answered, `"call_id":`+wiretest.Quote(r.ID)) < 2 {
				t.Errorf("the result %q answers no call:\n%s", r.ID, answered)
			}
		}
	}
}
