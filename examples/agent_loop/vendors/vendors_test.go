package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"

	"github.com/ambit-tools/ambit/examples/agent_loop/agent"
	"github.com/ambit-tools/ambit/runtime"
)

// calls is what the stand-in for a model does, a message each.
var calls = [][]string{
	{"case_open", `{"customer":"Ida"}`},
	{"reply", `{"text":"Done."}`},
	{"case_close", `{"note":"nothing"}`},
}

// serve answers with one message after the other, and keeps what it was sent.
func serve(t *testing.T, message func(id int, tool, input string) string) (url string, sent *[]string) {
	sent = new([]string)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		n := len(*sent)
		*sent = append(*sent, string(body))
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, message(n, calls[n][0], calls[n][1]))
	}))
	t.Cleanup(server.Close)
	return server.URL, sent
}

// drive lets a model work and returns what the loop printed.
func drive(t *testing.T, model func(*runtime.Registry) (agent.Model, error)) string {
	t.Helper()
	exec, err := agent.Setup()
	if err != nil {
		t.Fatal(err)
	}
	m, err := model(exec.Registry())
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	session := exec.Session(engine.SessionConfig{Principal: "agent"})
	job, err := session.StartRun(ctx, engine.RunConfig{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	loop := agent.Loop{Session: session, Run: job, Model: m, Out: &out}
	if err := loop.Do(ctx, request); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func check(t *testing.T, printed string, sent []string) {
	t.Helper()
	if !strings.HasSuffix(printed, "the run is finished\n") {
		t.Errorf("the run did not finish:\n%s", printed)
	}
	if len(sent) != len(calls) {
		t.Fatalf("%d requests, want %d", len(sent), len(calls))
	}
	for _, want := range []string{`"case_open"`, `"additionalProperties":false`, `"maxLength":80`, request} {
		if !strings.Contains(sent[0], want) {
			t.Errorf("the first request has no %s:\n%s", want, sent[0])
		}
	}
	if !strings.Contains(sent[1], `\"outcome\":\"completed\"`) {
		t.Errorf("the second request does not tell how the call went:\n%s", sent[1])
	}
}

func text(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func TestClaude(t *testing.T) {
	url, sent := serve(t, func(id int, tool, input string) string {
		return fmt.Sprintf(`{"id":"m%d","type":"message","role":"assistant","model":"x","stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1},
			"content":[{"type":"text","text":"Let me see."},{"type":"tool_use","id":"t%d","name":%s,"input":%s}]}`, id, id, text(tool), input)
	})
	printed := drive(t, func(reg *runtime.Registry) (agent.Model, error) {
		return newClaude(anthropic.NewClient(anthropicoption.WithBaseURL(url), anthropicoption.WithAPIKey("none")), "", reg)
	})
	check(t, printed, *sent)
}

func TestGPT(t *testing.T) {
	url, sent := serve(t, func(id int, tool, input string) string {
		return fmt.Sprintf(`{"id":"m%d","object":"chat.completion","model":"x","choices":[{"index":0,"finish_reason":"tool_calls","message":
			{"role":"assistant","content":null,"tool_calls":[{"id":"t%d","type":"function","function":{"name":%s,"arguments":%s}}]}}]}`, id, id, text(tool), text(input))
	})
	printed := drive(t, func(reg *runtime.Registry) (agent.Model, error) {
		return newGPT(openai.NewClient(openaioption.WithBaseURL(url), openaioption.WithAPIKey("none")), "", reg)
	})
	check(t, printed, *sent)
}
