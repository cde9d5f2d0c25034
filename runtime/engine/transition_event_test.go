package engine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/tally"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
)

var began = time.Unix(1_000, 0)

// testSubject returns a call that waited a second for consent and was then asked about.
func testSubject() *transitionSubject {
	watch := new(tally.Watch)
	watch.Enter(tally.Consent, began)
	watch.Enter(tally.Other, began.Add(time.Second))
	return &transitionSubject{
		ID: "c", Tool: "put", Session: "s", Run: "r", Agent: "a", Principal: "p", Turn: 3, ClientRequest: "q", Request: "rq",
		Declared: &tools.Tool{Spec: &runtime.Spec{Version: "7"}, Index: 4}, Attempt: 2, Revision: "v", Began: began, Input: 11,
		Notes: []string{"renamed"}, Watch: watch,
	}
}

// transitionArtifact is the outcome of a call whose output was stored.
type transitionArtifact struct{ *runtime.StoredOutput }

func (a transitionArtifact) Artifact() *runtime.StoredOutput { return a.StoredOutput }

// TestEvent: each event says of which call it is, and what belongs to its kind.
func TestEvent(t *testing.T) {
	s := testSubject()
	base := runtime.Event{
		Time: began.Add(time.Minute), From: runtime.StateExecuting, To: runtime.StateCompleted, Tool: "put", ToolVersion: "7", CallID: "c", SessionID: "s",
		RunID: "r", Agent: "a", Principal: "p", Attempt: 2, Turn: 3, ClientRequest: "q", RequestID: "rq", Revision: "v", Duration: time.Minute, InputBytes: 11,
	}
	fault := &action.CallError{Stack: []byte("stack")}
	answer := &consent.Event{By: "eve", Result: &consent.Result{Resolution: runtime.ResolutionRejected, Rejection: consent.NotRecorded}}
	for name, row := range map[string]struct {
		kind runtime.EventKind
		note note
		want func(e *runtime.Event)
	}{
		"plain": {kind: runtime.EventStarted, note: note{By: "bob"}, want: func(e *runtime.Event) { e.By = "bob" }},
		"ends": {
			kind: runtime.EventFailed, note: note{
				Ends: true, Kind: runtime.Failed, Reason: runtime.ReasonPanic, Reasons: []runtime.Reason{runtime.ReasonPanic}, Fault: fault, Text: "why", Output: 5,
			},
			want: func(e *runtime.Event) {
				e.Outcome, e.Reason, e.AllReasons, e.Stack, e.Err, e.OutputBytes = runtime.Failed, runtime.ReasonPanic, []runtime.Reason{runtime.ReasonPanic}, "stack", "why", 5
				e.Notes, e.Times = s.Notes, s.Watch.Times()
			},
		},
		"answer": {kind: runtime.EventApprovalDecided, note: note{By: "bob", Answer: answer}, want: func(e *runtime.Event) {
			e.By, e.Resolution, e.Rejection = "eve", answer.Result.Resolution.String(), answer.Result.Rejection.String()
		}},
		"output": {kind: runtime.EventOutput, note: note{Live: &runtime.LiveCounts{Pieces: 1}}, want: func(e *runtime.Event) {
			e.Live = &runtime.LiveCounts{Pieces: 1}
		}},
		"undone":  {kind: runtime.EventUndone, note: note{Took: time.Second}, want: func(e *runtime.Event) { e.Duration = time.Second }},
		"started": {kind: runtime.EventStarted, note: note{Took: time.Second}, want: func(*runtime.Event) {}},
		"not undone": {kind: runtime.EventUndoFailed, note: note{Took: time.Second, Undo: &action.Error{Code: action.CodeDrift}}, want: func(e *runtime.Event) {
			result, code := action.ResultOf(&action.Error{Code: action.CodeDrift})
			e.Duration, e.Resolution, e.Rejection = time.Second, result, string(code)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var e runtime.Event
			row.note.At = base.Time
			want := base
			want.Kind = row.kind
			row.want(&want)
			s.Event(&e, row.kind, base.From, base.To, &row.note)
			assert.Equal(t, want, e)
		})
	}
	s.Declared = nil
	var e runtime.Event
	s.Event(&e, runtime.EventDenied, base.From, base.To, &note{At: base.Time})
	assert.Empty(t, e.ToolVersion)
	assert.Nil(t, e.Notes, "the notes are those of the outcome")
	assert.Zero(t, e.Times)
}

// TestCount: a counter is told of a transition what belongs to its kind, and nothing of a tool that is not declared.
func TestCount(t *testing.T) {
	s := testSubject()
	stored := transitionArtifact{&runtime.StoredOutput{ArtifactRef: runtime.ArtifactRef{Bytes: 99}}}
	answer := &consent.Event{Result: &consent.Result{Resolution: runtime.ResolutionAccepted, Approve: true}}
	for name, row := range map[string]struct {
		kind runtime.EventKind
		note note
		of   transitionArtifact
		want runtime.Transition
	}{
		"invoked": {kind: runtime.EventInvoked, want: runtime.Transition{Input: 11}},
		"ends": {
			kind: runtime.EventCompleted, note: note{Ends: true, Kind: runtime.Completed, Output: 5}, of: stored,
			want: runtime.Transition{Ended: true, Outcome: runtime.Completed, Output: 5, Attempts: 2, Times: s.Watch.Times(), Artifact: 99},
		},
		"short output": {kind: runtime.EventDenied, note: note{Ends: true, Reason: runtime.ReasonCooldown}, want: runtime.Transition{
			Ended: true, Reason: runtime.ReasonCooldown, Attempts: 2, Times: s.Watch.Times(),
		}},
		"answer":     {kind: runtime.EventApprovalDecided, note: note{Answer: answer}, want: runtime.Transition{Resolution: runtime.ResolutionAccepted, Approved: true}},
		"undone":     {kind: runtime.EventUndone, note: note{Took: time.Second}, want: runtime.Transition{Duration: time.Second}},
		"not undone": {kind: runtime.EventUndoFailed, note: note{Took: time.Second, Undo: &action.Error{}}, want: runtime.Transition{Duration: time.Second}},
		"output":     {kind: runtime.EventOutput, note: note{Dropped: 2}, want: runtime.Transition{Dropped: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			row.note.At = began.Add(time.Minute)
			row.want.Kind, row.want.Tool = row.kind, 4
			if row.want.Duration == 0 {
				row.want.Duration = time.Minute
			}
			assert.Equal(t, row.want, s.Count(row.kind, &row.note, row.of))
		})
	}
	s.Declared = nil
	got := s.Count(runtime.EventDenied, &note{At: began, Ends: true, Reason: runtime.ReasonUnknownTool}, stored)
	assert.Equal(t, runtime.Transition{Kind: runtime.EventDenied, Tool: -1, Ended: true, Reason: runtime.ReasonUnknownTool}, got)
}
