package opa

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/operator"
)

// operatorActs are all acts.
var operatorActs = []operator.Act{
	operator.See, operator.Decide, operator.Grant, operator.Revoke, operator.Undo, operator.Cancel, operator.Resolve, operator.ConsentOff, operator.Audit,
}

// operatorActors are the actors of a call of the principal agent in a session of pat, whose request admits
// alice and the members of finance.
var operatorActors = map[string]struct {
	by       operator.Actor
	approver bool
}{
	"approver":                 {operator.Actor{ID: "alice", Method: "token"}, true},
	"member of a group":        {operator.Actor{ID: "bob", Groups: []string{"finance"}, Method: "token"}, true},
	"agent's principal":        {operator.Actor{ID: "agent", Method: "token"}, false},
	"principal of the session": {operator.Actor{ID: "pat", Method: "token"}, false},
	"other person":             {operator.Actor{ID: "mallory", Groups: []string{"sales"}, Method: "token"}, false},
	"code":                     {operator.Program("job"), false},
	"owner of the store":       {operator.Actor{ID: "root", Method: operator.Owner}, false},
	"nobody":                   {operator.Actor{}, true},
}

// allowed returns what each actor may do by a policy.
func allowed(t *testing.T, p operator.Policy) map[string][]operator.Act {
	t.Helper()
	may := map[string][]operator.Act{}
	for name, c := range operatorActors {
		for _, act := range operatorActs {
			d, err := p.Authorize(t.Context(), &operator.Request{
				Act: act, Actor: c.by, Target: operator.Target{Session: "s", Call: "c"}, Tool: "file_write", Effect: "write",
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
	defaults := allowed(t, operator.Defaults{})
	for name, c := range map[string]struct {
		text string
		want map[string][]operator.Act
	}{
		"defaults": {"allow if by_default", defaults},
		"none allows: undefined denies": {`allow if input.act == "see"
allow if input.actor.id == "zoe"`, map[string][]operator.Act{
			"approver": {operator.See}, "member of a group": {operator.See}, "agent's principal": {operator.See}, "principal of the session": {operator.See},
			"other person": {operator.See}, "code": {operator.See}, "owner of the store": {operator.See}, "nobody": {operator.See},
		}},
		"a group":                  {`allow if { input.act == "undo"; "finance" in input.actor.groups; input.effect == "write" }`, map[string][]operator.Act{"member of a group": {operator.Undo}}},
		"an explicit default":      {"default allow := false\nallow if input.actor.id == \"nobody\"", map[string][]operator.Act{}},
		"only rules of other name": {"helper if by_default\nallow if { helper; input.actor.method == \"code\"; input.dry_run }", map[string][]operator.Act{}},
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
	assert.Equal(t, allowed(t, operator.Defaults{}), allowed(t, p))
	d, err := p.Authorize(t.Context(), &operator.Request{Act: operator.Audit, Actor: operator.Program("job")})
	require.NoError(t, err)
	assert.Equal(t, operator.Decision{Allow: true, Revision: p.Revision()}, d)
}

// TestOperatorPolicyThatFails: an error of a function denies.
func TestOperatorPolicyThatFails(t *testing.T) {
	p, _ := load(t, "operators.rego", "package ambit.operators\n\nallow if to_number(input.actor.id) > 0\n\nallow if input.act == \"see\"\n")
	ask := func(id string) (operator.Decision, error) {
		return p.Authorize(t.Context(), &operator.Request{Act: operator.See, Actor: operator.Actor{ID: id}})
	}
	d, err := ask("7")
	require.NoError(t, err)
	assert.True(t, d.Allow)
	d, err = ask("seven")
	require.ErrorContains(t, err, "package ambit.operators: the policy failed")
	assert.Equal(t, operator.Decision{Reason: "no rule of the operator policy allows it", Revision: p.Revision()}, d)
}
