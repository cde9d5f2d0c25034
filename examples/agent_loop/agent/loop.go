package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/ambit-tools/ambit/runtime"
)

// A Model answers a conversation with a message.
type Model interface {
	Next(ctx context.Context, said []Message) (Message, error)
}

// A Message is one turn of the conversation: of the user or the model a text, of
// the model also calls, and of the loop their results.
type Message struct {
	From    string // user, model or tools
	Text    string
	Calls   []runtime.Call
	Results []Result
}

// A Result is what the model receives about one call. It holds only what is safe to
// show to a model.
type Result struct {
	Call     string                `json:"-"`
	Outcome  string                `json:"outcome"`
	Reason   string                `json:"reason,omitempty"`
	Output   json.RawMessage       `json:"output,omitempty"`
	Message  string                `json:"message,omitempty"`
	Artifact *runtime.StoredOutput `json:"artifact,omitempty"` // in place of an output that is too long for a model
	First    []string              `json:"first,omitempty"`    // after these steps the same call would run
}

// A Loop lets a model work on one request until its run has ended.
type Loop struct {
	Session *engine.Session
	Run     *engine.Run
	Model   Model
	Out     io.Writer
}

// maxTurns ends the work of a model that gets nowhere.
const maxTurns = 30

// Do works on a request.
func (l *Loop) Do(ctx context.Context, request string) error {
	said := []Message{{From: "user", Text: request}}
	fmt.Fprintf(l.Out, "user: %s\n", request)
	for range maxTurns {
		next, err := l.Model.Next(ctx, said)
		if err != nil {
			return err
		}
		said = append(said, next)
		if len(next.Calls) == 0 {
			reminder, over := l.stopped(ctx, next.Text)
			if over {
				return nil
			}
			said = append(said, Message{From: "user", Text: reminder})
			continue
		}
		results, over := l.carryOut(ctx, next.Calls)
		if over {
			return nil
		}
		said = append(said, Message{From: "tools", Results: results})
	}
	return fmt.Errorf("the model came to no end in %d turns", maxTurns)
}

// stopped is for a message without calls. Either the run is over then, or the
// model is reminded of what it has to do before.
func (l *Loop) stopped(ctx context.Context, text string) (reminder string, over bool) {
	fmt.Fprintf(l.Out, "model: %s\n", text)
	status := l.Run.ModelStopped(ctx)
	if status.Reminder == "" {
		l.ended(status)
		return "", true
	}
	fmt.Fprintf(l.Out, "reminder %d: %s\n", status.Reminders, status.Reminder)
	return status.Reminder, false
}

// carryOut makes the calls of one message. The hint of the last outcome says how
// to go on.
func (l *Loop) carryOut(ctx context.Context, calls []runtime.Call) (results []Result, over bool) {
	turn := l.Run.Turn(engine.TurnConfig{})
	outcomes := turn.ExecuteBatch(ctx, calls, engine.Parallel)
	for i, o := range outcomes {
		if o.Loop == runtime.LoopWait {
			// The call waits for consent. The rest of the batch has run meanwhile.
			// A program that ends here would keep the id of the call and await it later.
			outcomes[i] = l.Session.Await(ctx, o.CallID)
		}
	}
	for i, o := range outcomes {
		r := resultOf(o)
		results = append(results, r)
		fmt.Fprintf(l.Out, "call %s %s\n  %s\n", o.Tool, calls[i].Input, r.Text())
		if o.Run != runtime.RunRunning || o.Loop != runtime.LoopContinue {
			fmt.Fprintf(l.Out, "  (the run is %s, the loop should %s%s)\n", o.Run, o.Loop, open(o.PendingExit))
		}
		over = o.Loop == runtime.LoopExit
	}
	if over {
		l.ended(l.Run.Status())
	}
	return results, over || ctx.Err() != nil
}

func (l *Loop) ended(status engine.RunStatus) {
	fmt.Fprintf(l.Out, "the run is %s%s\n", status.State, open(status.PendingExit))
}

func open(required []string) string {
	if len(required) == 0 {
		return ""
	}
	return ", open: " + strings.Join(required, ", ")
}

func resultOf(o runtime.Outcome) Result {
	r := Result{Call: o.CallID, Outcome: o.Kind.String(), Reason: o.Reason.String(), Output: json.RawMessage(o.Output), Artifact: o.Artifact, Message: o.Message}
	for _, step := range o.Steps {
		r.First = append(r.First, step.String())
	}
	return r
}

// Text is what the model reads.
func (r Result) Text() string {
	b, err := json.Marshal(r)
	if err != nil {
		return errors.Join(errors.New("the result has no JSON form"), err).Error()
	}
	return string(b)
}
