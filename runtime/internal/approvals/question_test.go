package approvals_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/approvals"
)

// TestQuestion: the declaration and the decision of the policy ask together; a rule without a name has one.
func TestQuestion(t *testing.T) {
	call := consent.Call{ID: "c1", Tool: "put"}
	spec := &runtime.Spec{Name: "put", Effect: runtime.SideEffectWrite, Undo: &runtime.UndoSpec{}, Consent: &runtime.Consent{
		Ask: runtime.ConsentAskAlways, Message: "Put it", Approvers: []string{"bob", "eve"}, Quorum: 2, Timeout: time.Hour, AllowEdit: true,
	}}
	q, err := approvals.Question(spec, call, &runtime.Decision{
		Asks: []runtime.Ask{{ID: "big", Message: "It is big"}, {Quorum: 1}}, Obligations: []runtime.Obligation{{Code: "notify", Args: []byte(`{"to":"x"}`)}},
	})
	require.NoError(t, err)
	assert.Equal(t, call, q.Call)
	assert.Equal(t, "write", q.Effect)
	assert.True(t, q.Undoable)
	assert.Equal(t, "Put it", q.Message)
	var codes []string
	for _, r := range q.Reasons {
		codes = append(codes, r.Code)
	}
	assert.ElementsMatch(t, []string{"big", "policy", approvals.RuleDeclaration}, codes)
	assert.Equal(t, 2, q.Requirement.Quorum)
	assert.True(t, q.Requirement.AllowEdit)
	require.Len(t, q.Obligations, 1)
	assert.Equal(t, "notify", q.Obligations[0].Code)
	assert.JSONEq(t, `{"to":"x"}`, string(q.Obligations[0].Args))

	q, err = approvals.Question(&runtime.Spec{}, call, &runtime.Decision{Effect: runtime.EffectAsk})
	require.NoError(t, err)
	assert.Equal(t, "policy", q.Reasons[0].Code)
	_, err = approvals.Question(spec, call, &runtime.Decision{Asks: []runtime.Ask{{Approvers: []string{"carol"}}}})
	require.Error(t, err, "declaration and policy name no approver together")
}
