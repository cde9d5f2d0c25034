package adk_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model/gemini"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool/toolconfirmation"
	"google.golang.org/genai"

	"github.com/ambit-tools/ambit/examples/adk"
	"github.com/ambit-tools/ambit/internal/wiretest"
	"github.com/ambit-tools/ambit/runtime/engine"
)

// answer writes a step as Gemini answers with: without ids.
func answer(_ int, s wiretest.Step) string { return body(s, func(int) string { return "" }) }

// identified is answer with ids.
func identified(n int, s wiretest.Step) string {
	return body(s, func(i int) string { return fmt.Sprintf(`"id":"call_%d_%d",`, n, i) })
}

// streamed writes a step as a stream: each call is in a part of its own.
func streamed(n int, s wiretest.Step) string {
	var b strings.Builder
	for _, c := range s.Calls {
		b.WriteString("data: " + strings.Replace(answer(n, wiretest.Step{Calls: []wiretest.Call{c}}), `,"finishReason":"STOP"`, "", 1) + "\n\n")
	}
	b.WriteString("data: " + answer(n, wiretest.Step{Text: s.Text}) + "\n\n")
	return b.String()
}

func body(s wiretest.Step, id func(i int) string) string {
	var parts []string
	if s.Text != "" {
		parts = append(parts, `{"text":`+wiretest.Quote(s.Text)+`}`)
	}
	for i, c := range s.Calls {
		parts = append(parts, fmt.Sprintf(`{"functionCall":{%s"name":%s,"args":%s}}`, id(i), wiretest.Quote(c.Tool), c.Args))
	}
	return fmt.Sprintf(`{"candidates":[{"content":{"role":"model","parts":[%s]},"finishReason":"STOP"}]}`, strings.Join(parts, ","))
}

// A talk is a conversation of an agent with the tools of a desk.
type talk struct {
	desk      *wiretest.Desk
	server    *wiretest.Server
	confirmed int
}

// work lets the agent answer at a desk of its own, and the user confirms or not what it asks.
func work(t *testing.T, user string, confirm bool, steps ...wiretest.Step) *talk {
	t.Helper()
	return workAt(t, wiretest.NewPolledDesk(t), answer, user, confirm, steps...)
}

// workAt is work at a desk, with answers in a form.
func workAt(t *testing.T, desk *wiretest.Desk, write func(int, wiretest.Step) string, user string, confirm bool, steps ...wiretest.Step) *talk {
	t.Helper()
	var bodies []string
	for n, s := range append(slices.Clone(steps), wiretest.Step{Text: "Bye."}) {
		bodies = append(bodies, write(n, s))
	}
	c := &talk{desk: desk, server: wiretest.Serve(t, bodies...)}
	config := agent.RunConfig{}
	if strings.HasPrefix(bodies[0], "data:") {
		config.StreamingMode = agent.StreamingModeSSE
	}
	model, err := gemini.NewModel(t.Context(), "m", &genai.ClientConfig{APIKey: "none", Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: c.server.URL}})
	if err != nil {
		t.Fatal(err)
	}
	turn := c.desk.Run.Turn(engine.TurnConfig{})
	bridge := adk.Bridge{Executor: c.desk.Executor, Turn: func() *engine.Turn { return turn }}
	tools, err := bridge.Tools()
	if err != nil {
		t.Fatal(err)
	}
	worker, err := llmagent.New(llmagent.Config{Name: "desk", Model: model, Tools: tools, OnToolErrorCallbacks: []llmagent.OnToolErrorCallback{bridge.OnError}})
	if err != nil {
		t.Fatal(err)
	}
	sessions := session.InMemoryService()
	if _, err := sessions.Create(t.Context(), &session.CreateRequest{AppName: "app", UserID: user, SessionID: "s"}); err != nil {
		t.Fatal(err)
	}
	r, err := runner.New(runner.Config{Agent: worker, SessionService: sessions, AppName: "app"})
	if err != nil {
		t.Fatal(err)
	}
	for message := genai.NewContentFromText(wiretest.Request, genai.RoleUser); message != nil; {
		var answers []*genai.Part
		for event, err := range r.Run(adk.InOrder(t.Context()), user, "s", message, config) {
			if err != nil {
				t.Fatal(err)
			}
			if event.Content != nil {
				answers = append(answers, c.answers(t, event.Content, confirm)...)
			}
		}
		message = nil
		if len(answers) > 0 && c.confirmed < 5 {
			message = &genai.Content{Role: genai.RoleUser, Parts: answers}
		} else if text := c.desk.Run.ModelStopped(t.Context()).Reminder; text != "" && len(c.server.Sent) < len(bodies) {
			message = genai.NewContentFromText(text, genai.RoleUser)
		}
	}
	return c
}

// answers answers the confirmations that a message of the agent asks for.
func (c *talk) answers(t *testing.T, content *genai.Content, confirm bool) (out []*genai.Part) {
	for _, part := range content.Parts {
		if part.FunctionCall == nil || part.FunctionCall.Name != toolconfirmation.FunctionCallName {
			continue
		}
		c.confirmed++
		asked := part.FunctionCall.Args["toolConfirmation"].(toolconfirmation.ToolConfirmation)
		requests := c.desk.Executor.Requests()
		if len(requests) != 1 || asked.Payload.(map[string]any)["request"] != requests[0].ID || asked.Hint == "" {
			t.Errorf("the confirmation is about %v, the requests are %v", asked, requests)
		}
		out = append(out, &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: part.FunctionCall.ID, Name: part.FunctionCall.Name, Response: map[string]any{"confirmed": confirm}}})
	}
	return out
}

func TestConversation(t *testing.T) {
	c := work(t, "manager", true, wiretest.Script...)
	if c.confirmed != 1 {
		t.Errorf("%d confirmations", c.confirmed)
	}
	c.desk.CheckEnd(t, c.desk.Run.Status())
	for n, want := range map[int][]string{
		0: {`"parametersJsonSchema":{"additionalProperties":false`, `"case_open"`, wiretest.Request},
		1: {`"response":{"output":{`, `"response":{"error":{`, `"reason":"prerequisite_missing"`},
		2: {`"refunded":4900`},
		3: {`"reason":"unknown_tool"`, `"artifact":{`, `"reason":"invalid_input"`},
		4: {`the run cannot end yet: call case_close first`},
	} {
		for _, text := range want {
			if !strings.Contains(c.server.Sent[n], text) {
				t.Errorf("request %d has no %s:\n%s", n, text, c.server.Sent[n])
			}
		}
	}
}

// TestStreamed: the conversation is the same when the answers come as streams.
func TestStreamed(t *testing.T) {
	c := workAt(t, wiretest.NewPolledDesk(t), streamed, "manager", true, wiretest.Script...)
	if c.confirmed != 1 {
		t.Errorf("%d confirmations", c.confirmed)
	}
	c.desk.CheckEnd(t, c.desk.Run.Status())
}

// TestRetry: a call that comes again under the id that Gemini gave it, because its results got lost, does not run
// again. Where Gemini gives none the ADK makes one, another one each time.
func TestRetry(t *testing.T) {
	for runs, write := range map[int]func(int, wiretest.Step) string{1: identified, 2: answer} {
		desk := wiretest.NewPolledDesk(t)
		for range 2 {
			c := workAt(t, desk, write, "manager", true, wiretest.Calls("case_open", `{"customer":"Ida"}`), wiretest.Calls("order_find", `{"order":"1017"}`))
			if !strings.Contains(c.server.Sent[2], `"output":{"paid":4900,"refunded":0}`) {
				t.Error(c.server.Sent[2])
			}
		}
		if n := desk.Run.Status().Invocations["order_find"]; n != runs {
			t.Errorf("%d invocations, want %d", n, runs)
		}
	}
}

// TestNo: a call that was not confirmed does not run, nor does one that a user confirms who may not.
func TestNo(t *testing.T) {
	for user, confirm := range map[string]bool{"manager": false, "agent": true} {
		c := work(t, user, confirm, wiretest.Script[:2]...)
		if c.confirmed == 0 || slices.Contains(c.desk.Run.Status().Succeeded, "refund") {
			t.Errorf("%s: %d confirmations, %v", user, c.confirmed, c.desk.Run.Status())
		}
		if sent := c.server.Sent[len(c.server.Sent)-1]; confirm != !strings.Contains(sent, `"reason":"consent_denied"`) {
			t.Errorf("%s: %s", user, sent)
		}
	}
}

// TestLostDigits: a number that the SDK has rounded is refused by name.
func TestLostDigits(t *testing.T) {
	c := work(t, "manager", true, wiretest.Calls("refund", `{"order":"1017","cents":9007199254740993}`))
	if sent := c.server.Sent[1]; !strings.Contains(sent, `"reason":"invalid_input"`) || !strings.Contains(sent, `/cents: the number 9007199254740992 may have lost digits`) {
		t.Error(sent)
	}
	if n := c.desk.Run.Status().Invocations["refund"]; n != 0 {
		t.Errorf("refund was called %d times", n)
	}
}
