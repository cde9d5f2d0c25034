package opa

import (
	"testing"
	"time"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/rego/regotest"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/shadow"
)

// TestShadowOfRego evaluates a second generation together with the first, with counts
// that each keeps in the facts in its own form.
func TestShadowOfRego(t *testing.T) {
	limit := func(n string) string {
		return regotest.Tool(`allow contains {"code": "workspace", "message": "m"} if input.args.path != ""

deny contains {"code": "too_many", "message": "m"} if input.run.counts.file_write >= ` + n)
	}
	p, reg := load(t, "w.rego", limit("6"))
	candidate, err := Load(regotest.Dir("w.rego", limit("3")), reg)
	require.NoError(t, err)
	var seen []shadow.Difference
	second := shadow.New(candidate, func(d shadow.Difference) { seen = append(seen, d) })
	exec, err := engine.NewExecutor(reg, p, engine.WithPendingRequests(), engine.WithPolicyTimeout(time.Minute),
		engine.WithDecisionTap(second))
	require.NoError(t, err)
	run, err := exec.Session(engine.SessionConfig{Principal: "agent", Capabilities: []string{"filesystem.write"}}).StartRun(t.Context(), engine.RunConfig{})
	require.NoError(t, err)
	a := asking{exec, run}
	for range 8 {
		a.call(t, "file_write", writing)
	}
	require.NoError(t, exec.Shutdown(t.Context()))
	require.Len(t, seen, 3, "the calls from the fourth to the sixth") // both policies deny the seventh and the eighth
	for _, d := range seen {
		assert.NotEqual(t, runtime.EffectDeny, d.Active.Effect)
		assert.Equal(t, []string{"too_many"}, d.Shadow.Denials)
		assert.Equal(t, []string{p.Revision(), candidate.Revision()}, []string{d.Active.Revision, d.Shadow.Revision})
	}
	assert.Equal(t, shadow.Stats{Compared: 8, Different: 3}, second.Stats())
}
