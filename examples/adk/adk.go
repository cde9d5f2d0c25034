// Package adk gives declared tools to an agent of the Agent Development Kit of Google.
//
//	bridge := adk.Bridge{Executor: executor, Turn: turn}
//	tools, err := bridge.Tools()
//	agent, err := llmagent.New(llmagent.Config{Model: bridge.Model(model), Tools: tools, OnToolErrorCallbacks: []llmagent.OnToolErrorCallback{bridge.OnError}})
//	runner.Run(adk.InOrder(ctx), user, session, message, agent.RunConfig{})
//
// A call that waits for consent asks for the confirmation of the ADK, adk_request_confirmation, with the
// id of the request. The user of the session is the approver: whether the user may approve the call, the
// executor decides. The SDK decodes arguments before the tools see them: a call with a number whose digits
// may be lost is refused with invalid_input, and of a name that is in an object twice the SDK keeps one.
package adk

import (
	"context"
	"errors"
	"sync"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/platform"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/toolutils"
	"google.golang.org/genai"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/models"
	"github.com/ambit-tools/ambit/runtime/models/dialect"
)

// InOrder returns a context in which the runner makes the calls of a message in their order, so that
// the rules about order see it. Without it the runner makes them in any order.
func InOrder(ctx context.Context) context.Context {
	return platform.WithTaskRunner(ctx, func(ctx context.Context, tasks []func(context.Context)) {
		for _, task := range tasks {
			task(ctx)
		}
	})
}

// A Bridge carries out the calls of an agent.
type Bridge struct {
	Executor *engine.Executor
	Turn     func() *engine.Turn // of a call; the calls of one message should have the same

	tools *models.Tools

	mu    sync.Mutex
	ids   models.Conversation
	known map[string]string // ids of the provider, by those of the calls
}

// Tools returns the tools of the executor.
func (b *Bridge) Tools() ([]tool.Tool, error) {
	var err error
	if b.tools, err = models.Definitions(b.Executor.Registry(), dialect.Gemini); err != nil {
		return nil, err
	}
	var out []tool.Tool
	for _, d := range b.tools.All() {
		out = append(out, &governed{b, d})
	}
	return out, nil
}

// OnError is for an agent that has no other tools: it lets the executor refuse a call of a tool that
// does not exist, which is recorded.
func (b *Bridge) OnError(ctx agent.Context, t tool.Tool, args map[string]any, _ error) (map[string]any, error) {
	return b.run(ctx, t.Name(), args)
}

// A governed tool is carried out by the executor. The ADK does not check its arguments.
type governed struct {
	bridge     *Bridge
	definition models.Definition
}

func (g *governed) Name() string        { return g.definition.Name }
func (g *governed) Description() string { return g.definition.Description }
func (g *governed) IsLongRunning() bool { return false }

// Declaration says what the model is told of the tool.
func (g *governed) Declaration() *genai.FunctionDeclaration {
	return &genai.FunctionDeclaration{Name: g.Name(), Description: g.Description(), ParametersJsonSchema: g.definition.Schema}
}

// ProcessRequest adds the tool to a request.
func (g *governed) ProcessRequest(_ agent.Context, req *model.LLMRequest) error {
	return toolutils.PackTool(req, g)
}

// Run makes a call.
func (g *governed) Run(ctx agent.Context, args any) (map[string]any, error) {
	return g.bridge.run(ctx, g.Name(), args)
}

// run makes a call, or goes on with one that waits: it has the same id after its confirmation.
func (b *Bridge) run(ctx agent.Context, name string, args any) (map[string]any, error) {
	if b.tools == nil {
		return nil, errors.New("the bridge has no tools: call Tools first")
	}
	id := ctx.FunctionCallID()
	input, err := models.Input(args)
	if err != nil {
		return response(models.Refuse(id, name, err)), nil
	}
	turn, call := b.Turn(), b.tools.Call(id, name, input)
	call.ProviderID = b.provider(id)
	out := turn.Execute(ctx, call)
	if answer := ctx.ToolConfirmation(); answer != nil && out.Kind == runtime.Pending {
		b.Executor.Decide(ctx, out.RequestID, action.Answer{By: runtime.ProgramActor(ctx.UserID()), Approve: answer.Confirmed})
		out = turn.Execute(ctx, call)
	}
	if out.Kind == runtime.Pending {
		ctx.Actions().SkipSummarization = true // the model is not asked before the answer
		if err := ctx.RequestConfirmation(out.Message, map[string]any{"request": out.RequestID}); err != nil {
			return nil, err
		}
	}
	return response(models.ResultOf(out)), nil
}

// response returns a result in the form of the SDK.
func response(r models.Result) map[string]any {
	key := "output"
	if r.IsError {
		key = "error"
	}
	return map[string]any{key: r.Members()}
}
