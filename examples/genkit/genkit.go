// Package genkit gives declared tools to a model of Genkit.
//
//	bridge, err := genkit.New(g, executor, turn)
//	response, err := genkit.Generate(ctx, g, ai.WithPrompt(request), ai.WithTools(bridge.Tools()...), ai.WithMiddleware(bridge.Middleware), ai.WithMaxTurns(50))
//
// A call that waits for consent is an interrupt with the id of the request; Bridge.Answer makes of it
// what ai.WithToolRestarts takes. Genkit decodes arguments before the tools see them: a call with a
// number whose digits may be lost is refused with invalid_input, and of a name that is in an object twice
// Genkit keeps one. A program cannot have Genkit and the SDK of Anthropic that runtime/models/anthropic
// uses: they need versions of github.com/invopop/jsonschema that do not go together.
package genkit

import (
	"context"
	"errors"
	"sync"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/models"
	"github.com/ambit-tools/ambit/runtime/models/dialect"
)

// A Bridge carries out the calls of a model. Genkit hands a tool no id of its call, checks arguments
// itself and makes the calls of a message in any order. So the middleware of the bridge puts each call of
// the model into an envelope with an id of its own, and makes the calls of a message together, in their order,
// once Genkit comes to the first. The model sees its own calls. A bridge is for one conversation.
type Bridge struct {
	g        *genkit.Genkit
	executor *engine.Executor
	turn     func() *engine.Turn
	tools    *models.Tools
	refs     []ai.ToolRef
	last     batch

	mu  sync.Mutex
	ids models.Conversation
}

// unknown is the tool of Genkit that stands for those that do not exist: the executor refuses its calls.
const unknown = "unknown_tool"

// New returns a bridge, and defines the tools of the executor. turn returns the turn of a message.
func New(g *genkit.Genkit, executor *engine.Executor, turn func() *engine.Turn) (*Bridge, error) {
	b := &Bridge{g: g, executor: executor, turn: turn}
	var err error
	if b.tools, err = models.Definitions(executor.Registry(), dialect.Gemini); err != nil {
		return nil, err
	}
	if _, taken := b.tools.Lookup(unknown); taken {
		return nil, errors.New("the tool " + unknown + " has the name of that for unknown tools: rename it")
	}
	for _, d := range b.tools.All() {
		b.define(d.Name, d.Description)
	}
	b.define(unknown, "There is no such tool.")
	return b, nil
}

func (b *Bridge) define(name, description string) {
	b.refs = append(b.refs, genkit.DefineTool(b.g, name, description, b.run, ai.WithInputSchema(map[string]any{"type": "object"})))
}

// Tools returns the tools for ai.WithTools.
func (b *Bridge) Tools() []ai.ToolRef { return b.refs }

// run makes a call, or goes on with one that waits: it has the same id after its interrupt.
func (b *Bridge) run(tc *ai.ToolContext, in any) (string, error) {
	e, err := opened(in)
	if err != nil {
		return "", err
	}
	input, err := models.Input(e.Arguments)
	if err != nil {
		r := models.Refuse(e.Call, e.Tool, err)
		return r.Text, nil
	}
	call := b.tools.Call(e.Call, e.Tool, input)
	call.ProviderID = e.Ref
	out, made := b.last.outcome(tc, e.Call)
	if !made {
		out = b.turn().Execute(tc, call)
	}
	if by, answered := ai.ResumedValue[string](tc, "by"); answered && out.Kind == runtime.Pending {
		approve, _ := ai.ResumedValue[bool](tc, "approve")
		message, _ := ai.ResumedValue[string](tc, "message")
		b.executor.Decide(tc, out.RequestID, action.Answer{By: runtime.ProgramActor(by), Approve: approve, Message: message})
		out = b.turn().Execute(tc, call)
	}
	if out.Kind == runtime.Pending {
		return "", tc.Interrupt(&ai.InterruptOptions{Metadata: map[string]any{"request": out.RequestID, "message": out.Message}})
	}
	r := models.ResultOf(out)
	return r.Text, nil // as text: Genkit would round the numbers of a value
}

// Answer returns the restart of an interrupted call for ai.WithToolRestarts, with the answer to its
// request for consent. The executor decides whether by may give it.
func (b *Bridge) Answer(interrupt *ai.Part, by string, approve bool, message string) (*ai.Part, error) {
	if interrupt == nil || !interrupt.IsInterrupt() {
		return nil, errors.New("the part is no interrupt")
	}
	tool := genkit.LookupTool(b.g, interrupt.ToolRequest.Name)
	if tool == nil {
		return nil, errors.New("the interrupt is of no tool of this program")
	}
	return tool.Restart(interrupt, &ai.RestartOptions{ResumedMetadata: map[string]any{"by": by, "approve": approve, "message": message}}), nil
}

// Middleware stands between Genkit and the model, for ai.WithMiddleware.
func (b *Bridge) Middleware(next ai.ModelFunc) ai.ModelFunc {
	return func(ctx context.Context, req *ai.ModelRequest, stream ai.ModelStreamCallback) (*ai.ModelResponse, error) {
		told := *req
		told.Tools, told.Messages = b.published(req.Tools), opening(req.Messages)
		resp, err := next(ctx, &told, stream)
		if err != nil || resp.Message == nil {
			return resp, err
		}
		out := *resp
		out.Request = req
		var calls []runtime.Call
		out.Message, calls = b.enclose(len(req.Messages), resp.Message, told.Tools)
		b.last.hold(b.turn(), calls)
		return &out, nil
	}
}
