package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
)

func failing(err error) readFunc {
	return func(context.Context, *readInput) (*readOutput, error) { return nil, err }
}

// SEMANTICS 2.4.2, 2.4.3
func TestPublicErrors(t *testing.T) {
	empty := errors.New("the account has 3.00 left")
	const hidden = `"file_read" failed`
	for name, tc := range map[string]struct {
		err            error
		message, code  string
		operators, not string
	}{
		"not marked":    {empty, hidden, "", "3.00 left", "is not public"},
		"marked":        {runtime.Public("no_funds", empty), "the account has 3.00 left", "no_funds", "3.00 left", ""},
		"wrapped":       {fmt.Errorf("pay at 10.0.0.7: %w", runtime.Public("no_funds", empty)), "the account has 3.00 left", "no_funds", "pay at 10.0.0.7", ""},
		"twice":         {runtime.Public("no_pay", fmt.Errorf("not paid: %w", runtime.Public("no_funds", empty))), "not paid: the account has 3.00 left", "no_pay", "not paid", ""},
		"joined":        {errors.Join(errors.New("close: EOF"), runtime.Public("no_funds", empty)), "the account has 3.00 left", "no_funds", "close: EOF", ""},
		"and exhausted": {runtime.Transient(runtime.Public("no_funds", empty)), "the account has 3.00 left", "no_funds", "3.00 left", ""},
		"no code":       {runtime.Public("", empty), hidden, "", `runtime.Public: the code "" is not a name`, ""},
		"upper case":    {runtime.Public("NoFunds", empty), hidden, "", `"NoFunds" is not a name of lower-case letters`, ""},
		"digit first":   {runtime.Public("4xx", empty), hidden, "", `"4xx" is not`, ""},
		"a sentence":    {runtime.Public("no funds", empty), hidden, "", `"no funds" is not`, ""},
		"not ASCII":     {runtime.Public("größe", empty), hidden, "", `"größe" is not`, ""},
		"longest":       {runtime.Public(strings.Repeat("x", 64), empty), "the account has 3.00 left", strings.Repeat("x", 64), "3.00 left", ""},
		"too long":      {runtime.Public(strings.Repeat("x", 65), empty), hidden, "", "is not a name", ""},
		"invalid above": {runtime.Public("No", runtime.Public("no_funds", empty)), "the account has 3.00 left", "no_funds", `"No" is not`, ""},
		"no text":       {runtime.Public("no_funds", errors.New("")), hidden, "no_funds", "", ""},
		"panics":        {runtime.Public("no_funds", angryError{}), "engine_test.angryError, whose Error method panics", "no_funds", "panics", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, readTool(failing(tc.err)))
			out := r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
			assert.Equal(t, runtime.Failed, out.Kind)
			assert.Equal(t, runtime.ReasonHandlerError, out.Reason)
			assert.Equal(t, tc.message, out.Message)
			assert.Equal(t, tc.code, out.Detail.Code)
			faults := r.allFaults()
			require.Len(t, faults, 1)
			assert.Contains(t, faults[0].Error(), tc.operators)
			if tc.not != "" {
				assert.NotContains(t, faults[0].Error(), tc.not)
			}
			text, err := out.MarshalJSON()
			require.NoError(t, err)
			assert.Equal(t, tc.code != "", strings.Contains(string(text), `"detail":{"code":"`+tc.code+`"}`), "%s", text)
		})
	}
	require.NoError(t, runtime.Public("no_funds", nil))
	require.NoError(t, runtime.Public("No funds", nil))
	require.ErrorIs(t, runtime.Public("no_funds", empty), empty)
	require.ErrorIs(t, runtime.Public("No funds", empty), empty)
}

func TestPublicErrorsPassThroughCommit(t *testing.T) {
	r := newRig(t, readTool(func(ctx context.Context, _ *readInput) (*readOutput, error) {
		return nil, runtime.Commit(ctx, func() error { return runtime.Public("no_funds", errors.New("the account is empty")) })
	}))
	out := r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
	assert.Equal(t, "the account is empty", out.Message)
	assert.Equal(t, "no_funds", out.Detail.Code)
}

func TestPublicErrorsKeepSensitiveValues(t *testing.T) {
	for text, want := range map[string]string{
		"the password hunter2 is wrong": "the password (sensitive) is wrong",
		"no such user":                  "no such user",
	} {
		r := newRig(t, runtime.NewTool(&runtime.Spec{Name: "login"}, &loginInputRule,
			func(context.Context, *loginInput) (*readOutput, error) {
				return nil, runtime.Public("refused", errors.New(text))
			}))
		out := r.turn().Execute(t.Context(), callOf("c1", "login", `{"user":"eve","password":"hunter2"}`))
		assert.Equal(t, want, out.Message)
		assert.Equal(t, "refused", out.Detail.Code)
	}
}

func TestPublicErrorsOutliveTheProcess(t *testing.T) {
	var j journal.Memory
	r := recovered(t, &j, readTool(failing(fmt.Errorf("pay: %w", runtime.Public("no_funds", errors.New("the account is empty"))))))
	first := r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
	require.Equal(t, "no_funds", first.Detail.Code)

	entries, err := j.Read(t.Context(), 0, 100)
	require.NoError(t, err)
	var leaves []string
	for _, e := range entries {
		leaves = append(leaves, string(e.Leaf))
	}
	assert.Contains(t, strings.Join(leaves, "\n"), `"code":"no_funds"`)

	r = recovered(t, &j, readTool(okRead))
	run, open := r.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"}).Run("r")
	require.True(t, open)
	assert.Equal(t, first, run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c1", "file_read", goodInput)))
}

// TestPublicErrorsOfAttempts: the last attempt determines the outcome and what its
// error tells the model.
func TestPublicErrorsOfAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempts := 0
		r := newRig(t, readTool(func(context.Context, *readInput) (*readOutput, error) {
			attempts++
			return nil, runtime.Public(fmt.Sprintf("busy_%d", attempts), runtime.Transient(fmt.Errorf("all lines are busy, attempt %d", attempts)))
		}, func(s *runtime.Spec) {
			s.Idempotent, s.Retry = true, &runtime.Retry{Max: 2, Initial: time.Millisecond}
		}))
		out := r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
		assert.Equal(t, 3, attempts)
		assert.Equal(t, "busy_3", out.Detail.Code)
		assert.Equal(t, "all lines are busy, attempt 3", out.Message)
	})
}

// TestPublicErrorsOfPrepare: a public error of an undo's prepare reaches the model like
// that of a handler.
func TestPublicErrorsOfPrepare(t *testing.T) {
	r := newRig(t, runtime.NewTool(&runtime.Spec{Name: "put", Undo: &runtime.UndoSpec{}}, &readInputRule, okRead,
		runtime.WithUndo(&readInputRule, &readOutputRule,
			func(context.Context, *readInput) (*readInput, error) {
				return nil, runtime.Public("locked", errors.New("the page is locked"))
			},
			func(context.Context, *runtime.Undo[readInput, readInput, readOutput]) error { return nil })))
	out := r.turn().Execute(t.Context(), callOf("c1", "put", goodInput))
	assert.Equal(t, "the page is locked", out.Message)
	assert.Equal(t, "locked", out.Detail.Code)
}
