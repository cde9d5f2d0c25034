package engine

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/bind"
	"github.com/ambit-tools/ambit/runtime/internal/callctx"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A recoveryText is a value.
type recoveryText string

func (v recoveryText) Walk(w wire.Visitor) {
	w.Visit(wire.Token{Kind: wire.KindString, Str: string(v)})
}

// TestAsk: an answer is an output that a handler could have returned, and an error is passed on as it is.
func TestAsk(t *testing.T) {
	bad := errors.New("offline")
	for name, row := range map[string]struct {
		value wire.Value
		err   error
		limit int64
		text  string
		says  string
	}{
		"output":    {value: recoveryText("done"), text: `"done"`},
		"error":     {value: recoveryText("done"), err: bad, says: "offline"},
		"nothing":   {says: "neither an output nor an error"},
		"too large": {value: recoveryText("more than eight"), limit: 8, says: "too large or too deep"},
	} {
		t.Run(name, func(t *testing.T) {
			tool := &tools.Tool{Spec: &runtime.Spec{Name: "a"}, Hooks: &bind.Hooks{
				Reconcile: func(_ context.Context, info callctx.Info, args wire.Value) (wire.Value, error) {
					assert.Equal(t, "c", info.ID)
					assert.Equal(t, recoveryText("in"), args)
					return row.value, row.err
				},
			}}
			tool.Spec.Limits.Output = row.limit
			value, out, err := askReconcile(context.Background(), tool, callctx.Info{ID: "c"}, recoveryText("in"))
			if row.says != "" {
				assert.ErrorContains(t, err, row.says)
				assert.Nil(t, value)
				return
			}
			assert.NoError(t, err)
			assert.Equal(t, row.value, value)
			assert.Equal(t, row.text, string(out))
		})
	}
}
