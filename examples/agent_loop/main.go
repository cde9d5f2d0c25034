// Agent_loop is a whole agent: a model that calls tools, and the loop of package models
// around it, which shows the model how its calls went until the run has ended.
//
// The model is scripted, so that the output is always the same: package agent is what
// a program with a real model would keep. The tools are those of a service desk:
// a case must be opened first, a refund of more than 20.00 needs the consent of
// the manager, and no run may end with its case open.
//
// Without -approve the program asks the person at the terminal; without a terminal
// it has no approver, and the refund is refused.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/ambit-tools/ambit/examples/agent_loop/agent"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/host/terminal"
	"github.com/ambit-tools/ambit/runtime/models"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// manager is the id of the only approver of refunds. A real program gets it from the
// system that has authenticated the person at the terminal.
const manager = "manager"

// run does the work of main and returns the exit code: 0, 1 for an error, 2 for
// a wrong command line.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("agent_loop", flag.ContinueOnError)
	flags.SetOutput(stderr)
	approve := flags.String("approve", "ask", "how the manager answers: yes, no, or ask at the terminal")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(stderr, "error: unexpected argument %q\n", flags.Arg(0))
		return 2
	}
	asked, err := approver(*approve, stdin, stdout, stderr)
	if err != nil {
		fmt.Fprintf(stderr, "error: %v\n", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := work(ctx, asked, stdout, stderr); err != nil {
		fmt.Fprintf(stderr, "error: %v\n", err)
		return 1
	}
	return 0
}

// approver returns what answers the requests; nil without a terminal.
func approver(how string, stdin io.Reader, stdout, stderr io.Writer) (*terminal.Approver, error) {
	answer := func(a action.Answer) *terminal.Approver {
		return terminal.Func(func(_ context.Context, r *consent.Notice) (action.Answer, bool) {
			fmt.Fprintf(stdout, "the manager is asked about %s %s by %s, and says %s\n", r.Tool, r.Shown, strings.Join(r.Rules(), ", "), how)
			return a, true
		})
	}
	switch how {
	case "yes":
		return answer(action.Answer{By: runtime.ProgramActor(manager), Approve: true}), nil
	case "no":
		return answer(action.Answer{By: runtime.ProgramActor(manager), Message: "offer a voucher instead"}), nil
	case "ask":
		asked, err := terminal.New(manager, stdin, stderr)
		if errors.Is(err, terminal.ErrNoTerminal) {
			fmt.Fprintln(stderr, "note: this is not a terminal: nobody can be asked; answer with -approve yes or -approve no")
			return nil, nil
		}
		return asked, err
	}
	return nil, fmt.Errorf("-approve %q is none of yes, no and ask", how)
}

// work hands the request of a customer to the agent.
func work(ctx context.Context, asked *terminal.Approver, stdout, stderr io.Writer) error {
	opts := []engine.Option{engine.WithErrorHandler(func(e *action.CallError) {
		fmt.Fprintf(stderr, "operator: %v\n", e)
	})}
	if asked != nil {
		opts = append(opts, engine.WithApprover(asked))
	}
	exec, err := agent.Setup(opts...)
	if err != nil {
		return err
	}
	if asked != nil {
		serving, stop := context.WithCancel(ctx)
		var approver sync.WaitGroup
		defer approver.Wait() // until it has said what became of an answer
		defer stop()
		approver.Go(func() {
			if err := asked.Serve(serving, exec); err != nil {
				fmt.Fprintf(stderr, "note: %v\n", err)
			}
		})
	}
	session := exec.Session(engine.SessionConfig{Principal: "agent"})
	job, err := session.StartRun(ctx, engine.RunConfig{})
	if err != nil {
		return err
	}
	loop := models.Loop{Run: job, Model: newScript(), Saw: agent.Print(stdout)}
	status, err := loop.Do(ctx, "Order 1017 came broken. Please give me my 49.00 back.")
	if err != nil {
		return err
	}
	agent.PrintEnd(stdout, status)
	return errors.Join(job.Close(ctx), exec.Shutdown(ctx))
}
