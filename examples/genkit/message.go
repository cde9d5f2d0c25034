package genkit

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"github.com/firebase/genkit/go/ai"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/models"
)

// An envelope is a call as Genkit sees it.
type envelope struct {
	Call      string `json:"call"` // its id
	Ref       string `json:"ref"`  // that of the model
	Tool      string `json:"tool"` // as the model named it
	Arguments any    `json:"arguments"`
}

// opened returns the envelope that a tool was called with.
func opened(in any) (envelope, error) {
	var e envelope
	text, err := json.Marshal(in)
	if err == nil {
		err = json.Unmarshal(text, &e)
	}
	if err != nil || e.Call == "" {
		return e, errors.New("the call did not come through Bridge.Middleware")
	}
	return e, nil
}

// published returns the definitions with the schemas that the model is told.
func (b *Bridge) published(tools []*ai.ToolDefinition) []*ai.ToolDefinition {
	var out []*ai.ToolDefinition
	for _, t := range tools {
		d, ours := b.tools.Lookup(t.Name)
		switch {
		case ours:
			told := *t
			told.InputSchema = d.Members()
			out = append(out, &told)
		case t.Name != unknown:
			out = append(out, t)
		}
	}
	return out
}

// enclose puts the calls of a message into envelopes, and returns those that the executor makes. Calls
// of other tools that the model was told of stay as they are. number is that of the message in the conversation.
func (b *Bridge) enclose(number int, m *ai.Message, told []*ai.ToolDefinition) (*ai.Message, []runtime.Call) {
	out := *m
	out.Content = slices.Clone(m.Content)
	all := make([]runtime.Call, len(m.Content)) // by the positions of the parts
	inexact := map[int]bool{}
	for i, part := range m.Content {
		if part.IsToolRequest() {
			input, err := models.Input(part.ToolRequest.Input)
			all[i] = b.tools.Call(part.ToolRequest.Ref, part.ToolRequest.Name, input)
			inexact[i] = err != nil
		}
	}
	b.mu.Lock()
	all = b.ids.Own(number, all)
	b.mu.Unlock()
	var calls []runtime.Call
	for i, part := range m.Content {
		if !part.IsToolRequest() {
			continue
		}
		request := *part.ToolRequest
		_, ours := b.tools.Lookup(request.Name)
		if !ours && slices.ContainsFunc(told, func(t *ai.ToolDefinition) bool { return t.Name == request.Name }) {
			continue
		}
		if !inexact[i] { // run refuses the others
			calls = append(calls, all[i])
		}
		request.Input = map[string]any{"call": all[i].ID, "ref": all[i].ProviderID, "tool": request.Name, "arguments": request.Input}
		request.Ref = all[i].ID
		if !ours {
			request.Name = unknown
		}
		enclosed := *part
		enclosed.ToolRequest = &request
		out.Content[i] = &enclosed
	}
	return &out, calls
}

// opening returns messages with the calls as the model made them, and under their ids and names.
func opening(messages []*ai.Message) []*ai.Message {
	out := slices.Clone(messages)
	made := map[string]envelope{}
	for i, m := range messages {
		told := *m
		told.Content = slices.Clone(m.Content)
		for k, part := range m.Content {
			changed := *part
			switch {
			case part.IsToolRequest():
				e, err := opened(part.ToolRequest.Input)
				if err != nil {
					continue
				}
				made[e.Call] = e
				changed.ToolRequest = &ai.ToolRequest{Name: e.Tool, Ref: e.Ref, Input: e.Arguments}
			case part.IsToolResponse() && made[part.ToolResponse.Ref].Tool != "":
				response := *part.ToolResponse
				response.Name, response.Ref = made[response.Ref].Tool, made[response.Ref].Ref
				changed.ToolResponse = &response
			default:
				continue
			}
			told.Content[k] = &changed
		}
		out[i] = &told
	}
	return out
}

// A batch holds the calls of the last message of the model. The first that Genkit comes to makes all of
// them.
type batch struct {
	mu       sync.Mutex
	together func(context.Context) map[string]runtime.Outcome
}

// hold enters the calls of a message in the place of those before.
func (b *batch) hold(turn *engine.Turn, calls []runtime.Call) {
	var once sync.Once
	outcomes := map[string]runtime.Outcome{}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.together = func(ctx context.Context) map[string]runtime.Outcome {
		once.Do(func() {
			for i, out := range turn.ExecuteBatch(ctx, calls, engine.Parallel) {
				outcomes[calls[i].ID] = out
			}
		})
		return outcomes
	}
}

// outcome returns the outcome of a call of the message.
func (b *batch) outcome(ctx context.Context, id string) (runtime.Outcome, bool) {
	b.mu.Lock()
	together := b.together
	b.mu.Unlock()
	if together == nil {
		return runtime.Outcome{}, false
	}
	out, ok := together(ctx)[id]
	return out, ok
}
