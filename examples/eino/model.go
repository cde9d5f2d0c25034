package eino

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/ambit-tools/ambit/runtime"
)

// Model returns a model whose calls have ids of their own (models.Conversation): those of a provider may repeat or be empty.
// The provider sees its own ids again. A bridge is for one conversation.
func (b *Bridge) Model(inner model.ToolCallingChatModel) model.ToolCallingChatModel {
	return &identified{inner, b}
}

// An identified model gives its calls ids.
type identified struct {
	inner  model.ToolCallingChatModel
	bridge *Bridge
}

// WithTools implements model.ToolCallingChatModel.
func (m *identified) WithTools(tools []*schema.ToolInfo) (model.ToolCallingChatModel, error) {
	inner, err := m.inner.WithTools(tools)
	if err != nil {
		return nil, err
	}
	return &identified{inner, m.bridge}, nil
}

// Generate implements model.ToolCallingChatModel.
func (m *identified) Generate(ctx context.Context, input []*schema.Message, options ...model.Option) (*schema.Message, error) {
	answer, err := m.inner.Generate(ctx, m.bridge.told(input), options...)
	if err != nil {
		return nil, err
	}
	return m.bridge.own(len(input), answer), nil
}

// Stream implements model.ToolCallingChatModel. Texts are passed on as they come, and the calls when they are whole.
func (m *identified) Stream(ctx context.Context, input []*schema.Message, options ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	in, err := m.inner.Stream(ctx, m.bridge.told(input), options...)
	if err != nil {
		return nil, err
	}
	out, to := schema.Pipe[*schema.Message](1)
	go func() {
		defer to.Close()
		defer in.Close()
		if last, err := m.pass(in, to); err != nil || last != nil {
			to.Send(m.bridge.own(len(input), last), err)
		}
	}()
	return out, nil
}

// pass passes on the parts of an answer that have no calls, and returns the others as one message; nil when there are none, or
// when nobody reads any more.
func (m *identified) pass(in *schema.StreamReader[*schema.Message], to *schema.StreamWriter[*schema.Message]) (*schema.Message, error) {
	var held []*schema.Message
	for {
		part, err := in.Recv()
		switch {
		case errors.Is(err, io.EOF) && held == nil:
			return nil, nil
		case errors.Is(err, io.EOF):
			return schema.ConcatMessages(held)
		case err != nil:
			return nil, err
		case len(part.ToolCalls) > 0:
			held = append(held, part)
		case to.Send(part, nil):
			return nil, nil
		}
	}
}

// own returns a message with its calls under ids of their own.
func (b *Bridge) own(number int, m *schema.Message) *schema.Message {
	if m == nil || len(m.ToolCalls) == 0 {
		return m
	}
	calls := make([]runtime.Call, len(m.ToolCalls))
	for i, c := range m.ToolCalls {
		calls[i] = runtime.Call{ID: c.ID, Tool: c.Function.Name, Input: []byte(c.Function.Arguments)}
	}
	out := *m
	out.ToolCalls = slices.Clone(m.ToolCalls)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.known == nil {
		b.known = map[string]string{}
	}
	for i, c := range b.ids.Own(number, calls) {
		out.ToolCalls[i].ID = c.ID
		b.known[c.ID] = c.ProviderID
	}
	return &out
}

// told returns messages with the calls, and what answers them, under the ids of the provider.
func (b *Bridge) told(messages []*schema.Message) []*schema.Message {
	out := slices.Clone(messages)
	for i, m := range messages {
		if m == nil || len(m.ToolCalls) == 0 && m.ToolCallID == "" {
			continue
		}
		told := *m
		told.ToolCallID = b.provider(m.ToolCallID)
		told.ToolCalls = slices.Clone(m.ToolCalls)
		for k := range told.ToolCalls {
			told.ToolCalls[k].ID = b.provider(told.ToolCalls[k].ID)
		}
		out[i] = &told
	}
	return out
}

// provider returns the id under which the provider knows a call: the same for a call of an earlier process, which has it in
// the whole conversation.
func (b *Bridge) provider(id string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if known, ok := b.known[id]; ok {
		return known
	}
	return id
}
