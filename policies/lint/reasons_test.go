package lint

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/internal/rego/regotest"
	"github.com/ambit-tools/ambit/policies"
)

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
		assert.ErrorContains(t, checkDir(regotest.Dir("n.rego", regotest.Annotated(test.custom, regotest.NightDeny))), test.want)
	}
	two := strings.ReplaceAll(regotest.Annotated(regotest.NightCodes, ""), "policies.night", "policies.second")
	err := checkDir(regotest.Dir("n.rego", regotest.Annotated(regotest.NightCodes, regotest.NightDeny), "z.rego", two))
	assert.EqualError(t, err, `z.rego:5:7: the code "asleep" is declared at n.rego:5 too (delete one of the two, or give this reason a code of its own)`)
	err = checkDir(policies.Join(policies.Dir{Name: "own", FS: regotest.Dir("n.rego", regotest.Annotated(regotest.NightCodes, regotest.NightDeny))}, policies.Dir{Name: "org", FS: regotest.Folder("n.rego", two)}))
	assert.EqualError(t, err, `own/n.rego:5:7: the code "asleep" is declared at org/n.rego:5 too (delete one of the two, or give this reason a code of its own)`)
	err = checkDir(regotest.Dir("n_test.rego", strings.Replace(regotest.Annotated(regotest.NightCodes, "test_x if true\n"), "night\n", "night_test\n", 1)))
	assert.ErrorContains(t, err, "n_test.rego:4:5: reasons in a file of tests declare nothing (declare them beside the rules)")
}

// A file that cannot be parsed does not make the codes that it declares look wrong.
func TestReasonsOfBrokenFiles(t *testing.T) {
	err := checkDir(regotest.Dir("n.rego", regotest.Annotated(regotest.NightCodes, "deny contains {"), "o.rego", regotest.Org(regotest.NightDeny)))
	assert.ErrorContains(t, err, "n.rego:")
	assert.NotContains(t, err.Error(), "is not declared")
	err = checkDir(regotest.Dir("n.rego", "package ambit.policies.x\n\ndeny contains {", "o.rego", regotest.Org(regotest.NightDeny)))
	assert.ErrorContains(t, err, `the code "asleep" is not declared`)
}
