package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ambit-tools/ambit/runtime"
)

// A model answers a conversation with a message.
type model interface {
	next(ctx context.Context, said []message) (message, error)
}

// A message is one turn of the conversation: of the user or the model a text, of
// the model also calls, and of the loop their results.
type message struct {
	From    string // user, model or tools
	Text    string
	Calls   []runtime.Call
	Results []result
}

// A result is what the model is told of one call. Only what is safe to show to a
// model is in it.
type result struct {
	Call    string          `json:"-"`
	Outcome string          `json:"outcome"`
	Reason  string          `json:"reason,omitempty"`
	Output  json.RawMessage `json:"output,omitempty"`
	Message string          `json:"message,omitempty"`
	First   []string        `json:"first,omitempty"` // after these steps the same call would run
}

// A loop lets a model work on one request until its run has ended.
type loop struct {
	run      *runtime.Run
	model    model
	out      io.Writer
	patience time.Duration // for an answer to a request for consent
}

// maxTurns ends the work of a model that gets nowhere.
const maxTurns = 30

// do works on a request.
func (l *loop) do(ctx context.Context, request string) error {
	said := []message{{From: "user", Text: request}}
	fmt.Fprintf(l.out, "user: %s\n", request)
	for range maxTurns {
		next, err := l.model.next(ctx, said)
		if err != nil {
			return err
		}
		said = append(said, next)
		if len(next.Calls) == 0 {
			reminder, over := l.stopped(ctx, next.Text)
			if over {
				return nil
			}
			said = append(said, message{From: "user", Text: reminder})
			continue
		}
		results, over := l.carryOut(ctx, next.Calls)
		if over {
			return nil
		}
		said = append(said, message{From: "tools", Results: results})
	}
	return fmt.Errorf("the model came to no end in %d turns", maxTurns)
}

// stopped is for a message without calls. Either the run is over then, or the
// model is reminded of what it has to do before.
func (l *loop) stopped(ctx context.Context, text string) (reminder string, over bool) {
	fmt.Fprintf(l.out, "model: %s\n", text)
	status := l.run.ModelStopped(ctx)
	if status.Reminder == "" {
		l.ended(status)
		return "", true
	}
	fmt.Fprintf(l.out, "reminder %d: %s\n", status.Reminders, status.Reminder)
	return status.Reminder, false
}

// carryOut makes the calls of one message. The hint of the last outcome says how
// to go on.
func (l *loop) carryOut(ctx context.Context, calls []runtime.Call) (results []result, over bool) {
	turn := l.run.Turn(runtime.TurnConfig{Patience: l.patience})
	outcomes := turn.ExecuteBatch(ctx, calls, runtime.Parallel)
	for i, o := range outcomes {
		r := resultOf(o)
		results = append(results, r)
		fmt.Fprintf(l.out, "call %s %s\n  %s\n", o.Tool, calls[i].Input, r.text())
		if o.Run != runtime.RunRunning || o.Loop != runtime.LoopContinue {
			fmt.Fprintf(l.out, "  (the run is %s, the loop should %s%s)\n", o.Run, o.Loop, open(o.PendingExit))
		}
		over = o.Loop == runtime.LoopExit
	}
	if over {
		l.ended(l.run.Status())
	}
	return results, over || ctx.Err() != nil
}

func (l *loop) ended(status runtime.RunStatus) {
	fmt.Fprintf(l.out, "the run is %s%s\n", status.State, open(status.PendingExit))
}

func open(required []string) string {
	if len(required) == 0 {
		return ""
	}
	return ", open: " + strings.Join(required, ", ")
}

func resultOf(o runtime.Outcome) result {
	r := result{Call: o.CallID, Outcome: o.Kind.String(), Reason: o.Reason.String(), Output: json.RawMessage(o.Output), Message: o.Message}
	for _, step := range o.Steps {
		r.First = append(r.First, step.String())
	}
	return r
}

// text is what the model reads.
func (r result) text() string {
	b, err := json.Marshal(r)
	if err != nil {
		return errors.Join(errors.New("the result has no JSON form"), err).Error()
	}
	return string(b)
}
