package host_test

import (
	"context"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/host"
)

// TestOperatorsOfThePolicyDirectory: package ambit.operators of the policy directory decides about acts,
// unless the configuration has an operator policy.
func TestOperatorsOfThePolicyDirectory(t *testing.T) {
	fs := policies()
	fs["operators.rego"] = &fstest.MapFile{Data: []byte("package ambit.operators\n\nallow if {\n\tinput.act == \"audit\"\n\t\"auditors\" in input.actor.groups\n}\n")}
	auditor := runtime.Actor{ID: "eve", Groups: []string{"auditors"}, Method: "token"}
	for _, configured := range []runtime.OperatorPolicy{nil, runtime.OperatorDefaults{}} {
		h, err := host.Open(t.Context(), host.Config{
			Tools: noteTools(nil), Policies: fs, Dir: t.TempDir(), Report: func(error) {}, Operators: configured,
		})
		require.NoError(t, err)
		may := func(by runtime.Actor) bool {
			return h.Executor.May(t.Context(), runtime.ActAudit, by, runtime.ActTarget{}) == nil
		}
		assert.Equal(t, configured == nil, may(auditor))
		assert.Equal(t, configured != nil, may(runtime.ProgramActor("job")), "the defaults let code read")
		require.NoError(t, h.Close(context.Background()))
	}
}
