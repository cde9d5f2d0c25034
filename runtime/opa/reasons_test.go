package opa

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// annotated returns a policy whose package has a custom annotation.
func annotated(custom, rules string) string {
	return "# METADATA\n# title: Night\n# custom:\n" + custom + "package ambit.policies.night\n\n" + rules
}

const (
	nightCodes = "#   reasons:\n#     asleep: Operators sleep at night.\n"
	nightDeny  = `deny contains {"code": "asleep", "message": "m"} if input.behavior == "research"`
	nightTest  = `package ambit.policies.night_test

test_annotated if data.ambit.declared.reasons.asleep == "Operators sleep at night."

test_declared if data.ambit.declared.reasons.night == "At night."
`
)

// A code that an annotation declares is one as those of the declaration are.
func TestReasonsOfAnnotations(t *testing.T) {
	for name, policy := range map[string]string{
		"package":     annotated(nightCodes, nightDeny),
		"rule":        "package ambit.policies.night\n\n# METADATA\n# custom: {reasons: {asleep: Operators sleep at night.}}\n" + nightDeny,
		"document":    "package ambit.policies.night\n\n# METADATA\n# scope: document\n# custom:\n#   reasons:\n#     \"asleep\": >-\n#       Operators sleep\n#       at night.\n" + nightDeny,
		"other users": annotated("#   owner: ops\n"+nightCodes, nightDeny),
	} {
		p, reg := load(t, "n.rego", policy)
		d := decide(t, p, call(t, reg, "file_read", `{"path":"a"}`))
		require.Len(t, d.Denials, 1, name)
		assert.Equal(t, "asleep", d.Denials[0].Code, name)
		report, err := Test(t.Context(), dir("n.rego", policy, "n_test.rego", nightTest), TestOptions{})
		require.NoError(t, err, name)
		require.Len(t, report.Tests, 2)
		assert.Empty(t, report.Failed(), name)
	}
}

// Any package may use a code, and a reload takes codes as it takes rules.
func TestReasonsOfOtherPackages(t *testing.T) {
	codes := annotated(nightCodes, "")
	user := org(nightDeny)
	p, _ := load(t)
	require.ErrorContains(t, p.Reload(dir("o.rego", user)), `o.rego:3:24: the code "asleep" is not declared`)
	require.NoError(t, p.Reload(dir("o.rego", user, "z.rego", codes)))
	require.ErrorContains(t, p.Reload(dir("o.rego", user)), `the code "asleep" is not declared`)
	require.NoError(t, Check(Join(Dir{Name: "own", FS: dir("o.rego", user)}, Dir{Name: "org", FS: folder("codes.rego", codes)})))
}

func TestReasonsThatAreWrong(t *testing.T) {
	const form = " (write reasons: {too_big: Files are limited.} below custom: in the METADATA)"
	for _, test := range []struct{ custom, want string }{
		{"#   reasons: [asleep]\n", `n.rego:4:5: reasons must map codes to descriptions` + form},
		{"#   reasons: asleep\n", `n.rego:4:5: reasons must map codes to descriptions` + form},
		{"#   reasons:\n", `n.rego:4:5: reasons must map codes to descriptions` + form},
		{"#   reasons: {1: One.}\n", "n.rego:1:1: invalid map key type(s)"},
		{"#   reasons:\n#     asleep:\n", `n.rego:5:7: the code "asleep" has no description` + form},
		{"#   reasons: {asleep: \" \"}\n", `n.rego:4:15: the code "asleep" has no description` + form},
		{"#   reasons: {asleep: 3}\n", `n.rego:4:15: the code "asleep" has no description` + form},
		{"#   reasons: {Asleep: They sleep.}\n", `n.rego:4:15: "Asleep" cannot be a code (write small letters, digits and underscores, a letter first, 64 at most)`},
		{"#   reasons: {mode_off: They sleep.}\n", `n.rego:4:15: the code "mode_off" belongs to the library (give this reason a code of its own)`},
		{"#   reasons: {no_allow: They sleep.}\n", `n.rego:4:15: the code "no_allow" belongs to the library (give this reason a code of its own)`},
		{"#   reasons:\n#     asleep: They sleep.\n#     night: At night.\n", `n.rego:6:7: the code "night" is declared in tools.yaml too (delete one of the two, or give this reason a code of its own)`},
		{"#   reasons:\n#     asleep: They sleep.\n#     asleep: They still do.\n", `mapping key "asleep" already defined`},
		{"#   reason: {asleep: They sleep.}\n", `n.rego:7:24: the code "asleep" is not declared (add it to reasons in tools.yaml and run go generate, or to custom.reasons in the METADATA of the package)`},
		{"#   reasons: {aslep: They sleep.}\n", `n.rego:7:24: the code "asleep" is not declared (did you mean "aslep"?`},
	} {
		assert.ErrorContains(t, Check(dir("n.rego", annotated(test.custom, nightDeny))), test.want)
	}
	two := strings.ReplaceAll(annotated(nightCodes, ""), "policies.night", "policies.second")
	err := Check(dir("n.rego", annotated(nightCodes, nightDeny), "z.rego", two))
	assert.EqualError(t, err, `z.rego:5:7: the code "asleep" is declared at n.rego:5 too (delete one of the two, or give this reason a code of its own)`)
	err = Check(Join(Dir{Name: "own", FS: dir("n.rego", annotated(nightCodes, nightDeny))}, Dir{Name: "org", FS: folder("n.rego", two)}))
	assert.EqualError(t, err, `own/n.rego:5:7: the code "asleep" is declared at org/n.rego:5 too (delete one of the two, or give this reason a code of its own)`)
	err = Check(dir("n_test.rego", strings.Replace(annotated(nightCodes, "test_x if true\n"), "night\n", "night_test\n", 1)))
	assert.ErrorContains(t, err, "n_test.rego:4:5: reasons in a file of tests declare nothing (declare them beside the rules)")
}

// A file that cannot be parsed does not make the codes that it declares look wrong.
func TestReasonsOfBrokenFiles(t *testing.T) {
	err := Check(dir("n.rego", annotated(nightCodes, "deny contains {"), "o.rego", org(nightDeny)))
	assert.ErrorContains(t, err, "n.rego:")
	assert.NotContains(t, err.Error(), "is not declared")
	err = Check(dir("n.rego", "package ambit.policies.x\n\ndeny contains {", "o.rego", org(nightDeny)))
	assert.ErrorContains(t, err, `the code "asleep" is not declared`)
}
