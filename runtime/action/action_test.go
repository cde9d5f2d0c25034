package action_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
)

// TestResultOf: the results of actions are those that journals hold.
func TestResultOf(t *testing.T) {
	for _, row := range []struct {
		err    error
		result string
		code   action.Code
	}{
		{nil, "ok", ""},
		{&action.Error{Code: action.CodeBusy}, "rejected", "busy"},
		{fmt.Errorf("undo: %w", &action.Error{Code: action.CodeTimedOut, Attempted: true}), "failed", "timed_out"},
		{&action.Error{Code: action.CodeFailed}, "failed", ""},
		{errors.New("another error"), "failed", ""},
	} {
		result, code := action.ResultOf(row.err)
		assert.Equal(t, row.result, result)
		assert.Equal(t, row.code, code)
	}
}

// TestError: an error has its code, a text for operators and its cause, and no code is no error.
func TestError(t *testing.T) {
	assert.NoError(t, action.Code("").Err())
	assert.EqualError(t, action.CodeBusy.Err(), "busy")
	cause := errors.New("changed")
	err := error(&action.Error{Code: action.CodeDrift, Detail: "the page has changed", Err: cause})
	assert.EqualError(t, err, "drift: the page has changed")
	assert.ErrorIs(t, err, cause)
}

// TestUndoResult: each call of a run is in the list that its error says, and a run is complete while no
// undo has failed or was not possible.
func TestUndoResult(t *testing.T) {
	var r action.UndoResult
	r.Add(action.UndoneCall{CallID: "undone"})
	r.Add(action.UndoneCall{CallID: "reads", Err: action.CodeNothingToUndo.Err()})
	assert.True(t, r.Complete)
	for _, c := range []action.Code{action.CodeNotUndoable, action.CodeExpired} {
		r.Add(action.UndoneCall{CallID: string(c), Err: c.Err()})
		assert.False(t, r.Complete)
	}
	r.Add(action.UndoneCall{CallID: "failed", Err: action.CodeDrift.Err()})
	r.Add(action.UndoneCall{CallID: "other", Err: errors.New("another error")})
	assert.Equal(t, []string{"undone"}, r.Undone)
	assert.Equal(t, []string{"reads"}, r.Reads)
	assert.Equal(t, []string{"not_undoable", "expired"}, r.NotUndoable)
	assert.Equal(t, []string{"failed", "other"}, r.Failed)
	assert.Len(t, r.Calls, 6)
}

// TestGrantFilter: each field selects, and an empty one matches all.
func TestGrantFilter(t *testing.T) {
	now := time.Unix(1_000, 0)
	g := &consent.Grant{ID: "g", Session: "s", Principal: "p", Tool: "t", Rules: []string{"r"}, Expires: now.Add(time.Hour)}
	for _, f := range []action.GrantFilter{{}, {ID: "g"}, {Session: "s"}, {Principal: "p"}, {Tool: "t"}, {Live: true}} {
		assert.True(t, f.Matches(g, now), "%+v", f)
	}
	for _, f := range []action.GrantFilter{{ID: "x"}, {Session: "x"}, {Principal: "x"}, {Tool: "x"}} {
		assert.False(t, f.Matches(g, now), "%+v", f)
	}
	assert.False(t, action.GrantFilter{Live: true}.Matches(g, now.Add(2*time.Hour)), "it has expired")
}

type rude struct{}

func (rude) Error() string { panic("no text") }

// TestCallErrorHides: what hides sensitive values changes the text of the fault itself.
func TestCallErrorHides(t *testing.T) {
	f := &action.CallError{Tool: "put", CallID: "c1", Text: "no room for 4711"}
	assert.Same(t, f, f.Hide(func(text string) string { return strings.ReplaceAll(text, "4711", "(hidden)") }))
	assert.EqualError(t, f, `call "c1" of "put": no room for (hidden)`)
}

// TestCallError: the text of a fault is its own, or that of its panic, its error or its reason; it names the
// call once.
func TestCallError(t *testing.T) {
	for _, row := range []struct {
		fault action.CallError
		text  string
	}{
		{action.CallError{Err: errors.New("of no call")}, "of no call"},
		{action.CallError{Tool: "put", CallID: "c1", Err: errors.New("raw"), Text: "hidden"}, `call "c1" of "put": hidden`},
		{action.CallError{Tool: "put", CallID: "c1", Text: `call "c1" of "put" failed`}, `call "c1" of "put" failed`},
		{action.CallError{Panic: "oops", Err: errors.New("raw")}, "panic: oops"},
		{action.CallError{Err: rude{}}, "action_test.rude, whose Error method panics"},
		{action.CallError{Reason: runtime.ReasonLeaseLost}, "lease_lost"},
	} {
		assert.EqualError(t, &row.fault, row.text)
	}
	cause := errors.New("cause")
	assert.ErrorIs(t, &action.CallError{Err: cause, Text: "hidden"}, cause)
}
