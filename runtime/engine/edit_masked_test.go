package engine_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/engine"
)

// TestEditKeepsMaskedValues: an approver who sends back what was shown, with another member changed, keeps
// the secret that the mask stands for. The mask anywhere else is no secret.
// SEMANTICS 5.2.10
func TestEditKeepsMaskedValues(t *testing.T) {
	const password = "hunter2\"tricky"
	var got loginInput
	spec := &runtime.Spec{Name: "login"}
	asking()(spec)
	tool := runtime.NewTool(spec, &loginInputRule, func(_ context.Context, in *loginInput) (*readOutput, error) {
		got = *in
		return &readOutput{}, nil
	})
	r := newInbox(t, tool)
	turn := r.run().Turn(engine.TurnConfig{})
	input, err := json.Marshal(map[string]string{"user": "bob", "password": password})
	require.NoError(t, err)
	ask := func(id string) (request string, shown map[string]string) {
		out := turn.Execute(t.Context(), callOf(id, "login", string(input)))
		require.Equal(t, runtime.Pending, out.Kind)
		q, _ := r.exec.Request(out.RequestID)
		require.NoError(t, json.Unmarshal(q.Shown, &shown))
		require.NotContains(t, shown["password"], "hunter2")
		return out.RequestID, shown
	}
	edited := func(request string, edit map[string]string) action.Resolution {
		a := yes("alice")
		a.Edit, err = json.Marshal(edit)
		require.NoError(t, err)
		return r.exec.Decide(t.Context(), request, a)
	}
	request, shown := ask("c1")
	mask := shown["password"]
	moved := edited(request, map[string]string{"user": "eve", "password": mask + " "})
	assert.Equal(t, runtime.ResolutionAccepted, moved.Kind, "a text of another form is a new secret")
	assert.Equal(t, loginInput{"eve", mask + " "}, got)

	request, shown = ask("c2")
	shown["user"] = "eve"
	require.Equal(t, runtime.ResolutionAccepted, edited(request, shown).Kind)
	assert.Equal(t, loginInput{"eve", password}, got)

	request, shown = ask("c3")
	shown["password"] = "(sensitive: 7 characters, 0123456789abcdef)"
	res := edited(request, shown)
	assert.Equal(t, []any{runtime.ResolutionRejected, consent.InvalidInput}, []any{res.Kind, res.Reason})
	shown["user"], shown["password"] = mask, "new"
	require.Equal(t, runtime.ResolutionAccepted, edited(request, shown).Kind)
	assert.Equal(t, loginInput{mask, "new"}, got, "what is not sensitive is a text")
}

// TestUnseenEditIsNotApproved: with a quorum of two, who was shown the call as it was asked does not
// approve the edit of the other one.
// SEMANTICS 5.2.9
func TestUnseenEditIsNotApproved(t *testing.T) {
	r := newInbox(t, readTool(okRead, asking(func(c *runtime.Consent) { c.Quorum = 2 })))
	out := r.run().Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c1", "file_read", goodInput))
	shown, _ := r.exec.Request(out.RequestID)
	bob := yes("bob")
	bob.Edit = []byte(`{"path":"secrets.md","limit":3}`)
	require.Equal(t, runtime.ResolutionRecorded, r.exec.Decide(t.Context(), out.RequestID, bob).Kind)
	alice := yes("alice")
	for _, alice.Binding = range []consent.Digest{{}, shown.Binding} {
		res := r.exec.Decide(t.Context(), out.RequestID, alice)
		assert.Equal(t, []any{runtime.ResolutionRejected, consent.TermsChanged, 1}, []any{res.Kind, res.Reason, res.Missing})
	}
	now, _ := r.exec.Request(out.RequestID)
	alice.Binding = now.Binding
	assert.Equal(t, runtime.Completed, r.exec.Decide(t.Context(), out.RequestID, alice).Outcome.Kind)
}
