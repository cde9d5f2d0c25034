// Package anthropic connects package models to the SDK of Anthropic.
//
//	model, err := anthropic.New(client, executor.Registry(), sdk.MessageNewParams{Model: "claude-sonnet-4-6", MaxTokens: 4096})
//	status, err := (&models.Loop{Run: run, Model: model}).Do(ctx, "Order 1017 came broken.")
//
// A program that has a loop of its own uses Tools, Calls and Results with models.Conversation and models.Dispatch. BetaTools
// are for the tool runner of the SDK.
//
// Arguments reach the tools as the model wrote them, to the last digit. A call that did not do what
// it was for, or waits for consent, has is_error in its result.
package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/models"
	"github.com/ambit-tools/ambit/runtime/models/dialect"
)

// Tools returns the definitions in the form of the SDK. Strict mode is asked for where the
// definitions allow it, which are those of dialect.AnthropicStrict only.
func Tools(t *models.Tools) []sdk.ToolUnionParam {
	var out []sdk.ToolUnionParam
	for _, d := range t.All() {
		tool := &sdk.ToolParam{Name: d.Name, Description: sdk.String(d.Description), InputSchema: param.Override[sdk.ToolInputSchemaParam](d.Schema)}
		if d.Strict {
			tool.Strict = sdk.Bool(true)
		}
		out = append(out, sdk.ToolUnionParam{OfTool: tool})
	}
	return out
}

// Calls returns the calls of a message. The message must be whole: see Message. Of a streamed call
// whose arguments are not JSON, sdk.Message.Accumulate makes one with the arguments {}: a program that
// accumulates a stream itself has to look at the parts, as Model does.
func Calls(t *models.Tools, m *sdk.Message) []runtime.Call {
	var calls []runtime.Call
	for _, block := range m.Content {
		if use, ok := block.AsAny().(sdk.ToolUseBlock); ok {
			calls = append(calls, t.Call(use.ID, use.Name, use.Input))
		}
	}
	return calls
}

// Message returns a message of the model for a models.Loop. The calls of a message that was cut off
// at the limit of tokens are refused. The error says why the model ended the message otherwise than it
// meant to. A message whose turn is paused is sent back for the model to go on, as Model does.
func Message(t *models.Tools, m *sdk.Message) (models.Message, error) { return message(m, Calls(t, m)) }

// message is Message with the calls of m.
func message(m *sdk.Message, calls []runtime.Call) (models.Message, error) {
	cut, err := ended(m)
	if err != nil {
		return models.Message{}, err
	}
	out := models.Message{Role: models.Assistant, Calls: calls}
	for _, block := range m.Content {
		if text, ok := block.AsAny().(sdk.TextBlock); ok {
			out.Text += text.Text
		}
	}
	if cut {
		return out.Cut(), nil
	}
	return out, nil
}

// Results returns the message that answers the calls of a message.
func Results(results []models.Result) sdk.MessageParam {
	blocks := make([]sdk.ContentBlockParamUnion, 0, len(results))
	for _, r := range results {
		blocks = append(blocks, sdk.NewToolResultBlock(r.ID, r.Text, r.IsError))
	}
	return sdk.NewUserMessage(blocks...)
}

// A Model is a models.Model. It holds one conversation, and what the model said as it came, with the
// parts that only Anthropic reads. It must not be used by several goroutines at once.
type Model struct {
	// Stream asks for the answer in parts. A stream that ends before the message does is an error,
	// and nothing of it runs.
	Stream bool

	// OnEvent is called with each part of a stream; it may be nil.
	OnEvent func(sdk.MessageStreamEventUnion)

	client sdk.Client
	params sdk.MessageNewParams
	tools  *models.Tools
	own    []sdk.ToolUnionParam // of the program
	ids    models.Conversation
	heard  int // messages of the loop that are in params
	asked  int // messages of params in the last request
}

// New returns a model with the tools of a registry, beside those in params. params say which model,
// its limit of tokens, the system text.
func New(client sdk.Client, reg *runtime.Registry, params sdk.MessageNewParams) (*Model, error) {
	return NewIn(dialect.Anthropic, client, reg, params)
}

// NewIn is New with the definitions in a dialect, such as dialect.AnthropicStrict.
func NewIn(d dialect.Dialect, client sdk.Client, reg *runtime.Registry, params sdk.MessageNewParams) (*Model, error) {
	tools, err := models.Definitions(reg, d)
	if err != nil {
		return nil, err
	}
	m := &Model{client: client, params: params, tools: tools, own: params.Tools}
	m.offer(tools)
	return m, nil
}

// Offer implements models.Offerer.
func (m *Model) Offer(choose func(all *models.Tools) *models.Tools) { m.offer(choose(m.tools)) }

func (m *Model) offer(t *models.Tools) { m.params.Tools = slices.Concat(m.own, Tools(t)) }

// Next implements models.Model.
func (m *Model) Next(ctx context.Context, said []models.Message) (models.Message, error) {
	if m.heard > 0 && m.heard == len(said) { // the answer got lost
		m.params.Messages = m.params.Messages[:m.asked]
	}
	for _, s := range said[m.heard:] {
		switch s.Role {
		case models.User:
			m.params.Messages = append(m.params.Messages, sdk.NewUserMessage(sdk.NewTextBlock(s.Text)))
		case models.ToolRole:
			m.params.Messages = append(m.params.Messages, Results(s.Results))
		}
	}
	m.heard, m.asked = len(said), len(m.params.Messages)
	var before string // the text of the pauses
	for range maxPauses + 1 {
		answer, broken, err := m.ask(ctx)
		if err != nil {
			return models.Message{}, err
		}
		calls := Calls(m.tools, answer)
		for at, text := range broken {
			calls[at] = m.tools.Call(calls[at].ID, calls[at].Tool, []byte(text))
		}
		calls = m.ids.Own(m.asked, calls)
		if err := identify(answer, calls); err != nil {
			return models.Message{}, err
		}
		out, err := message(answer, calls)
		if err != nil {
			return models.Message{}, err
		}
		if len(answer.Content) > 0 { // the API refuses a message without content
			m.params.Messages = append(m.params.Messages, answer.ToParam())
		}
		out.Text = before + out.Text
		if !paused(answer) {
			return out, nil
		}
		before = out.Text
	}
	return models.Message{}, errPaused
}

// identify writes the ids of calls into the parts of a message that have none: the API refuses a message with them, and
// the results answer them. Other servers than Anthropic's leave them out.
func identify(m *sdk.Message, calls []runtime.Call) error {
	at := 0
	for i := range m.Content {
		block := &m.Content[i]
		if block.Type != "tool_use" {
			continue
		}
		if at++; block.ID != "" {
			continue
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal([]byte(block.RawJSON()), &members); err != nil {
			return err
		}
		members["id"], _ = json.Marshal(calls[at-1].ID) // a text has a JSON form
		text, err := json.Marshal(members)
		if err == nil {
			err = block.UnmarshalJSON(text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// errBroken says that a stream ended before its message did.
var errBroken = errors.New("the stream of the answer broke off: none of its calls was made")

// ask returns the answer, and the texts of the arguments in it that are not JSON, by the positions of their
// calls: the SDK puts an empty object in their place, with which a call must not run.
func (m *Model) ask(ctx context.Context) (*sdk.Message, map[int]string, error) {
	if !m.Stream {
		answer, err := m.client.Messages.New(ctx, m.params)
		return answer, nil, err
	}
	stream := m.client.Messages.NewStreaming(ctx, m.params)
	defer stream.Close()
	var answer sdk.Message
	whole := false
	written := map[int64]string{} // arguments by the position of their block
	for stream.Next() {
		event := stream.Current()
		if err := answer.Accumulate(event); err != nil {
			return nil, nil, err
		}
		if event.Delta.Type == "input_json_delta" {
			written[event.Index] += event.Delta.PartialJSON
		}
		whole = whole || event.Type == "message_stop"
		if m.OnEvent != nil {
			m.OnEvent(event)
		}
	}
	if err := stream.Err(); err != nil {
		return nil, nil, err
	}
	if !whole {
		return nil, nil, errBroken
	}
	broken := map[int]string{}
	call := 0
	for at, block := range answer.Content {
		if block.Type != "tool_use" {
			continue
		}
		if text := written[int64(at)]; text != "" && !json.Valid([]byte(text)) {
			broken[call] = text
		}
		call++
	}
	return &answer, broken, nil
}

// BetaTools returns the tools for the tool runner of the SDK, which makes the calls of a message
// itself. turn returns the turn of a call; the calls of one message should have the same.
//
// The runner hands over neither the ids of calls nor the text of their arguments: a call that it
// repeats is another call, and one with a number whose digits may be lost is refused. A call that
// did not do what it was for is an error with models.Result.Text.
func BetaTools(t *models.Tools, turn func() *engine.Turn) []sdk.BetaTool {
	var out []sdk.BetaTool
	for _, d := range t.All() {
		out = append(out, &betaTool{d, t, turn})
	}
	return out
}

type betaTool struct {
	definition models.Definition
	tools      *models.Tools
	turn       func() *engine.Turn
}

func (b *betaTool) Name() string        { return b.definition.Name }
func (b *betaTool) Description() string { return b.definition.Description }

func (b *betaTool) InputSchema() sdk.BetaToolInputSchemaParam {
	return param.Override[sdk.BetaToolInputSchemaParam](b.definition.Schema)
}

// Execute implements sdk.BetaTool.
func (b *betaTool) Execute(ctx context.Context, input json.RawMessage) ([]sdk.BetaToolResultBlockParamContentUnion, error) {
	r := b.call(ctx, input)
	if r.IsError {
		return nil, errors.New(r.Text)
	}
	return []sdk.BetaToolResultBlockParamContentUnion{{OfText: &sdk.BetaTextBlockParam{Text: r.Text}}}, nil
}

func (b *betaTool) call(ctx context.Context, input json.RawMessage) models.Result {
	var decoded any
	if err := json.Unmarshal(input, &decoded); err != nil {
		return models.Refuse("", b.definition.Name, err)
	}
	if _, err := models.Input(decoded); err != nil { // the runner has rounded it
		return models.Refuse("", b.definition.Name, err)
	}
	return models.Dispatch(ctx, b.turn(), []runtime.Call{b.tools.Call("", b.definition.Name, input)})[0]
}
