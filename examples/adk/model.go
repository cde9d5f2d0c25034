package adk

import (
	"context"
	"iter"
	"slices"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/models"
)

// Model returns a model whose calls have ids of their own (models.Conversation): those of a provider may repeat or be empty.
// The provider sees its own ids again. A bridge is for one conversation.
func (b *Bridge) Model(inner model.LLM) model.LLM { return &identified{inner, b} }

// An identified model gives its calls ids.
type identified struct {
	model.LLM
	bridge *Bridge
}

// GenerateContent implements model.LLM. The ADK makes no calls of partial answers: they stay as they are.
func (m *identified) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	told := *req
	told.Contents = m.bridge.told(req.Contents)
	return func(yield func(*model.LLMResponse, error) bool) {
		var before []runtime.Call // of the answer
		for answer, err := range m.LLM.GenerateContent(ctx, &told, stream) {
			if err == nil && answer != nil && answer.Content != nil && !answer.Partial {
				own := *answer
				own.Content, before = m.bridge.own(len(req.Contents), answer.Content, before)
				answer = &own
			}
			if !yield(answer, err) {
				return
			}
		}
	}
}

// own returns a part of an answer with its calls under ids of their own, and the calls of the answer so far.
func (b *Bridge) own(number int, c *genai.Content, before []runtime.Call) (*genai.Content, []runtime.Call) {
	calls := slices.Clone(before)
	for _, part := range c.Parts {
		if part == nil {
			continue
		}
		if f := part.FunctionCall; f != nil {
			input, _ := models.Input(f.Args) // run refuses what has no text
			calls = append(calls, runtime.Call{ID: f.ID, Tool: f.Name, Input: input})
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	made := b.ids.Own(number, calls)[len(before):]
	if b.known == nil {
		b.known = map[string]string{}
	}
	return renamed(c, func(f *genai.FunctionCall) {
		b.known[made[0].ID] = f.ID
		f.ID, made = made[0].ID, made[1:]
	}, nil), calls
}

// told returns contents with the calls, and what answers them, under the ids of the provider.
func (b *Bridge) told(contents []*genai.Content) []*genai.Content {
	out := make([]*genai.Content, len(contents))
	for i, c := range contents {
		out[i] = renamed(c, func(f *genai.FunctionCall) { f.ID = b.provider(f.ID) }, func(r *genai.FunctionResponse) { r.ID = b.provider(r.ID) })
	}
	return out
}

// renamed returns a content with copies of its calls and responses, which the functions change.
func renamed(c *genai.Content, call func(*genai.FunctionCall), response func(*genai.FunctionResponse)) *genai.Content {
	if c == nil {
		return nil
	}
	out := *c
	out.Parts = slices.Clone(c.Parts)
	for i, part := range c.Parts {
		if part == nil {
			continue
		}
		changed := *part
		switch {
		case part.FunctionCall != nil && call != nil:
			f := *part.FunctionCall
			call(&f)
			changed.FunctionCall = &f
		case part.FunctionResponse != nil && response != nil:
			r := *part.FunctionResponse
			response(&r)
			changed.FunctionResponse = &r
		}
		out.Parts[i] = &changed
	}
	return &out
}

// provider returns the id under which the provider knows a call: empty where it gave none, and the same for a call of an
// earlier process, which has it in the whole conversation.
func (b *Bridge) provider(id string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if known, ok := b.known[id]; ok {
		return known
	}
	return id
}
