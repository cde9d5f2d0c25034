package models_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/models"
)

// TestResultsHaveTheNameThatWasCalled: the result of a call by an alias has the alias, and its
// outcome the name of the tool.
func TestResultsHaveTheNameThatWasCalled(t *testing.T) {
	tool := dynamic("create_issue", `{"type":"object"}`)
	tool.Spec().Alias = "createIssue"
	reg, err := runtime.NewRegistry(tool)
	require.NoError(t, err)
	exec, err := engine.NewExecutor(reg, runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	}))
	require.NoError(t, err)
	run, err := exec.Session(engine.SessionConfig{Principal: "agent"}).StartRun(t.Context(), engine.RunConfig{})
	require.NoError(t, err)
	results := models.Dispatch(t.Context(), run.Turn(engine.TurnConfig{}), []runtime.Call{call("1", "createIssue", `{}`), call("2", "create_issue", `{}`)})
	assert.Equal(t, "createIssue", results[0].Tool)
	assert.Equal(t, "create_issue", results[0].Outcome.Tool)
	assert.Equal(t, "create_issue", results[1].Tool)
}
