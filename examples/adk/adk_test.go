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
	return body(s, func(i int) string {
		if id := s.ID(i, fmt.Sprintf("call_%d_%d", n, i)); id != "" {
			return `"id":` + wiretest.Quote(id) + `,`
		}
		return ""
	})
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
	user      string
	runner    *runner.Runner
	sessions  session.Service
	at        string // the session
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
	c := newTalk(t, desk, user, bodies...)
	c.session(t, "s")
	config := agent.RunConfig{}
	if strings.HasPrefix(bodies[0], "data:") {
		config.StreamingMode = agent.StreamingModeSSE
	}
	for text := wiretest.Request; text != ""; {
		if err := c.say(t, confirm, config, genai.NewContentFromText(text, genai.RoleUser)); err != nil {
			t.Fatal(err)
		}
		if text = c.desk.Run.ModelStopped(t.Context()).Reminder; len(c.server.Sent) >= len(bodies) {
			return c
		}
	}
	return c
}

// newTalk returns a conversation at a desk, in which the model answers with bodies.
func newTalk(t *testing.T, desk *wiretest.Desk, user string, bodies ...string) *talk {
	t.Helper()
	c := &talk{desk: desk, server: wiretest.Serve(t, bodies...), user: user, sessions: session.InMemoryService()}
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
	worker, err := llmagent.New(llmagent.Config{Name: "desk", Model: bridge.Model(model), Tools: tools, OnToolErrorCallbacks: []llmagent.OnToolErrorCallback{bridge.OnError}})
	if err != nil {
		t.Fatal(err)
	}
	if c.runner, err = runner.New(runner.Config{Agent: worker, SessionService: c.sessions, AppName: "app"}); err != nil {
		t.Fatal(err)
	}
	return c
}

// session begins a session of the ADK.
func (c *talk) session(t *testing.T, id string) {
	t.Helper()
	if _, err := c.sessions.Create(t.Context(), &session.CreateRequest{AppName: "app", UserID: c.user, SessionID: id}); err != nil {
		t.Fatal(err)
	}
	c.at = id
}

// say tells the agent something, and answers its confirmations.
func (c *talk) say(t *testing.T, confirm bool, config agent.RunConfig, message *genai.Content) error {
	t.Helper()
	for message != nil {
		var answers []*genai.Part
		for event, err := range c.runner.Run(adk.InOrder(t.Context()), c.user, c.at, message, config) {
			if err != nil {
				return err
			}
			if event.Content != nil {
				answers = append(answers, c.answers(t, event.Content, confirm)...)
			}
		}
		if message = nil; len(answers) > 0 && c.confirmed < 5 {
			message = &genai.Content{Role: genai.RoleUser, Parts: answers}
		}
	}
	return nil
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

// TestRetry: a call of a message that is asked for again, because its results got lost, does not run again, with or without an
// id of Gemini.
func TestRetry(t *testing.T) {
	for _, write := range []func(int, wiretest.Step) string{identified, answer} {
		opened := wiretest.Calls("case_open", `{"customer":"Ida"}`)
		c := newTalk(t, wiretest.NewPolledDesk(t), "manager", write(0, opened), "{"+wiretest.Cut, write(2, opened), write(3, wiretest.Step{Text: "Bye."}))
		c.session(t, "lost")
		if err := c.say(t, true, agent.RunConfig{}, genai.NewContentFromText(wiretest.Request, genai.RoleUser)); err == nil {
			t.Fatal("the answer was there")
		}
		c.session(t, "again")
		if err := c.say(t, true, agent.RunConfig{}, genai.NewContentFromText(wiretest.Request, genai.RoleUser)); err != nil {
			t.Fatal(err)
		}
		if n := c.desk.Run.Status().Invocations["case_open"]; n != 1 || !strings.Contains(c.server.Sent[3], `"output":{"case":1}`) {
			t.Errorf("%d invocations: %s", n, c.server.Sent[3])
		}
	}
}

// TestIDsThatRepeat: ids of the provider that begin again with each message, come twice in one or are empty name calls in their
// message. Each call runs, in another conversation too, and the provider sees its own ids.
func TestIDsThatRepeat(t *testing.T) {
	find := func(ids ...string) wiretest.Step {
		s := wiretest.Step{IDs: ids}
		for range ids {
			s.Calls = append(s.Calls, wiretest.Call{Tool: "order_find", Args: `{"order":"1017"}`})
		}
		return s
	}
	opened := wiretest.Calls("case_open", `{"customer":"Ida"}`)
	opened.IDs = []string{"call_0"}
	desk := wiretest.NewPolledDesk(t)
	for range 2 {
		var err error
		if desk.Run, err = desk.Executor.Session(engine.SessionConfig{ID: "s", Principal: "agent"}).StartRun(t.Context(), engine.RunConfig{}); err != nil {
			t.Fatal(err)
		}
		c := workAt(t, desk, identified, "manager", true, opened, find("call_0"), find("call_0"), find("x", "x"), find("", ""))
		if n := desk.Run.Status().Invocations["order_find"]; n != 6 {
			t.Errorf("%d invocations", n)
		}
		sent := c.server.Sent[5]
		if a, b := strings.Count(sent, `"id":"call_0"`), strings.Count(sent, `"id":"x"`); a != 6 || b != 4 {
			t.Errorf("%d and %d ids:\n%s", a, b, sent)
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
