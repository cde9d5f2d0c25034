package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	sdk "github.com/openai/openai-go/v3"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/models"
	"github.com/ambit-tools/ambit/runtime/models/dialect"
)

// ChatTools returns the definitions for chat completions.
func ChatTools(t *models.Tools) []sdk.ChatCompletionToolUnionParam {
	var out []sdk.ChatCompletionToolUnionParam
	for _, d := range t.All() {
		out = append(out, sdk.ChatCompletionFunctionTool(sdk.FunctionDefinitionParam{
			Name: d.Name, Description: sdk.String(d.Description), Parameters: d.Members(), Strict: sdk.Bool(d.Strict),
		}))
	}
	return out
}

var errNoAnswer = errors.New("the model gave no answer")

// errCustom refuses a call with a free text in the place of arguments: declared tools are functions.
var errCustom = errors.New("the call is of a custom tool: call a function, with arguments")

// ChatCalls returns the calls of a message, which must be whole: see ChatMessage. A call of a custom
// tool is among them, since each call needs a result; ChatMessage refuses it.
func ChatCalls(t *models.Tools, m *sdk.ChatCompletionMessage) []runtime.Call {
	var calls []runtime.Call
	for _, c := range m.ToolCalls {
		if c.Type == "custom" {
			calls = append(calls, runtime.Call{ID: c.ID, Tool: c.Custom.Name, Input: []byte(c.Custom.Input)})
			continue
		}
		calls = append(calls, t.Call(c.ID, c.Function.Name, []byte(c.Function.Arguments)))
	}
	return calls
}

// ChatMessage returns the first choice of a completion for a models.Loop. Its calls are refused when
// it was cut off at the limit of tokens. The error says that there is no choice, or why the choice
// ended otherwise than the model meant it to.
func ChatMessage(t *models.Tools, c *sdk.ChatCompletion) (models.Message, error) {
	if len(c.Choices) == 0 {
		return models.Message{}, errNoAnswer
	}
	return chatMessage(&c.Choices[0], ChatCalls(t, &c.Choices[0].Message))
}

// chatMessage returns the message of a choice with these calls.
func chatMessage(choice *sdk.ChatCompletionChoice, calls []runtime.Call) (models.Message, error) {
	out := models.Message{Role: models.Assistant, Text: choice.Message.Content, Calls: calls}
	for at, c := range choice.Message.ToolCalls {
		if c.Type == "custom" {
			out.Refuse(at, errCustom)
		}
	}
	switch choice.FinishReason {
	case "tool_calls", "stop":
		return out, nil
	case "length":
		return out.Cut(), nil
	}
	return models.Message{}, fmt.Errorf("the model ended its answer abnormally, and none of its calls was made: %s", choice.FinishReason)
}

// ChatResults returns the messages that answer the calls of a message.
func ChatResults(results []models.Result) []sdk.ChatCompletionMessageParamUnion {
	out := make([]sdk.ChatCompletionMessageParamUnion, 0, len(results))
	for _, r := range results {
		out = append(out, sdk.ToolMessage(r.Text, r.ID))
	}
	return out
}

// A ChatModel is a models.Model by chat completions. It holds one conversation. It must not be used
// by several goroutines at once.
type ChatModel struct {
	// Stream asks for the answer in parts. A stream that ends before the message does is an error,
	// and nothing of it runs.
	Stream bool

	// OnChunk is called with each part of a stream; it may be nil.
	OnChunk func(sdk.ChatCompletionChunk)

	client sdk.Client
	params sdk.ChatCompletionNewParams
	tools  *models.Tools
	own    []sdk.ChatCompletionToolUnionParam // of the program
	ids    models.Conversation
	heard  int // messages of the loop that are in params
	asked  int // messages of params in the last request
}

// NewChat returns a model with the tools of a registry, beside those in params. params say which
// model, and hold the messages that come before the conversation, such as instructions.
func NewChat(client sdk.Client, reg *runtime.Registry, params sdk.ChatCompletionNewParams) (*ChatModel, error) {
	return NewChatIn(dialect.OpenAIStrict, client, reg, params)
}

// NewChatIn is NewChat with the definitions in a dialect, such as dialect.OpenAI for a provider
// without strict mode.
func NewChatIn(d dialect.Dialect, client sdk.Client, reg *runtime.Registry, params sdk.ChatCompletionNewParams) (*ChatModel, error) {
	tools, err := models.Definitions(reg, d)
	if err != nil {
		return nil, err
	}
	m := &ChatModel{client: client, params: params, tools: tools, own: params.Tools}
	m.offer(tools)
	return m, nil
}

// Offer implements models.Offerer.
func (m *ChatModel) Offer(choose func(all *models.Tools) *models.Tools) { m.offer(choose(m.tools)) }

func (m *ChatModel) offer(t *models.Tools) { m.params.Tools = slices.Concat(m.own, ChatTools(t)) }

// Next implements models.Model.
func (m *ChatModel) Next(ctx context.Context, said []models.Message) (models.Message, error) {
	if m.heard > 0 && m.heard == len(said) { // the answer got lost
		m.params.Messages = m.params.Messages[:m.asked]
	}
	for _, s := range said[m.heard:] {
		if s.Role == models.User {
			m.params.Messages = append(m.params.Messages, sdk.UserMessage(s.Text))
		}
		m.params.Messages = append(m.params.Messages, ChatResults(s.Results)...)
	}
	m.heard, m.asked = len(said), len(m.params.Messages)
	answer, err := m.ask(ctx)
	if err != nil {
		return models.Message{}, err
	}
	if len(answer.Choices) == 0 {
		return models.Message{}, errNoAnswer
	}
	choice := &answer.Choices[0]
	calls := m.ids.Own(m.asked, ChatCalls(m.tools, &choice.Message))
	out, err := chatMessage(choice, calls)
	if err != nil {
		return models.Message{}, err
	}
	for at := range choice.Message.ToolCalls { // other servers than OpenAI's leave out the id, which a result answers, and the type
		c := &choice.Message.ToolCalls[at]
		c.ID, c.Type = cmp.Or(c.ID, calls[at].ID), cmp.Or(c.Type, "function")
	}
	m.params.Messages = append(m.params.Messages, choice.Message.ToParam())
	return out, nil
}

func (m *ChatModel) ask(ctx context.Context) (*sdk.ChatCompletion, error) {
	if !m.Stream {
		return m.client.Chat.Completions.New(ctx, m.params)
	}
	stream := m.client.Chat.Completions.NewStreaming(ctx, m.params)
	defer stream.Close()
	var answer sdk.ChatCompletionAccumulator
	var calls parts
	for stream.Next() {
		chunk := stream.Current()
		if err := calls.join(&chunk); err != nil {
			return nil, err
		}
		if !answer.AddChunk(chunk) {
			return nil, errors.New("the parts of the answer do not fit together: none of its calls was made")
		}
		if m.OnChunk != nil {
			m.OnChunk(chunk)
		}
	}
	if err := stream.Err(); err != nil {
		return nil, err
	}
	if len(answer.Choices) == 0 || answer.Choices[0].FinishReason == "" {
		return nil, errBroken
	}
	if err := calls.ended(); err != nil {
		return nil, err
	}
	return &answer.ChatCompletion, nil
}
