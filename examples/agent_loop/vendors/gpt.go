package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/openai/openai-go/v3"

	"github.com/ambit-tools/ambit/examples/agent_loop/agent"
	"github.com/ambit-tools/ambit/runtime"
)

// gpt is a model of OpenAI.
type gpt struct {
	client  openai.Client
	name    string
	tools   []openai.ChatCompletionToolUnionParam
	history []openai.ChatCompletionMessageParamUnion
	heard   int // messages of the loop that are in history
}

func newGPT(client openai.Client, name string, reg *runtime.Registry) (*gpt, error) {
	g := &gpt{client: client, name: cmp.Or(name, openai.ChatModelGPT5_4)}
	g.history = append(g.history, openai.DeveloperMessage(instructions))
	for _, t := range reg.All() {
		spec := t.Spec()
		var schema openai.FunctionParameters
		if err := json.Unmarshal([]byte(*spec.InputSchema), &schema); err != nil {
			return nil, fmt.Errorf("the input schema of %q: %w", spec.Name, err)
		}
		g.tools = append(g.tools, openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
			Name: spec.Name, Description: openai.String(spec.Description), Parameters: schema,
		}))
	}
	return g, nil
}

// Next implements agent.Model.
func (g *gpt) Next(ctx context.Context, said []agent.Message) (agent.Message, error) {
	for _, m := range said[g.heard:] {
		if m.From == "user" {
			g.history = append(g.history, openai.UserMessage(m.Text))
		}
		for _, r := range m.Results {
			g.history = append(g.history, openai.ToolMessage(r.Text(), r.Call))
		}
	}
	g.heard = len(said)
	answer, err := g.client.Chat.Completions.New(ctx, openai.ChatCompletionNewParams{
		Model: g.name, Messages: g.history, Tools: g.tools,
	})
	if err != nil {
		return agent.Message{}, err
	}
	if len(answer.Choices) == 0 {
		return agent.Message{}, errors.New("the model gave no answer")
	}
	message := answer.Choices[0].Message
	g.history = append(g.history, message.ToParam())
	out := agent.Message{From: "model", Text: message.Content}
	for _, c := range message.ToolCalls {
		out.Calls = append(out.Calls, runtime.Call{ID: c.ID, Tool: c.Function.Name, Input: []byte(c.Function.Arguments)})
	}
	return out, nil
}
