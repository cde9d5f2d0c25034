// Package genai connects package models to the Gen AI SDK of Google, for Gemini.
//
//	model, err := genai.New(client, executor.Registry(), "gemini-3-pro", nil)
//	status, err := (&models.Loop{Run: run, Model: model}).Do(ctx, "Order 1017 came broken.")
//
// A program that has a loop of its own uses Tools, Calls and Results with models.Dispatch. Calls makes ids
// of the name that it is given for the message.
//
// The SDK decodes arguments before the program sees them: a call with a number whose digits may be
// lost is refused with invalid_input, and of a name that is in an object twice the SDK keeps the last
// one, which the program cannot see, nor that a long fraction has lost digits. Gemini need not give
// calls an id: the result then has that of the call (models.Conversation). It has its text under the key
// output, or under error where the call did not do what it was for, or waits for consent.
package genai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	sdk "google.golang.org/genai"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/models"
	"github.com/ambit-tools/ambit/runtime/models/dialect"
)

// Tools returns the definitions in the form of the SDK.
func Tools(t *models.Tools) []*sdk.Tool {
	if len(t.All()) == 0 {
		return nil
	}
	out := &sdk.Tool{}
	for _, d := range t.All() {
		out.FunctionDeclarations = append(out.FunctionDeclarations, &sdk.FunctionDeclaration{Name: d.Name, Description: d.Description, ParametersJsonSchema: d.Schema})
	}
	return []*sdk.Tool{out}
}

// Calls returns the calls of a message, and the results of those whose arguments the SDK could not
// hand over exactly, which must not be dispatched: their Outcome.CallID is that of the call. A call has an id
// of message and its position. message must be another one for each message of a session, and the same when
// the same message is read again: a call that is repeated under its id does not run twice.
func Calls(t *models.Tools, c *sdk.Content, message string) (calls []runtime.Call, refused []models.Result) {
	m := models.Message{}
	calls, wrong := read(t, c)
	for at := range calls {
		id := fmt.Sprintf("%s-%d", message, at)
		calls[at].ID, calls[at].ProviderID = id, cmp.Or(calls[at].ID, id)
	}
	m.Calls = calls
	refuse(&m, wrong)
	return calls, m.Refused
}

// read returns the calls of a message under the ids that Gemini gave them, and by their positions why the arguments of a call
// are not those that the model wrote.
func read(t *models.Tools, c *sdk.Content) (calls []runtime.Call, wrong []error) {
	if c == nil {
		return nil, nil
	}
	for _, part := range c.Parts {
		f := part.FunctionCall
		if f == nil {
			continue
		}
		input, err := models.Input(f.Args)
		if len(f.PartialArgs) > 0 || f.WillContinue != nil {
			err = errParts
		}
		calls, wrong = append(calls, t.Call(f.ID, f.Name, input)), append(wrong, err)
	}
	return calls, wrong
}

// refuse refuses the calls of a message with which something is wrong.
func refuse(m *models.Message, wrong []error) {
	for at, err := range wrong {
		if err != nil {
			m.Refuse(at, err)
		}
	}
}

// Results returns the message that answers the calls of a message.
func Results(results []models.Result) *sdk.Content {
	out := &sdk.Content{Role: sdk.RoleUser}
	for _, r := range results {
		key := "output"
		if r.IsError {
			key = "error"
		}
		out.Parts = append(out.Parts, &sdk.Part{FunctionResponse: &sdk.FunctionResponse{ID: r.ID, Name: r.Tool, Response: map[string]any{key: r.Members()}}})
	}
	return out
}

// A Model is a models.Model. It holds one conversation, and what the model said as it came, with the
// signatures of its thoughts. It must not be used by several goroutines at once.
type Model struct {
	// Stream asks for the answer in parts. A stream that ends before the answer does is an error,
	// and nothing of it runs.
	Stream bool

	// OnPart is called with each part of a stream; it may be nil.
	OnPart func(*sdk.GenerateContentResponse)

	client   *sdk.Client
	name     string
	config   sdk.GenerateContentConfig
	tools    *models.Tools
	own      []*sdk.Tool // of the program
	ids      models.Conversation
	contents []*sdk.Content
	heard    int // messages of the loop that are in contents
	asked    int // of contents in the last request
}

// New returns a model with the tools of a registry, beside those in config, which may be nil.
func New(client *sdk.Client, reg *runtime.Registry, name string, config *sdk.GenerateContentConfig) (*Model, error) {
	tools, err := models.Definitions(reg, dialect.Gemini)
	if err != nil {
		return nil, err
	}
	m := &Model{client: client, name: name, tools: tools}
	if config != nil {
		m.config = *config
	}
	m.own = m.config.Tools
	m.offer(tools)
	return m, nil
}

// Offer implements models.Offerer.
func (m *Model) Offer(choose func(all *models.Tools) *models.Tools) { m.offer(choose(m.tools)) }

func (m *Model) offer(t *models.Tools) { m.config.Tools = slices.Concat(m.own, Tools(t)) }

// Next implements models.Model.
func (m *Model) Next(ctx context.Context, said []models.Message) (models.Message, error) {
	if m.heard > 0 && m.heard == len(said) { // the answer got lost
		m.contents = m.contents[:m.asked]
	}
	for _, s := range said[m.heard:] {
		switch s.Role {
		case models.User:
			m.contents = append(m.contents, sdk.NewContentFromText(s.Text, sdk.RoleUser))
		case models.ToolRole:
			m.contents = append(m.contents, Results(s.Results))
		}
	}
	m.heard, m.asked = len(said), len(m.contents)
	answer, err := m.ask(ctx)
	if err != nil {
		return models.Message{}, err
	}
	switch answer.FinishReason {
	case sdk.FinishReasonMalformedFunctionCall, sdk.FinishReasonUnexpectedToolCall:
		return models.Message{}, fmt.Errorf("the model wrote a call that Gemini could not read (%s): none of its calls was made, ask again", answer.FinishReason)
	}
	if answer.Content == nil {
		answer.Content = &sdk.Content{}
	}
	calls, wrong := read(m.tools, answer.Content)
	out := models.Message{Role: models.Assistant, Calls: m.ids.Own(m.asked, calls)}
	refuse(&out, wrong)
	calls = out.Calls
	for _, part := range answer.Content.Parts {
		if part.FunctionCall != nil {
			part.FunctionCall.ID = calls[0].ProviderID // the results answer it
			calls = calls[1:]
		} else if !part.Thought {
			out.Text += part.Text
		}
	}
	cut, err := ended(answer)
	if err != nil {
		return models.Message{}, err
	}
	if len(answer.Content.Parts) > 0 { // Gemini refuses a history with a message that has no parts
		m.contents = append(m.contents, answer.Content)
	}
	if cut {
		return out.Cut(), nil
	}
	return out, nil
}

var (
	errBroken   = errors.New("the stream of the answer broke off: none of its calls was made")
	errNoAnswer = errors.New("the model gave no answer")
	errParts    = errors.New("the arguments came in parts, which are not put together: set streamFunctionCallArguments to false")
)

// ask returns the first candidate of the answer.
func (m *Model) ask(ctx context.Context) (*sdk.Candidate, error) {
	if !m.Stream {
		r, err := m.client.Models.GenerateContent(ctx, m.name, m.contents, &m.config)
		if err != nil {
			return nil, err
		}
		if len(r.Candidates) == 0 {
			return nil, unanswered(r.PromptFeedback)
		}
		return r.Candidates[0], nil
	}
	answer := &sdk.Candidate{Content: &sdk.Content{Role: sdk.RoleModel}}
	var feedback *sdk.GenerateContentResponsePromptFeedback
	for r, err := range m.client.Models.GenerateContentStream(ctx, m.name, m.contents, &m.config) {
		if err != nil {
			return nil, err
		}
		if m.OnPart != nil {
			m.OnPart(r)
		}
		if r.PromptFeedback != nil {
			feedback = r.PromptFeedback
		}
		if len(r.Candidates) == 0 {
			continue
		}
		c := r.Candidates[0]
		if c.Content != nil {
			answer.Content.Parts = append(answer.Content.Parts, c.Content.Parts...)
		}
		if c.FinishReason != "" {
			answer.FinishReason, answer.FinishMessage = c.FinishReason, c.FinishMessage
		}
	}
	if answer.FinishReason == "" {
		if feedback != nil && feedback.BlockReason != "" {
			return nil, unanswered(feedback)
		}
		return nil, errBroken
	}
	return answer, nil
}
