// Vendors drives the agent loop of the example by a real model: by one of
// Anthropic when ANTHROPIC_API_KEY is set, by one of OpenAI when OPENAI_API_KEY
// is, by one of Google when GEMINI_API_KEY is. It is a module of its own, so that
// ambit depends on none of their SDKs.
//
// The manager who consents to refunds is asked at the terminal.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"

	"github.com/ambit-tools/ambit/examples/agent_loop/agent"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/host/terminal"
	"github.com/ambit-tools/ambit/runtime/models"
	ambitanthropic "github.com/ambit-tools/ambit/runtime/models/anthropic"
	ambitgenai "github.com/ambit-tools/ambit/runtime/models/genai"
	ambitopenai "github.com/ambit-tools/ambit/runtime/models/openai"
)

const instructions = "You work at the service desk of a shop. Do what the customer asks for with the tools that you have. " +
	"A refused call says what has to come first. Do not repeat a call that was refused for good."

const request = "Ida writes: order 1017 came broken. Please give me my 49.00 back."

func main() {
	name := flag.String("model", "", "`name` of the model; by default one of those that the vendor's SDK knows")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *name, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, name string, out io.Writer) error {
	manager, err := terminal.New("manager", os.Stdin, os.Stderr)
	if err != nil {
		return err
	}
	exec, err := agent.Setup(engine.WithApprover(manager))
	if err != nil {
		return err
	}
	model, err := choose(ctx, name, exec.Registry())
	if err != nil {
		return err
	}
	go manager.Serve(ctx, exec)
	job, err := exec.Session(engine.SessionConfig{Principal: "agent"}).StartRun(ctx, engine.RunConfig{})
	if err != nil {
		return err
	}
	loop := models.Loop{Run: job, Model: model, Saw: agent.Print(out)}
	status, err := loop.Do(ctx, request)
	agent.PrintEnd(out, status)
	return errors.Join(err, job.Close(ctx), exec.Shutdown(ctx))
}

// choose returns the model whose key is there.
func choose(ctx context.Context, name string, reg *runtime.Registry) (models.Model, error) {
	switch {
	case os.Getenv("ANTHROPIC_API_KEY") != "":
		return ambitanthropic.New(anthropic.NewClient(), reg, anthropic.MessageNewParams{
			Model: cmp.Or(name, anthropic.ModelClaudeSonnet4_6), MaxTokens: 4096, System: []anthropic.TextBlockParam{{Text: instructions}},
		})
	case os.Getenv("OPENAI_API_KEY") != "":
		return ambitopenai.New(openai.NewClient(), reg, responses.ResponseNewParams{
			Model: cmp.Or(name, openai.ChatModelGPT5_4), Instructions: openai.String(instructions),
		})
	case os.Getenv("GEMINI_API_KEY") != "":
		client, err := genai.NewClient(ctx, nil)
		if err != nil {
			return nil, err
		}
		return ambitgenai.New(client, reg, cmp.Or(name, "gemini-3-pro"), &genai.GenerateContentConfig{
			SystemInstruction: genai.NewContentFromText(instructions, genai.RoleUser),
		})
	}
	return nil, errors.New("set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY")
}
