// Package openai connects package models to the SDK of OpenAI: to the Responses API (Model) and to
// chat completions (ChatModel), which other providers have too.
//
//	model, err := openai.New(client, executor.Registry(), responses.ResponseNewParams{Model: "gpt-5.4"})
//	status, err := (&models.Loop{Run: run, Model: model}).Do(ctx, "Order 1017 came broken.")
//
// A program that has a loop of its own uses Tools, Calls and Results, or ChatTools, ChatCalls and
// ChatResults, with models.Conversation and models.Dispatch.
//
// Tools are strict where their schemas can be (dialect.OpenAIStrict): then a model writes null for
// what it leaves out, and Calls takes it out again. Arguments reach the tools as the model wrote
// them otherwise, to the last digit. OpenAI has no flag for a call that failed: the text of its
// result says so.
package openai

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/models"
	"github.com/ambit-tools/ambit/runtime/models/dialect"
)

// errBroken says that a stream ended before its message did.
var errBroken = errors.New("the stream of the answer broke off: none of its calls was made")

// Tools returns the definitions for the Responses API.
func Tools(t *models.Tools) []responses.ToolUnionParam {
	var out []responses.ToolUnionParam
	for _, d := range t.All() {
		out = append(out, responses.ToolUnionParam{OfFunction: &responses.FunctionToolParam{
			Name: d.Name, Description: param.NewOpt(d.Description), Parameters: d.Members(), Strict: param.NewOpt(d.Strict),
		}})
	}
	return out
}

// Calls returns the calls of a response, which must be whole: see Message. A call of a custom tool is among
// them, since each call needs a result; Message refuses it.
func Calls(t *models.Tools, r *responses.Response) []runtime.Call {
	var calls []runtime.Call
	for _, item := range made(r) {
		if item.Type == custom {
			c := item.AsCustomToolCall()
			calls = append(calls, runtime.Call{ID: c.CallID, Tool: c.Name, Input: []byte(c.Input)})
			continue
		}
		f := item.AsFunctionCall()
		calls = append(calls, t.Call(f.CallID, f.Name, []byte(f.Arguments)))
	}
	return calls
}

// made returns the items of a response that are calls, in the order of Calls.
func made(r *responses.Response) (out []*responses.ResponseOutputItemUnion) {
	if r == nil {
		return nil
	}
	for i := range r.Output {
		if kind := r.Output[i].Type; kind == "function_call" || kind == custom {
			out = append(out, &r.Output[i])
		}
	}
	return out
}

const custom = "custom_tool_call"

// Message returns a response for a models.Loop. The calls of one that was cut off at the limit of tokens
// are refused, and those of custom tools. The error says why a response failed, or ended otherwise than the
// model meant it to.
func Message(t *models.Tools, r *responses.Response) (models.Message, error) {
	return message(r, Calls(t, r))
}

// message is Message with the calls of r.
func message(r *responses.Response, calls []runtime.Call) (models.Message, error) {
	cut, err := ended(r)
	if err != nil {
		return models.Message{}, err
	}
	out := models.Message{Role: models.Assistant, Text: r.OutputText(), Calls: calls}
	if cut {
		return out.Cut(), nil
	}
	for at, item := range made(r) {
		if item.Type == custom {
			out.Refuse(at, errCustom)
		}
	}
	return out, nil
}

// Results returns the items that answer the calls of a response r, in their order. Calls of custom tools are answered in
// another form: nil stands for a response without any.
func Results(r *responses.Response, results []models.Result) []responses.ResponseInputItemUnionParam {
	calls := made(r)
	out := make([]responses.ResponseInputItemUnionParam, 0, len(results))
	for _, r := range results {
		kind := ""
		if at := slices.IndexFunc(calls, func(c *responses.ResponseOutputItemUnion) bool { return c.CallID == r.ID }); at >= 0 {
			kind = calls[at].Type
			calls = slices.Delete(calls, at, at+1) // the id may come again
		}
		if kind == custom {
			out = append(out, responses.ResponseInputItemParamOfCustomToolCallOutput(r.ID, r.Text))
			continue
		}
		item := responses.ResponseInputItemParamOfFunctionCallOutput(r.Text)
		item.OfFunctionCallOutput.CallID = param.NewOpt(r.ID)
		out = append(out, item)
	}
	return out
}

// A Model is a models.Model by the Responses API. It holds one conversation, and what the model said
// as it came, reasoning included. It must not be used by several goroutines at once.
type Model struct {
	// Stream asks for the answer in parts. A stream that ends before the response is complete is an
	// error, and nothing of it runs.
	Stream bool

	// OnEvent is called with each part of a stream; it may be nil.
	OnEvent func(responses.ResponseStreamEventUnion)

	client sdk.Client
	params responses.ResponseNewParams
	tools  *models.Tools
	own    []responses.ToolUnionParam // of the program
	answer *responses.Response        // the last one
	ids    models.Conversation
	heard  int // messages of the loop that are in params
	asked  int // items of params in the last request
}

// New returns a model with the tools of a registry, beside those in params. params say which model,
// and its instructions.
func New(client sdk.Client, reg *runtime.Registry, params responses.ResponseNewParams) (*Model, error) {
	return NewIn(dialect.OpenAIStrict, client, reg, params)
}

// NewIn is New with the definitions in a dialect, such as dialect.OpenAI.
func NewIn(d dialect.Dialect, client sdk.Client, reg *runtime.Registry, params responses.ResponseNewParams) (*Model, error) {
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
	items := &m.params.Input.OfInputItemList
	if m.heard > 0 && m.heard == len(said) { // the answer got lost
		*items = (*items)[:m.asked]
	}
	for _, s := range said[m.heard:] {
		if s.Role == models.User {
			*items = append(*items, responses.ResponseInputItemParamOfMessage(s.Text, responses.EasyInputMessageRoleUser))
		}
		*items = append(*items, Results(m.answer, s.Results)...)
	}
	m.heard, m.asked = len(said), len(*items)
	answer, err := m.ask(ctx)
	if err != nil {
		return models.Message{}, err
	}
	calls := m.ids.Own(m.asked, Calls(m.tools, answer))
	out, err := message(answer, calls)
	if err == nil {
		err = identify(answer, calls)
	}
	if err != nil {
		return models.Message{}, err
	}
	m.answer = answer
	for _, item := range answer.Output {
		*items = append(*items, param.Override[responses.ResponseInputItemUnionParam](json.RawMessage(item.RawJSON())))
	}
	return out, nil
}

// identify writes the ids of calls into the items of a response that have none: a result answers an id. Other servers
// than OpenAI's leave them out.
func identify(r *responses.Response, calls []runtime.Call) error {
	for at, item := range made(r) {
		if item.CallID != "" {
			continue
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal([]byte(item.RawJSON()), &members); err != nil {
			return err
		}
		members["call_id"], _ = json.Marshal(calls[at].ID) // a text has a JSON form
		text, err := json.Marshal(members)
		if err == nil {
			err = item.UnmarshalJSON(text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (m *Model) ask(ctx context.Context) (*responses.Response, error) {
	if !m.Stream {
		return m.client.Responses.New(ctx, m.params)
	}
	stream := m.client.Responses.NewStreaming(ctx, m.params)
	defer stream.Close()
	var answer *responses.Response
	for stream.Next() {
		event := stream.Current()
		switch event.Type {
		case "response.completed", "response.incomplete", "response.failed":
			answer = &event.Response
		case "error":
			return nil, failed(event.Code, event.Message)
		}
		if m.OnEvent != nil {
			m.OnEvent(event)
		}
	}
	if err := stream.Err(); err != nil {
		return nil, err
	}
	if answer == nil {
		return nil, errBroken
	}
	return answer, nil
}
