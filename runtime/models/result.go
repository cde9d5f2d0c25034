package models

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
)

// A Result is what a model is told of one call.
type Result struct {
	// ID and Tool are those under which the model made the call: ID is that of the provider, Tool may be an alias.
	ID, Tool string

	// Text is a JSON object: the outcome, and of these what there is: reason, message, output,
	// artifact, first (the steps after which the same call would be admitted), of (the earlier call
	// that this one repeats), call (of a call that waits for consent), retryable and notes (of a
	// deprecated tool). It has nothing of the host: no times, revisions, causes of errors or violations
	// of an output.
	Text string

	// IsError says that the tool did not do, or not yet do, what it was called for.
	IsError bool

	Outcome runtime.Outcome // for the program; a model must not see it
}

// Members returns the members of Text, for an SDK that takes a map. Each value is a
// json.RawMessage.
func (r *Result) Members() map[string]any { return members([]byte(r.Text)) }

// text is Result.Text.
type text struct {
	Outcome   string                `json:"outcome"`
	Reason    string                `json:"reason,omitempty"`
	Output    json.RawMessage       `json:"output,omitempty"`
	Message   string                `json:"message,omitempty"`
	Artifact  *runtime.StoredOutput `json:"artifact,omitempty"`
	First     []string              `json:"first,omitempty"`
	Of        string                `json:"of,omitempty"`
	Call      string                `json:"call,omitempty"`
	Retryable bool                  `json:"retryable,omitempty"`
	Notes     []string              `json:"notes,omitempty"`
}

// ResultOf returns what a model is told of a call with that outcome. Its Tool is the name of the tool
// in the registry: set it for a model that called the tool by an alias.
func ResultOf(o runtime.Outcome) Result {
	t := text{
		Outcome: o.Kind.String(), Reason: o.Reason.String(), Output: json.RawMessage(o.Output), Message: o.Message,
		Artifact: o.Artifact, Of: o.Of, Retryable: o.Retryable, Notes: o.Notes,
	}
	for _, step := range o.Steps {
		t.First = append(t.First, step.String())
	}
	if o.Kind == runtime.Pending {
		t.Call = o.CallID
	}
	return Result{
		ID: o.CallID, Tool: o.Tool, Text: t.encode(), Outcome: o,
		IsError: o.Kind != runtime.Completed && o.Kind != runtime.Duplicate,
	}
}

// answer gives a result the id under which the model made the call, and the text of the outcome as the model is told of it.
func (r *Result) answer(id string, told runtime.Outcome) {
	r.ID = id
	if told.Kind == runtime.Pending || told.Of != r.Outcome.Of || told.Message != r.Outcome.Message {
		told.CallID = cmp.Or(id, told.CallID)
		r.Text = ResultOf(told).Text
	}
}

// encode returns the JSON of t. An output that is not JSON is left out.
func (t text) encode() string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(t); err != nil {
		b.Reset()
		t.Output, t.Artifact = nil, nil
		_ = e.Encode(t) // texts have a JSON form
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

// Dispatch carries out the calls of one message of a model and returns a result for each, in their
// order. The calls run together (engine.Turn.ExecuteBatch). A call that waits for consent is waited
// for until ctx ends; then its result says that it is pending, and it goes on waiting. Dispatching
// calls again that have the same ids returns their outcomes and runs nothing, but for calls that were denied
// shutting_down, at_capacity, too_many_pending, journal_unavailable or program_changed: they are judged anew. Ids of a provider may repeat, so a program that dispatches calls
// itself gives them ids of their own (Conversation.Own): the results have those of the provider.
func Dispatch(ctx context.Context, turn *engine.Turn, calls []runtime.Call) []Result {
	return dispatch(ctx, ctx, turn, calls)
}

// dispatch is Dispatch with a context of its own for the wait for consent.
func dispatch(ctx, waiting context.Context, turn *engine.Turn, calls []runtime.Call) []Result {
	outcomes := turn.ExecuteBatch(ctx, calls, engine.Parallel)
	results := make([]Result, len(outcomes))
	for i, o := range outcomes {
		if o.Kind == runtime.Pending {
			o = turn.Await(waiting, o.CallID)
		}
		results[i] = ResultOf(o)
		results[i].Tool = calls[i].Tool      // the name that the model called, which may be an alias
		if id := told(&calls[i]); id != "" { // that of the model, which the result answers
			results[i].answer(id, o)
		}
	}
	return results
}
