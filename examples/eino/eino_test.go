package eino_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/ambit-tools/ambit/examples/eino"
	"github.com/ambit-tools/ambit/internal/wiretest"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/engine"
)

// A script is a model that says its lines, and keeps what it is told.
type script struct {
	steps   []wiretest.Step
	stream  bool // the runner asks for streams
	streams int
	said    int
	lost    int                 // the answer that gets lost, by its number; 0: none
	told    []*schema.Message   // in the last request
	all     [][]*schema.Message // in each request
	tools   []*schema.ToolInfo
}

func (s *script) Generate(_ context.Context, input []*schema.Message, options ...model.Option) (*schema.Message, error) {
	s.told, s.all = input, append(s.all, input)
	if tools := model.GetCommonOptions(nil, options...).Tools; tools != nil {
		s.tools = tools
	}
	if s.lost > 0 && s.lost == s.said {
		s.said++
		return nil, errLost
	}
	step := wiretest.Step{Text: "Bye."}
	if s.said < len(s.steps) {
		step = s.steps[s.said]
	}
	var calls []schema.ToolCall
	for i, c := range step.Calls {
		calls = append(calls, schema.ToolCall{ID: step.ID(i, fmt.Sprintf("call_%d_%d", s.said, i)), Type: "function", Function: schema.FunctionCall{Name: c.Tool, Arguments: c.Args}})
	}
	s.said++
	return schema.AssistantMessage(step.Text, calls), nil
}

func (s *script) Stream(ctx context.Context, input []*schema.Message, options ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	m, err := s.Generate(ctx, input, options...)
	if err != nil {
		return nil, err
	}
	s.streams++
	parts := []*schema.Message{schema.AssistantMessage(m.Content, nil)}
	for i, c := range m.ToolCalls { // the arguments in parts
		head, tail := c, schema.ToolCall{Index: &i}
		head.Index = &i
		half := len(c.Function.Arguments) / 2
		head.Function.Arguments, tail.Function.Arguments = c.Function.Arguments[:half], c.Function.Arguments[half:]
		parts = append(parts, schema.AssistantMessage("", []schema.ToolCall{head}), schema.AssistantMessage("", []schema.ToolCall{tail}))
	}
	return schema.StreamReaderFromArray(parts), nil
}

func (s *script) WithTools(tools []*schema.ToolInfo) (model.ToolCallingChatModel, error) {
	s.tools = tools
	return s, nil
}

var errLost = errors.New("the answer got lost")

// store keeps checkpoints in memory.
type store struct{ sync.Map }

func (s *store) Get(_ context.Context, id string) ([]byte, bool, error) {
	v, ok := s.Load(id)
	if !ok {
		return nil, false, nil
	}
	return v.([]byte), true, nil
}

func (s *store) Set(_ context.Context, id string, checkpoint []byte) error {
	s.Store(id, checkpoint)
	return nil
}

// work lets an agent with the tools of a desk answer a conversation, and answers its interrupts.
func work(t *testing.T, desk *wiretest.Desk, m *script, answer action.Answer) (interrupts int) {
	t.Helper()
	turn := desk.Run.Turn(engine.TurnConfig{})
	bridge := eino.Bridge{Executor: desk.Executor, Turn: func() *engine.Turn { return turn }}
	config, err := bridge.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	agent, err := adk.NewChatModelAgent(t.Context(), &adk.ChatModelAgentConfig{Name: "desk", Description: "works", Model: bridge.Model(m), ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: config}})
	if err != nil {
		t.Fatal(err)
	}
	runner := adk.NewRunner(t.Context(), adk.RunnerConfig{Agent: agent, EnableStreaming: m.stream, CheckPointStore: new(store)})
	said := []adk.Message{schema.UserMessage(wiretest.Request)}
	for turns := 0; ; turns++ {
		lost := false
		id := fmt.Sprint("conversation-", turns)
		events := runner.Run(t.Context(), said, adk.WithCheckPointID(id))
		for events != nil {
			targets := map[string]any{}
			for event, ok := events.Next(); ok; event, ok = events.Next() {
				if m.lost > 0 && errors.Is(event.Err, errLost) {
					lost = true
					continue
				}
				if event.Err != nil {
					t.Fatal(event.Err)
				}
				if event.Action == nil || event.Action.Interrupted == nil {
					continue
				}
				for _, at := range event.Action.Interrupted.InterruptContexts {
					if at.IsRootCause {
						asked, found := request(desk.Executor, fmt.Sprint(at.Info))
						if !found || asked != "refund" {
							t.Errorf("the interrupt is about %v, %q", at.Info, asked)
						}
						targets[at.ID] = answer
						interrupts++
					}
				}
			}
			events = nil
			if len(targets) > 0 {
				if events, err = runner.ResumeWithParams(t.Context(), id, &adk.ResumeParams{Targets: targets}); err != nil {
					t.Fatal(err)
				}
			}
		}
		if lost {
			continue // the program asks again
		}
		reminder := desk.Run.ModelStopped(t.Context()).Reminder
		if reminder == "" || turns > 5 {
			return interrupts
		}
		said = append(m.told[1:len(m.told):len(m.told)], schema.AssistantMessage("Done.", nil), schema.UserMessage(reminder))
	}
}

// request returns the tool of an open request.
func request(e *engine.Executor, id string) (tool string, found bool) {
	for _, r := range e.Requests() {
		if r.ID == id {
			return r.Tool, true
		}
	}
	return "", false
}

func TestConversation(t *testing.T) {
	desk := wiretest.NewPolledDesk(t)
	m := &script{steps: wiretest.Script}
	if n := work(t, desk, m, action.Answer{By: runtime.ProgramActor("manager"), Approve: true}); n != 1 {
		t.Errorf("%d interrupts", n)
	}
	desk.CheckEnd(t, desk.Run.Status())
	schemas := 0
	for _, info := range m.tools {
		s, err := info.ToJSONSchema()
		if err != nil {
			t.Fatal(err)
		}
		if s.Properties != nil && len(s.Required) > 0 {
			schemas++
		}
	}
	if schemas != desk.Registry.Len() {
		t.Errorf("the model is told of %d tools with inputs", schemas)
	}
}

// TestStreamed: the conversation is the same when the answers come as streams, with arguments in parts.
func TestStreamed(t *testing.T) {
	desk := wiretest.NewPolledDesk(t)
	m := &script{steps: wiretest.Script, stream: true}
	work(t, desk, m, action.Answer{By: runtime.ProgramActor("manager"), Approve: true})
	if m.streams < len(wiretest.Script) {
		t.Errorf("%d streams", m.streams)
	}
	desk.CheckEnd(t, desk.Run.Status())
}

// TestRetry: a call of a message that is asked for again, because its results got lost, does not run again.
func TestRetry(t *testing.T) {
	desk := wiretest.NewPolledDesk(t)
	opened := wiretest.Calls("case_open", `{"customer":"Ida"}`)
	m := &script{steps: []wiretest.Step{opened, {}, opened}, lost: 1}
	work(t, desk, m, action.Answer{})
	told := ""
	for _, said := range m.told {
		told += said.Content
	}
	if !strings.Contains(told, `{"outcome":"completed","output":{"case":1}}`) {
		t.Error(told)
	}
	if n := desk.Run.Status().Invocations["case_open"]; n != 1 {
		t.Errorf("%d invocations", n)
	}
}

// TestIDsThatRepeat: ids of the provider that begin again with each message, come twice in one or are empty name calls in their
// message. Each call runs, in another conversation too, and the provider sees its own ids, or those in the place of none.
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
	for _, streamed := range []bool{false, true} {
		var err error
		if desk.Run, err = desk.Executor.Session(engine.SessionConfig{ID: "s", Principal: "agent"}).StartRun(t.Context(), engine.RunConfig{}); err != nil {
			t.Fatal(err)
		}
		m := &script{steps: []wiretest.Step{opened, find("call_0"), find("call_0"), find("x", "x"), find("", "")}, stream: streamed}
		work(t, desk, m, action.Answer{})
		if n := desk.Run.Status().Invocations["order_find"]; n != 6 {
			t.Errorf("%d invocations", n)
		}
		made, answered := map[string]int{}, map[string]int{}
		for _, said := range m.all[len(m.steps)] {
			for _, c := range said.ToolCalls {
				made[c.ID]++
			}
			if said.Role == schema.Tool {
				answered[said.ToolCallID]++
			}
		}
		if made["call_0"] != 3 || made["x"] != 2 || len(made) != 4 || made[""] > 0 || !maps.Equal(made, answered) {
			t.Errorf("the provider is told of %v, and of results of %v", made, answered)
		}
	}
}

// TestNo: the model is told that the manager said no, and nothing ran.
func TestNo(t *testing.T) {
	desk := wiretest.NewPolledDesk(t)
	m := &script{steps: wiretest.Script[:2]}
	work(t, desk, m, action.Answer{By: runtime.ProgramActor("manager"), Message: "offer a voucher"})
	last := ""
	for _, said := range m.told {
		last += said.Content
	}
	if !strings.Contains(last, `"reason":"consent_denied"`) || !strings.Contains(last, "offer a voucher") {
		t.Error(last)
	}
	if slices.Contains(desk.Run.Status().Succeeded, "refund") {
		t.Error("the money was given back")
	}
}

// TestBadJSON: arguments that are not JSON reach the decoder, which refuses them.
func TestBadJSON(t *testing.T) {
	desk := wiretest.NewPolledDesk(t)
	m := &script{steps: []wiretest.Step{wiretest.Calls("case_open", `{"customer":"Ida"`)}}
	work(t, desk, m, action.Answer{})
	told := ""
	for _, said := range m.told {
		told += said.Content
	}
	if got := desk.Journal(t); !strings.Contains(told, `"reason":"invalid_input"`) || got != "case_open: invoked denied invalid_input\n" {
		t.Errorf("%s\n%s", told, got)
	}
}

// TestDigitsStay: a number that no float64 has reaches the decoder as the model wrote it.
func TestDigitsStay(t *testing.T) {
	desk := wiretest.NewPolledDesk(t)
	m := &script{steps: []wiretest.Step{wiretest.Calls("refund", `{"order":"1017","cents":9007199254740993}`)}}
	work(t, desk, m, action.Answer{})
	told := ""
	for _, said := range m.told {
		told += said.Content
	}
	if !strings.Contains(told, "9007199254740993") || !strings.Contains(told, "invalid_input") {
		t.Error(told)
	}
}
