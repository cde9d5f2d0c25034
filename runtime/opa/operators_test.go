package opa

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
)

// operatorActs are all acts.
var operatorActs = []runtime.Act{
	runtime.ActSee, runtime.ActDecide, runtime.ActGrant, runtime.ActRevoke, runtime.ActUndo, runtime.ActCancel, runtime.ActResolve, runtime.ActConsentOff, runtime.ActAudit,
}

// operatorActors are the actors of a call of the principal agent in a session of pat, whose request admits
// alice and the members of finance.
var operatorActors = map[string]struct {
	by       runtime.Actor
	approver bool
}{
	"approver":                 {runtime.Actor{ID: "alice", Method: "token"}, true},
	"member of a group":        {runtime.Actor{ID: "bob", Groups: []string{"finance"}, Method: "token"}, true},
	"agent's principal":        {runtime.Actor{ID: "agent", Method: "token"}, false},
	"principal of the session": {runtime.Actor{ID: "pat", Method: "token"}, false},
	"other person":             {runtime.Actor{ID: "mallory", Groups: []string{"sales"}, Method: "token"}, false},
	"code":                     {runtime.ProgramActor("job"), false},
	"owner of the store":       {runtime.Actor{ID: "root", Method: runtime.MethodOwner}, false},
	"nobody":                   {runtime.Actor{}, true},
}

// allowed returns what each actor may do by a policy.
func allowed(t *testing.T, p runtime.OperatorPolicy) map[string][]runtime.Act {
	t.Helper()
	may := map[string][]runtime.Act{}
	for name, c := range operatorActors {
		for _, act := range operatorActs {
			d, err := p.Authorize(t.Context(), &runtime.ActRequest{
				Act: act, Actor: c.by, ActTarget: runtime.ActTarget{Session: "s", Call: "c"}, Tool: "file_write", Effect: "write",
				Principal: "agent", SessionPrincipal: "pat", Approver: c.approver,
			})
			require.NoError(t, err)
			assert.Equal(t, d.Allow, d.Reason == "")
			if d.Allow {
				may[name] = append(may[name], act)
			}
		}
	}
	return may
}

// TestOperatorPolicy asks, for every act of every kind of actor, policies that are written in different ways.
func TestOperatorPolicy(t *testing.T) {
	defaults := allowed(t, runtime.OperatorDefaults{})
	for name, c := range map[string]struct {
		text string
		want map[string][]runtime.Act
	}{
		"defaults": {"allow if by_default", defaults},
		"none allows: undefined denies": {`allow if input.act == "see"
allow if input.actor.id == "zoe"`, map[string][]runtime.Act{
			"approver": {runtime.ActSee}, "member of a group": {runtime.ActSee}, "agent's principal": {runtime.ActSee}, "principal of the session": {runtime.ActSee},
			"other person": {runtime.ActSee}, "code": {runtime.ActSee}, "owner of the store": {runtime.ActSee}, "nobody": {runtime.ActSee},
		}},
		"a group":                  {`allow if { input.act == "undo"; "finance" in input.actor.groups; input.effect == "write" }`, map[string][]runtime.Act{"member of a group": {runtime.ActUndo}}},
		"an explicit default":      {"default allow := false\nallow if input.actor.id == \"nobody\"", map[string][]runtime.Act{}},
		"only rules of other name": {"helper if by_default\nallow if { helper; input.actor.method == \"code\"; input.dry_run }", map[string][]runtime.Act{}},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := load(t, "operators.rego", "package ambit.operators\n\n"+c.text+"\n")
			assert.Equal(t, c.want, allowed(t, p))
		})
	}
}

// TestOperatorPolicyOfADirectoryWithoutOne: the defaults decide, and the revision is told all the same.
func TestOperatorPolicyOfADirectoryWithoutOne(t *testing.T) {
	p, _ := load(t)
	assert.Equal(t, allowed(t, runtime.OperatorDefaults{}), allowed(t, p))
	d, err := p.Authorize(t.Context(), &runtime.ActRequest{Act: runtime.ActAudit, Actor: runtime.ProgramActor("job")})
	require.NoError(t, err)
	assert.Equal(t, runtime.ActDecision{Allow: true, Revision: p.Revision()}, d)
}

// TestOperatorPolicyThatFails: an error of a function denies.
func TestOperatorPolicyThatFails(t *testing.T) {
	p, _ := load(t, "operators.rego", "package ambit.operators\n\nallow if to_number(input.actor.id) > 0\n\nallow if input.act == \"see\"\n")
	ask := func(id string) (runtime.ActDecision, error) {
		return p.Authorize(t.Context(), &runtime.ActRequest{Act: runtime.ActSee, Actor: runtime.Actor{ID: id}})
	}
	d, err := ask("7")
	require.NoError(t, err)
	assert.True(t, d.Allow)
	d, err = ask("seven")
	require.ErrorContains(t, err, "package ambit.operators: the policy failed")
	assert.Equal(t, runtime.ActDecision{Reason: "no rule of the operator policy allows it", Revision: p.Revision()}, d)
}
