package history

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
)

// TestPlainOutcomesHaveTheSameText compares the short way of EncodeOutcome to the long one.
func TestPlainOutcomesHaveTheSameText(t *testing.T) {
	for kind := range runtime.Unknown + 1 {
		for _, run := range []runtime.RunState{0, 1} {
			o := runtime.Outcome{Kind: kind, Run: run}
			require.True(t, Plain(&o))
			got, err := EncodeOutcome(&o)
			require.NoError(t, err)
			want, err := json.Marshal(&outcome{Kind: kind, Run: run})
			require.NoError(t, err)
			assert.Equal(t, string(want), string(got))
		}
	}
}

// TestTextsOfPoliciesThatAreNoJSON: a record must stay decodable.
func TestTextsOfPoliciesThatAreNoJSON(t *testing.T) {
	text, err := EncodeOutcome(&runtime.Outcome{
		Kind: runtime.Denied, Denials: []runtime.Denial{{Code: "no", Detail: []byte(`{`)}}, Obligations: []runtime.Obligation{{Code: "o", Args: []byte(`nope`)}},
	})
	require.NoError(t, err)
	o, err := DecodeOutcome(text)
	require.NoError(t, err)
	assert.Nil(t, o.Denials[0].Detail)
	assert.Nil(t, o.Obligations[0].Args)
}

// TestDecisionsHaveNoValuesOfRewrites: a value may be sensitive.
func TestDecisionsHaveNoValuesOfRewrites(t *testing.T) {
	text, err := EncodeDecision(&runtime.Decision{
		Effect: runtime.EffectAllow, Rewrites: []runtime.Rewrite{{Code: "r", Pointer: "/token", Value: []byte(`"hunter2"`), At: "p:1"}},
		Asks: []runtime.Ask{{ID: "a", Message: "m", At: "p:2"}},
	})
	require.NoError(t, err)
	assert.JSONEq(t, `{"effect":"allow","ask":[{"id":"a","message":"m","at":"p:2"}],"modify":[{"code":"r","pointer":"/token","at":"p:1"}]}`, string(text))

	text, err = EncodeDecision(&runtime.Decision{Effect: runtime.EffectDeny})
	require.NoError(t, err)
	want, err := json.Marshal(&decision{Effect: runtime.EffectDeny})
	require.NoError(t, err)
	assert.Equal(t, string(want), string(text))
}
