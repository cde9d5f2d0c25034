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

type previewFunc = func(context.Context, *readInput) (runtime.Preview, error)

// shownTool is a tool that asks and shows what it would do. Its handler must not run.
func shownTool(t *testing.T, preview previewFunc, change ...func(*runtime.Spec)) *runtime.Tool {
	spec := &runtime.Spec{Name: "pay", Effect: runtime.SideEffectWrite, Deadline: 5 * time.Second}
	for _, f := range append(change, asking(func(c *runtime.Consent) { c.Preview = true })) {
		f(spec)
	}
	return runtime.NewTool(spec, &readInputRule, func(context.Context, *readInput) (*readOutput, error) {
		t.Error("the handler runs")
		return nil, errors.New("it must not run")
	}, runtime.WithPreview(preview))
}

func failingPreview(err error) previewFunc {
	return func(context.Context, *readInput) (runtime.Preview, error) { return runtime.Preview{}, err }
}

// TestPreviewThatFails: the call fails before an approver is asked, with the text that
// the tool lets the model see.
func TestPreviewThatFails(t *testing.T) {
	const hidden = `"pay" could not show what the call would do`
	safe := func(s *runtime.Spec) { s.SafeErrors = true }
	mischief := errors.New("no account at 10.0.0.7")
	for name, tc := range map[string]struct {
		preview                  previewFunc
		change                   func(*runtime.Spec)
		message, code, operators string
	}{
		"an error":       {failingPreview(mischief), named("pay"), hidden, "", "preview: no account at 10.0.0.7"},
		"a public error": {failingPreview(fmt.Errorf("ask bank: %w", runtime.Public("no_account", errors.New("there is no such account")))), named("pay"), "there is no such account", "no_account", "preview: ask bank: there is no such account"},
		"a safe error":   {failingPreview(mischief), safe, "no account at 10.0.0.7", "", "preview: no account at 10.0.0.7"},
		"a panic":        {func(context.Context, *readInput) (runtime.Preview, error) { panic("mischief") }, safe, hidden, "", "preview: panic: mischief"},
	} {
		t.Run(name, func(t *testing.T) {
			var j journal.Memory
			r := recoveredWith(t, &j, runtime.PolicyFunc(allowAll), shownTool(t, tc.preview, tc.change))
			run := r.run()
			out := run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c1", "pay", goodInput))
			assert.Equal(t, runtime.Failed, out.Kind)
			assert.Equal(t, runtime.ReasonPreviewFailed, out.Reason)
			assert.Equal(t, []runtime.Reason{runtime.ReasonPreviewFailed}, out.AllReasons)
			assert.Equal(t, tc.message, out.Message)
			assert.Equal(t, runtime.Detail{Code: tc.code}, out.Detail)
			assert.Equal(t, runtime.LoopContinue, out.Loop)
			assert.Empty(t, out.RequestID)
			assert.Empty(t, run.Status().Invocations)
			faults := r.allFaults()
			require.Len(t, faults, 1)
			assert.Equal(t, runtime.ReasonPreviewFailed, faults[0].Reason)
			assert.Contains(t, faults[0].Error(), tc.operators)
			assert.Equal(t, []string{"tool.invoked", "tool.validated", "tool.failed"}, r.kinds("c1"))

			again := recoveredWith(t, &j, runtime.PolicyFunc(allowAll), shownTool(t, tc.preview, tc.change))
			open, ok := again.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"}).Run("r")
			require.True(t, ok)
			assert.Equal(t, out, open.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c1", "pay", goodInput)))
			assert.Empty(t, again.allFaults())
		})
	}
}

// TestPreviewThatIsLate ends with the deadline of the tool.
func TestPreviewThatIsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{shownTool(t, func(ctx context.Context, _ *readInput) (runtime.Preview, error) {
			<-ctx.Done()
			time.Sleep(time.Second)
			return runtime.Preview{}, ctx.Err()
		})}, engine.WithPendingRequests())
		began := time.Now()
		out := r.turn().Execute(t.Context(), callOf("c1", "pay", goodInput))
		assert.Equal(t, 5*time.Second, time.Since(began))
		assert.Equal(t, runtime.Failed, out.Kind)
		assert.Equal(t, runtime.ReasonPreviewFailed, out.Reason)
		assert.Equal(t, `"pay" could not show in time what the call would do`, out.Message)
		time.Sleep(time.Minute)
		require.NoError(t, r.exec.Shutdown(t.Context()))
	})
}

// TestPreviewAfterTheApproval: the call fails, and what it had reserved is released.
func TestPreviewAfterTheApproval(t *testing.T) {
	fails := false
	r := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{shownTool(t, func(context.Context, *readInput) (runtime.Preview, error) {
		if fails {
			return runtime.Preview{}, runtime.Public("gone", errors.New("the account is gone"))
		}
		return runtime.Preview{Text: "3.00"}, nil
	}, func(s *runtime.Spec) { s.Rules.MaxCalls = 1 })}, engine.WithPendingRequests())
	turn := r.turn()
	out := turn.Execute(t.Context(), callOf("c1", "pay", goodInput))
	require.Equal(t, runtime.Pending, out.Kind)
	fails = true
	res := r.exec.Decide(t.Context(), out.RequestID, yes("alice"))
	require.NotNil(t, res.Outcome)
	assert.Equal(t, runtime.Failed, res.Outcome.Kind)
	assert.Equal(t, runtime.ReasonPreviewFailed, res.Outcome.Reason)
	assert.Equal(t, "gone", res.Outcome.Detail.Code)
	fails = false
	assert.Equal(t, runtime.Pending, turn.Execute(t.Context(), callOf("c2", "pay", goodInput)).Kind, "the slot is free")
}

// TestNoApproverNoPreview: the call is denied consent_unavailable, and the preview is
// not made.
// SEMANTICS 5.1.3
func TestNoApproverNoPreview(t *testing.T) {
	r := newRig(t, shownTool(t, func(context.Context, *readInput) (runtime.Preview, error) {
		t.Error("the preview runs")
		return runtime.Preview{}, nil
	}))
	out := r.turn().Execute(t.Context(), callOf("c1", "pay", goodInput))
	assert.Equal(t, runtime.Denied, out.Kind)
	assert.Equal(t, runtime.ReasonConsentUnavailable, out.Reason)
}

// TestRefusalsComeBeforePreviews: a call that a rule refuses is denied, also when its
// preview would fail.
func TestRefusalsComeBeforePreviews(t *testing.T) {
	r := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{
		shownTool(t, failingPreview(errors.New("mischief")), func(s *runtime.Spec) { s.Rules.RequiresPreceding = []string{"file_read"} }),
		readTool(okRead),
	}, engine.WithPendingRequests())
	out := r.turn().Execute(t.Context(), callOf("c1", "pay", goodInput))
	assert.Equal(t, runtime.Denied, out.Kind)
	assert.Equal(t, []runtime.Reason{runtime.ReasonPrerequisiteMissing}, out.AllReasons)
	assert.False(t, strings.Contains(out.Message, "show"), out.Message)
}
