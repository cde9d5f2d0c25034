package genkit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/firebase/genkit/go/ai"
	sdk "github.com/firebase/genkit/go/genkit"

	"github.com/ambit-tools/ambit/examples/genkit"
	"github.com/ambit-tools/ambit/internal/wiretest"
	"github.com/ambit-tools/ambit/runtime/engine"
)

// message writes a step as a model of Genkit answers with: its arguments are decoded.
func message(t *testing.T, n int, s wiretest.Step) *ai.ModelResponse {
	t.Helper()
	m := &ai.Message{Role: ai.RoleModel}
	if s.Text != "" {
		m.Content = append(m.Content, ai.NewTextPart(s.Text))
	}
	for i, c := range s.Calls {
		var input any
		if err := json.Unmarshal([]byte(c.Args), &input); err != nil {
			t.Fatal(err)
		}
		m.Content = append(m.Content, ai.NewToolRequestPart(&ai.ToolRequest{Name: c.Tool, Ref: s.ID(i, fmt.Sprintf("call_%d_%d", n, i)), Input: input}))
	}
	return &ai.ModelResponse{Message: m, FinishReason: ai.FinishReasonStop}
}

var errLost = errors.New("the answer got lost")

// A talk is a conversation of a model with the tools of a desk.
type talk struct {
	desk       *wiretest.Desk
	sent       []string // the requests to the model, as JSON
	lost       int      // the answer to this request of sent gets lost; 0: none
	interrupts int
}

// work lets a scripted model work at a desk of its own, and answers its interrupts.
func work(t *testing.T, by string, approve bool, steps ...wiretest.Step) *talk {
	t.Helper()
	return (&talk{desk: wiretest.NewPolledDesk(t)}).work(t, by, approve, steps...)
}

// work is a conversation of its own at the desk of c. The program asks again when an answer gets lost.
func (c *talk) work(t *testing.T, by string, approve bool, steps ...wiretest.Step) *talk {
	t.Helper()
	c.sent = nil
	g := sdk.Init(t.Context())
	sdk.DefineModel(g, "test/script", &ai.ModelOptions{Supports: &ai.ModelSupports{Tools: true, Multiturn: true}},
		func(_ context.Context, req *ai.ModelRequest, _ ai.ModelStreamCallback) (*ai.ModelResponse, error) {
			text, err := json.Marshal(req)
			if err != nil {
				return nil, err
			}
			n := len(c.sent)
			c.sent = append(c.sent, string(text))
			if n > 0 && n == c.lost {
				return nil, errLost
			}
			resp := message(t, n, wiretest.Step{Text: "Bye."})
			if n < len(steps) {
				resp = message(t, n, steps[n])
			}
			resp.Request = req
			return resp, nil
		})
	turn := c.desk.Run.Turn(engine.TurnConfig{})
	bridge, err := genkit.New(g, c.desk.Executor, func() *engine.Turn { return turn })
	if err != nil {
		t.Fatal(err)
	}
	said := []*ai.Message{ai.NewUserTextMessage(wiretest.Request)}
	var restarts []*ai.Part
	for range 9 {
		options := []ai.GenerateOption{ai.WithModelName("test/script"), ai.WithMessages(said...), ai.WithTools(bridge.Tools()...), ai.WithMiddleware(bridge.Middleware), ai.WithMaxTurns(50)}
		if len(restarts) > 0 {
			options = append(options, ai.WithToolRestarts(restarts...))
		}
		resp, err := sdk.Generate(t.Context(), g, options...)
		if c.lost > 0 && errors.Is(err, errLost) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		said, restarts = resp.History(), nil
		for _, part := range resp.Interrupts() {
			c.interrupts++
			requests := c.desk.Executor.Requests()
			if len(requests) != 1 || part.Metadata["interrupt"].(map[string]any)["request"] != requests[0].ID {
				t.Errorf("the interrupt is %v, the requests are %v", part.Metadata, requests)
			}
			restart, err := bridge.Answer(part, by, approve, "offer a voucher")
			if err != nil {
				t.Fatal(err)
			}
			restarts = append(restarts, restart)
		}
		if len(restarts) > 0 {
			continue
		}
		reminder := c.desk.Run.ModelStopped(t.Context()).Reminder
		if reminder == "" {
			break
		}
		said = append(said, ai.NewUserTextMessage(reminder))
	}
	return c
}

func TestConversation(t *testing.T) {
	c := work(t, "manager", true, wiretest.Script...)
	if c.interrupts != 1 {
		t.Errorf("%d interrupts", c.interrupts)
	}
	c.desk.CheckEnd(t, c.desk.Run.Status())
	for n, want := range map[int][]string{
		0: {`"additionalProperties":false`, `"case_open"`, wiretest.Request},
		1: {`"input":{"customer":"Ida \u003cida@example.com\u003e"}`, `"name":"refund"`, `\"reason\":\"prerequisite_missing\"`},
		2: {`\"refunded\":4900`},
		3: {`"name":"coffee_make"`, `\"reason\":\"unknown_tool\"`, `\"artifact\":{`, `\"reason\":\"invalid_input\"`},
		4: {`the run cannot end yet: call case_close first`},
	} {
		for _, text := range want {
			if !strings.Contains(c.sent[n], text) {
				t.Errorf("request %d has no %s:\n%s", n, text, c.sent[n])
			}
		}
	}
	if last := c.sent[len(c.sent)-1]; strings.Contains(last, `"arguments":`) || strings.Contains(last, `"name":"unknown_tool"`) {
		t.Errorf("the model sees an envelope:\n%s", last)
	}
}

// TestRetry: a call of a message that is asked for again, because its results got lost, does not run again.
func TestRetry(t *testing.T) {
	c := &talk{desk: wiretest.NewPolledDesk(t), lost: 1}
	opened := wiretest.Calls("case_open", `{"customer":"Ida"}`)
	c.work(t, "manager", true, opened, wiretest.Step{}, opened)
	if len(c.sent) < 4 || !strings.Contains(c.sent[3], `{\"outcome\":\"completed\",\"output\":{\"case\":1}}`) {
		t.Error(c.sent)
	}
	if n := c.desk.Run.Status().Invocations["case_open"]; n != 1 {
		t.Errorf("%d invocations", n)
	}
}

// TestIDsThatRepeat: ids of the model that begin again with each message, come twice in one or are empty name calls in their
// message. Each call runs, in another conversation too, and the model sees its own ids.
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
	c := &talk{desk: wiretest.NewPolledDesk(t)}
	for range 2 {
		var err error
		if c.desk.Run, err = c.desk.Executor.Session(engine.SessionConfig{ID: "s", Principal: "agent"}).StartRun(t.Context(), engine.RunConfig{}); err != nil {
			t.Fatal(err)
		}
		c.work(t, "manager", true, opened, find("call_0"), find("call_0"), find("x", "x"), find("", ""))
		if n := strings.Count(c.sent[5], `"ref":"call_0"`) + strings.Count(c.sent[5], `"ref":"x"`); n != 10 {
			t.Errorf("%d ids:\n%s", n, c.sent[5])
		}
		if strings.Contains(c.sent[5], `"ref":""`) || strings.Count(c.sent[5], `"ref":`) != 14 {
			t.Errorf("a call has no id:\n%s", c.sent[5])
		}
		if n := c.desk.Run.Status().Invocations["order_find"]; n != 6 {
			t.Errorf("%d invocations", n)
		}
	}
}

// TestNo: the model is told that the manager said no, and nothing ran.
func TestNo(t *testing.T) {
	c := work(t, "manager", false, wiretest.Script[:2]...)
	if last := c.sent[len(c.sent)-1]; !strings.Contains(last, `\"reason\":\"consent_denied\"`) || !strings.Contains(last, "offer a voucher") {
		t.Error(last)
	}
	if slices.Contains(c.desk.Run.Status().Succeeded, "refund") {
		t.Error("the money was given back")
	}
}

// TestLostDigits: a number that was rounded is refused by name.
func TestLostDigits(t *testing.T) {
	c := work(t, "manager", true, wiretest.Calls("refund", `{"order":"1017","cents":9007199254740993}`))
	if !strings.Contains(c.sent[1], `\"reason\":\"invalid_input\"`) || !strings.Contains(c.sent[1], `/cents: the number 9007199254740992 may have lost digits`) {
		t.Error(c.sent[1])
	}
	if n := c.desk.Run.Status().Invocations["refund"]; n != 0 {
		t.Errorf("refund was called %d times", n)
	}
}
