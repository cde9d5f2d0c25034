package metrics_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/host/metrics"
)

// TestDeprecatedCalls: calls of a deprecated tool are counted by tool, however they end and
// whichever name they use; calls of others are not.
func TestDeprecatedCalls(t *testing.T) {
	reg, err := runtime.NewRegistry(
		runtime.NewTool(&runtime.Spec{Name: "fetch", Version: "1.0.0", Effect: runtime.SideEffectRead, RenamedFrom: []string{"get"}}, &rule, handle),
		runtime.NewTool(&runtime.Spec{
			Name: "read", Version: "1.2.0", Alias: "Read", Effect: runtime.SideEffectRead,
			Deprecated: &runtime.Deprecation{Since: "1.1.0", Use: "fetch", Message: "It reads more."},
		}, &rule, handle),
	)
	require.NoError(t, err)
	m := metrics.New(reg)
	exec, err := engine.NewExecutor(reg, runtime.PolicyFunc(policy), engine.WithCounter(m))
	require.NoError(t, err)
	none := text(t, m, exec)
	assert.NotContains(t, none, "\nambit_deprecated_calls_total{")

	run, err := exec.Session(engine.SessionConfig{ID: "s", Principal: "even"}).StartRun(t.Context(), engine.RunConfig{})
	require.NoError(t, err)
	for id, tool := range map[string]string{"c1": "read", "c2": "Read", "c3": "fetch", "c4": "get", "c5": "nothing"} {
		run.Turn(engine.TurnConfig{}).Execute(t.Context(), runtime.Call{ID: id, Tool: tool, Input: []byte(`{"text":"` + id + `"}`)})
	}
	failed := run.Turn(engine.TurnConfig{}).Execute(t.Context(), runtime.Call{ID: "c6", Tool: "read", Input: []byte(`{"text":"fail"}`)})
	require.Equal(t, runtime.Failed, failed.Kind)
	require.NoError(t, run.Close(t.Context()))

	page := text(t, m, exec)
	assert.Contains(t, page, "# TYPE ambit_deprecated_calls_total counter\nambit_deprecated_calls_total{tool=\"read\"} 3\n#")
	assert.Equal(t, 1, strings.Count(page, "\nambit_deprecated_calls_total{"))
	doc, err := m.JSON(exec.Stats())
	require.NoError(t, err)
	assert.Contains(t, string(doc), `{"tool":"read","deprecated":true,`)
	assert.Equal(t, 1, strings.Count(string(doc), `"deprecated"`))
}
