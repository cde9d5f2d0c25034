package audit_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/audit"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// anything is the codec of a tool that takes any arguments.
type anything struct{}

func (anything) Decode(b []byte, _ wire.Limits) (wire.Value, []wire.Violation) {
	return wire.Raw(bytes.Clone(b)), nil
}

// TestOfAnExecutor holds that what an executor records verifies: that the index
// that it writes is what its leaves say.
// SEMANTICS 2.1.3
func TestOfAnExecutor(t *testing.T) {
	r := newRig(t)
	reg, err := runtime.NewRegistry(runtime.NewDynamicTool(&runtime.Spec{Name: "echo", Deadline: time.Second}, anything{},
		func(_ context.Context, in wire.Value) (wire.Value, error) { return in, nil }))
	require.NoError(t, err)
	policy := runtime.PolicyFunc(func(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
		if in.CallID == "c3" {
			return runtime.Decision{Denials: []runtime.Denial{{Code: "no_threes"}}}, nil
		}
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	})
	for range 2 { // the second continues the first
		l := r.open()
		exec, err := engine.NewExecutor(reg, policy, engine.WithJournal(l.Journal()))
		require.NoError(t, err)
		require.NoError(t, exec.Recover(t.Context()))
		run, err := exec.Session(engine.SessionConfig{ID: "s", Principal: "alice"}).StartRun(t.Context(), engine.RunConfig{})
		require.NoError(t, err)
		turn := run.Turn(engine.TurnConfig{Budget: time.Minute})
		for _, id := range []string{"c1", "c2", "c3"} {
			turn.Execute(t.Context(), runtime.Call{ID: id, Tool: "echo", Input: []byte(`{"text":"é<\"` + id + `"}`)})
		}
		require.NoError(t, run.Close(t.Context()))
		require.NoError(t, exec.Shutdown(t.Context()))
		require.NoError(t, l.Close(t.Context()))
	}
	rep := r.verify()
	require.Equal(t, audit.VerdictOK, rep.Verdict, "%v", rep.Bad)
	assert.Zero(t, rep.Unproved())
	assert.Empty(t, r.reported())

	// All leaves are looked at closely when nothing proves them.
	list, err := r.inner.Read(t.Context(), 0, 1000)
	require.NoError(t, err)
	assert.Equal(t, audit.ClassUnsigned, verify(t, &store{entries: list}, r.verifier, nil).Bad.Class)

	var out bytes.Buffer
	_, err = audit.ExportDecisions(t.Context(), &out, &r.inner, 0, nil)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.NotEmpty(t, lines)
	for _, line := range lines {
		assert.Contains(t, line, `"effect":`)
		assert.Contains(t, line, `"args":{"text":`)
	}
	assert.Contains(t, out.String(), `"code":"no_threes"`)
	for _, m := range []journal.Mark{journal.MarkOpened, journal.MarkStarted, journal.MarkEnded} {
		assert.True(t, slices.ContainsFunc(list, func(e journal.Entry) bool { return e.Mark == m }), "mark %d", m)
	}
}
