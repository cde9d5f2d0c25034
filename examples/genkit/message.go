package genkit

import (
	"context"
	"crypto/rand"
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
// of other tools that the model was told of stay as they are.
func (b *Bridge) enclose(m *ai.Message, told []*ai.ToolDefinition) (*ai.Message, []runtime.Call) {
	out := *m
	out.Content = slices.Clone(m.Content)
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
		if request.Ref == "" {
			request.Ref = rand.Text()
		}
		e := envelope{request.Ref, request.Name, request.Input}
		if !ours {
			request.Name = unknown
		}
		if input, err := models.Input(e.Arguments); err == nil { // run refuses the others
			calls = append(calls, b.tools.Call(e.Call, e.Tool, input))
		}
		request.Input = map[string]any{"call": e.Call, "tool": e.Tool, "arguments": e.Arguments}
		enclosed := *part
		enclosed.ToolRequest = &request
		out.Content[i] = &enclosed
	}
	return &out, calls
}

// opening returns messages with the calls as the model made them, and under their names.
func opening(messages []*ai.Message) []*ai.Message {
	out := slices.Clone(messages)
	names := map[string]string{}
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
				names[e.Call] = e.Tool
				changed.ToolRequest = &ai.ToolRequest{Name: e.Tool, Ref: part.ToolRequest.Ref, Input: e.Arguments}
			case part.IsToolResponse() && names[part.ToolResponse.Ref] != "":
				response := *part.ToolResponse
				response.Name = names[response.Ref]
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
