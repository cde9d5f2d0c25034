package inbox

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/host/tokens"
)

// TestWhoChangesTokens: the user who owns the store makes and revokes tokens, and nobody else, whatever
// the operator policy would say.
func TestWhoChangesTokens(t *testing.T) {
	file := tokens.Open(filepath.Join(t.TempDir(), "store.tokens"))
	token, _, err := tokens.New("alice", nil)
	require.NoError(t, err)
	give := func(kind string, method runtime.ActorMethod, of *tokens.Token, at Tokens) CommandResult {
		c := Command{By: "alice", Kind: kind, Method: method, Token: of, tokens: at}
		return c.execute(t.Context(), nil)
	}
	for _, method := range []runtime.ActorMethod{runtime.MethodUser, runtime.MethodCode, "", tokens.Method} {
		for _, kind := range []string{CommandTokenCreate, CommandTokenRevoke} {
			assert.Equal(t, string(action.CodeNotPermitted), give(kind, method, &token, file).Reason, method)
		}
	}
	list, err := file.List()
	require.NoError(t, err)
	require.Empty(t, list)
	assert.True(t, give(CommandTokenCreate, runtime.MethodOwner, &token, file).Done)
	assert.Equal(t, RejectedUnknownKind, give(CommandTokenRevoke, runtime.MethodOwner, &token, nil).Reason, "it keeps no tokens")
	assert.Equal(t, RejectedIncomplete, give(CommandTokenRevoke, runtime.MethodOwner, nil, file).Reason)
	assert.Equal(t, RejectedBadArguments, give(CommandTokenCreate, runtime.MethodOwner, &tokens.Token{Name: token.Name, ID: "bob"}, file).Reason)
	assert.True(t, give(CommandTokenRevoke, runtime.MethodOwner, &tokens.Token{Name: token.Name}, file).Done)
	assert.Equal(t, RejectedUnknownToken, give(CommandTokenRevoke, runtime.MethodOwner, &token, file).Reason)
	damaged := tokens.Open(t.TempDir()) // a directory
	assert.Equal(t, RejectedTokens, give(CommandTokenCreate, runtime.MethodOwner, &token, damaged).Reason)
}
