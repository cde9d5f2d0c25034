package runtime_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
)

var acts = []runtime.Act{
	runtime.ActSee, runtime.ActDecide, runtime.ActGrant, runtime.ActRevoke, runtime.ActUndo, runtime.ActCancel, runtime.ActResolve, runtime.ActConsentOff, runtime.ActAudit, runtime.ActArchive,
}

// TestOperatorDefaults lists, for every kind of actor, the acts that it may do.
// SEMANTICS 5.10.2
func TestOperatorDefaults(t *testing.T) {
	target := runtime.ActRequest{ActTarget: runtime.ActTarget{Session: "s", Call: "c"}, Principal: "agent", SessionPrincipal: "alice"}
	approver := target
	approver.Approver = true
	all := []runtime.Act{
		runtime.ActSee, runtime.ActRevoke, runtime.ActUndo, runtime.ActCancel, runtime.ActResolve, runtime.ActConsentOff, runtime.ActAudit, runtime.ActArchive,
	}
	for name, c := range map[string]struct {
		actor runtime.Actor
		about runtime.ActRequest
		may   []runtime.Act
	}{
		"approver":                {runtime.Actor{ID: "bob", Method: "token"}, approver, []runtime.Act{runtime.ActSee, runtime.ActDecide, runtime.ActGrant}},
		"principal of session":    {runtime.Actor{ID: "alice", Method: "token"}, target, []runtime.Act{runtime.ActUndo, runtime.ActCancel}},
		"principal of call":       {runtime.Actor{ID: "agent", Method: "token"}, target, nil},
		"other person":            {runtime.Actor{ID: "mallory", Method: "token", Groups: []string{"alice", "owner"}}, target, nil},
		"code":                    {runtime.ProgramActor("job"), target, all},
		"owner":                   {runtime.Actor{ID: "root", Method: runtime.MethodOwner}, target, all},
		"owner who is approver":   {runtime.Actor{ID: "root", Method: runtime.MethodOwner}, approver, acts},
		"code without a name":     {runtime.ProgramActor(""), approver, nil},
		"nothing":                 {runtime.Actor{}, runtime.ActRequest{}, nil},
		"no session, no name":     {runtime.Actor{Method: "token"}, runtime.ActRequest{}, nil},
		"principal of no session": {runtime.Actor{ID: "alice", Method: "token"}, runtime.ActRequest{SessionPrincipal: "alice"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var may []runtime.Act
			for _, act := range acts {
				r := c.about
				r.Act, r.Actor = act, c.actor
				d, err := runtime.OperatorDefaults{}.Authorize(t.Context(), &r)
				require.NoError(t, err)
				assert.Equal(t, d.Allow, d.Reason == "")
				if d.Allow {
					may = append(may, act)
				}
			}
			assert.Equal(t, c.may, may)
			r := c.about
			r.Actor, r.Act = c.actor, "rename"
			d, err := runtime.OperatorDefaults{}.Authorize(t.Context(), &r)
			require.NoError(t, err)
			assert.False(t, d.Allow, "an act that there is not")
		})
	}
}
