package opa

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/rego/regotest"
	"github.com/ambit-tools/ambit/policies"
)

// A code that an annotation declares is one as those of the declaration are.
func TestReasonsOfAnnotations(t *testing.T) {
	for name, policy := range map[string]string{
		"package":     regotest.Annotated(regotest.NightCodes, regotest.NightDeny),
		"rule":        "package ambit.policies.night\n\n# METADATA\n# custom: {reasons: {asleep: Operators sleep at night.}}\n" + regotest.NightDeny,
		"document":    "package ambit.policies.night\n\n# METADATA\n# scope: document\n# custom:\n#   reasons:\n#     \"asleep\": >-\n#       Operators sleep\n#       at night.\n" + regotest.NightDeny,
		"other users": regotest.Annotated("#   owner: ops\n"+regotest.NightCodes, regotest.NightDeny),
	} {
		p, reg := load(t, "n.rego", policy)
		d := decide(t, p, call(t, reg, "file_read", `{"path":"a"}`))
		require.Len(t, d.Denials, 1, name)
		assert.Equal(t, "asleep", d.Denials[0].Code, name)
		report, err := Test(t.Context(), regotest.Dir("n.rego", policy, "n_test.rego", nightTest), TestOptions{})
		require.NoError(t, err, name)
		require.Len(t, report.Tests, 2)
		assert.Empty(t, report.Failed(), name)
	}
}

// Any package may use a code, and a reload takes codes as it takes rules.
func TestReasonsOfOtherPackages(t *testing.T) {
	codes := regotest.Annotated(regotest.NightCodes, "")
	user := regotest.Org(regotest.NightDeny)
	p, _ := load(t)
	require.ErrorContains(t, p.Reload(regotest.Dir("o.rego", user)), `o.rego:3:24: the code "asleep" is not declared`)
	require.NoError(t, p.Reload(regotest.Dir("o.rego", user, "z.rego", codes)))
	require.ErrorContains(t, p.Reload(regotest.Dir("o.rego", user)), `the code "asleep" is not declared`)
	_, err := Load(policies.Join(policies.Dir{Name: "own", FS: regotest.Dir("o.rego", user)}, policies.Dir{Name: "org", FS: regotest.Folder("codes.rego", codes)}), registryOf(t, specs()))
	require.NoError(t, err)
}

const nightTest = `package ambit.policies.night_test

test_annotated if data.ambit.declared.reasons.asleep == "Operators sleep at night."

test_declared if data.ambit.declared.reasons.night == "At night."
`
