// Vendors drives the agent loop of the example by a real model: by one of
// Anthropic when ANTHROPIC_API_KEY is set, else by one of OpenAI when
// OPENAI_API_KEY is. It is a module of its own, so that ambit depends on neither.
//
// The manager who consents to refunds is asked at the terminal.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/openai/openai-go/v3"

	"github.com/ambit-tools/ambit/examples/agent_loop/agent"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/terminal"
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
	model, err := choose(name, exec.Registry())
	if err != nil {
		return err
	}
	go manager.Serve(ctx, exec)
	session := exec.Session(engine.SessionConfig{Principal: "agent"})
	job, err := session.StartRun(ctx, engine.RunConfig{})
	if err != nil {
		return err
	}
	loop := agent.Loop{Session: session, Run: job, Model: model, Out: out}
	return errors.Join(loop.Do(ctx, request), job.Close(ctx), exec.Shutdown(ctx))
}

// choose returns the model whose key is there.
func choose(name string, reg *runtime.Registry) (agent.Model, error) {
	switch {
	case os.Getenv("ANTHROPIC_API_KEY") != "":
		return newClaude(anthropic.NewClient(), name, reg)
	case os.Getenv("OPENAI_API_KEY") != "":
		return newGPT(openai.NewClient(), name, reg)
	}
	return nil, errors.New("set ANTHROPIC_API_KEY or OPENAI_API_KEY")
}
