// Package eino gives declared tools to an agent of Eino.
//
//	bridge := eino.Bridge{Executor: executor, Turn: turn}
//	config, err := bridge.Tools(ctx)
//	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{Model: bridge.Model(model), ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: config}})
//
// A call that waits for consent interrupts the agent, whose runner needs a CheckPointStore. The program
// finds the request among Executor.Requests by the Info of the interrupt, and resumes the agent with an
// action.Answer for its ID. Arguments reach the tools as the model wrote them, to the last digit.
package eino

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/eino-contrib/jsonschema"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/models"
	"github.com/ambit-tools/ambit/runtime/models/dialect"
)

// A Bridge carries out the calls of an agent.
type Bridge struct {
	Executor *engine.Executor
	Turn     func() *engine.Turn // of a call; the calls of one message should have the same

	tools *models.Tools

	mu    sync.Mutex
	ids   models.Conversation
	known map[string]string // ids of the provider, by those of the calls
}

// Tools returns the tools of the executor. Their calls run in the order of the message, so that the
// rules about order see it, and calls of other tools are refused by the executor.
func (b *Bridge) Tools(context.Context) (compose.ToolsNodeConfig, error) {
	config := compose.ToolsNodeConfig{ExecuteSequentially: true, UnknownToolsHandler: b.run}
	var err error
	if b.tools, err = models.Definitions(b.Executor.Registry(), dialect.OpenAI); err != nil {
		return config, err
	}
	for _, d := range b.tools.All() {
		var s jsonschema.Schema
		if err := json.Unmarshal(d.Schema, &s); err != nil {
			return config, fmt.Errorf("the input schema of %q: %w", d.Name, err)
		}
		config.Tools = append(config.Tools, &governed{b, schema.ToolInfo{
			Name: d.Name, Desc: d.Description, ParamsOneOf: schema.NewParamsOneOfByJSONSchema(&s),
		}})
	}
	return config, nil
}

// A governed tool is carried out by the executor.
type governed struct {
	bridge *Bridge
	info   schema.ToolInfo
}

var _ tool.InvokableTool = (*governed)(nil)

// Info implements tool.BaseTool.
func (g *governed) Info(context.Context) (*schema.ToolInfo, error) { return &g.info, nil }

// InvokableRun implements tool.InvokableTool.
func (g *governed) InvokableRun(ctx context.Context, arguments string, _ ...tool.Option) (string, error) {
	return g.bridge.run(ctx, g.info.Name, arguments)
}

// run makes a call, or goes on with one that waits: it has the same id after an interrupt.
func (b *Bridge) run(ctx context.Context, name, arguments string) (string, error) {
	turn := b.Turn()
	id := compose.GetToolCallID(ctx)
	call := b.tools.Call(id, name, []byte(arguments))
	call.ProviderID = b.provider(id)
	out := turn.Execute(ctx, call)
	if out.Kind == runtime.Pending {
		resumed, answered, answer := tool.GetResumeContext[action.Answer](ctx)
		if resumed && answered {
			b.Executor.Decide(ctx, out.RequestID, answer)
			out = turn.Execute(ctx, call)
		}
	}
	if out.Kind == runtime.Pending {
		return "", tool.StatefulInterrupt(ctx, out.RequestID, out.CallID)
	}
	r := models.ResultOf(out)
	return r.Text, nil
}
