package operator_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/operator"
)

var acts = []operator.Act{
	operator.See, operator.Decide, operator.Grant, operator.Revoke, operator.Undo, operator.Cancel, operator.Resolve, operator.ConsentOff, operator.Audit, operator.Archive,
}

// TestDefaults lists, for every kind of actor, the acts that it may do.
// SEMANTICS 5.10.2
func TestDefaults(t *testing.T) {
	target := operator.Request{Target: operator.Target{Session: "s", Call: "c"}, Principal: "agent", SessionPrincipal: "alice"}
	approver := target
	approver.Approver = true
	all := []operator.Act{
		operator.See, operator.Revoke, operator.Undo, operator.Cancel, operator.Resolve, operator.ConsentOff, operator.Audit, operator.Archive,
	}
	for name, c := range map[string]struct {
		actor operator.Actor
		about operator.Request
		may   []operator.Act
	}{
		"approver":                {operator.Actor{ID: "bob", Method: "token"}, approver, []operator.Act{operator.See, operator.Decide, operator.Grant}},
		"principal of session":    {operator.Actor{ID: "alice", Method: "token"}, target, []operator.Act{operator.Undo, operator.Cancel}},
		"principal of call":       {operator.Actor{ID: "agent", Method: "token"}, target, nil},
		"other person":            {operator.Actor{ID: "mallory", Method: "token", Groups: []string{"alice", "owner"}}, target, nil},
		"code":                    {operator.Program("job"), target, all},
		"owner":                   {operator.Actor{ID: "root", Method: operator.Owner}, target, all},
		"owner who is approver":   {operator.Actor{ID: "root", Method: operator.Owner}, approver, acts},
		"code without a name":     {operator.Program(""), approver, nil},
		"nothing":                 {operator.Actor{}, operator.Request{}, nil},
		"no session, no name":     {operator.Actor{Method: "token"}, operator.Request{}, nil},
		"principal of no session": {operator.Actor{ID: "alice", Method: "token"}, operator.Request{SessionPrincipal: "alice"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var may []operator.Act
			for _, act := range acts {
				r := c.about
				r.Act, r.Actor = act, c.actor
				d, err := operator.Defaults{}.Authorize(t.Context(), &r)
				require.NoError(t, err)
				assert.Equal(t, d.Allow, d.Reason == "")
				if d.Allow {
					may = append(may, act)
				}
			}
			assert.Equal(t, c.may, may)
			r := c.about
			r.Actor, r.Act = c.actor, "rename"
			d, err := operator.Defaults{}.Authorize(t.Context(), &r)
			require.NoError(t, err)
			assert.False(t, d.Allow, "an act that there is not")
		})
	}
}
