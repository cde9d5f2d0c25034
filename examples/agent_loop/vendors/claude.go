package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/anthropics/anthropic-sdk-go"

	"github.com/ambit-tools/ambit/examples/agent_loop/agent"
	"github.com/ambit-tools/ambit/runtime"
)

// claude is a model of Anthropic. What it said is kept as it came, with the parts
// that only the vendor understands.
type claude struct {
	client  anthropic.Client
	name    string
	tools   []anthropic.ToolUnionParam
	history []anthropic.MessageParam
	heard   int // messages of the loop that are in history
}

func newClaude(client anthropic.Client, name string, reg *runtime.Registry) (*claude, error) {
	c := &claude{client: client, name: cmp.Or(name, anthropic.ModelClaudeSonnet4_6)}
	for _, t := range reg.All() {
		spec := t.Spec()
		var schema map[string]any
		if err := json.Unmarshal([]byte(*spec.InputSchema), &schema); err != nil {
			return nil, fmt.Errorf("the input schema of %q: %w", spec.Name, err)
		}
		delete(schema, "type") // the SDK writes it
		c.tools = append(c.tools, anthropic.ToolUnionParam{OfTool: &anthropic.ToolParam{
			Name: spec.Name, Description: anthropic.String(spec.Description),
			InputSchema: anthropic.ToolInputSchemaParam{ExtraFields: schema},
		}})
	}
	return c, nil
}

// Next implements agent.Model.
func (c *claude) Next(ctx context.Context, said []agent.Message) (agent.Message, error) {
	for _, m := range said[c.heard:] {
		var blocks []anthropic.ContentBlockParamUnion
		switch m.From {
		case "user":
			blocks = append(blocks, anthropic.NewTextBlock(m.Text))
		case "tools":
			for _, r := range m.Results {
				blocks = append(blocks, anthropic.NewToolResultBlock(r.Call, r.Text(), r.Outcome != "completed"))
			}
		default:
			continue // its own
		}
		c.history = append(c.history, anthropic.NewUserMessage(blocks...))
	}
	c.heard = len(said)
	answer, err := c.client.Messages.New(ctx, anthropic.MessageNewParams{
		Model: c.name, MaxTokens: 2048, Messages: c.history, Tools: c.tools,
		System: []anthropic.TextBlockParam{{Text: instructions}},
	})
	if err != nil {
		return agent.Message{}, err
	}
	c.history = append(c.history, answer.ToParam())
	out := agent.Message{From: "model"}
	for _, block := range answer.Content {
		switch b := block.AsAny().(type) {
		case anthropic.TextBlock:
			out.Text += b.Text
		case anthropic.ToolUseBlock:
			out.Calls = append(out.Calls, runtime.Call{ID: b.ID, Tool: b.Name, Input: []byte(b.Input)})
		}
	}
	return out, nil
}
