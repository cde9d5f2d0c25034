package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
)

// TestInputIsNeverRewritten: a valid text reaches the handler as the model wrote it,
// even if an interpreter would give it a special meaning (SEMANTICS section 7.4).
// SEMANTICS 7.4.1
func TestInputIsNeverRewritten(t *testing.T) {
	var got string
	login := &loginTool{run: func(_ context.Context, in *loginInput) (*loginInput, error) {
		got = in.User
		return in, nil
	}}
	r := newRig(t, login.tool())
	turn := r.turn()
	for i, text := range []string{
		" a ", "a  b", "a\x00b", "a\r\nb", "$(rm -rf /)", "`id`", "; id", "' OR 1=1 --", "<script>alert(1)</script>", "&lt;b&gt;", "%2e%2e%2f", "../../etc",
		`\u002e`, "{{.Env}}", "${HOME}", "\x1b[2J", "é", "e\u0301", "\ufeffa", "\u202ea", "1e2", "true",
	} {
		input, err := json.Marshal(map[string]any{"user": text, "password": "p"})
		require.NoError(t, err)
		out := turn.Execute(t.Context(), callOf(fmt.Sprint("c", i), "login", string(input)))
		assert.Equal(t, runtime.Completed, out.Kind, out.Message)
		assert.Equal(t, text, got)
	}
}
