package opa

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/rego/regotest"
	"github.com/ambit-tools/ambit/policies/lint"
)

// Load, Reload, Test and Inspect refuse what the checks of package lint find, with
// the same text.
func TestChecksRefuse(t *testing.T) {
	for _, pairs := range [][]string{
		{"acme/data.json", `{"limits": {"small": 1, "small": 2}}`},
		{"w.rego", regotest.Tool(`deny contains {"code": "too_bigg", "message": "m"} if true`)},
		{"w.rego", regotest.Tool(`denny contains 1`), "o.rego", regotest.Org(`deny contains {"code": "night", "message": "m"} if input.args.paht == "x"`)},
		{"w_test.rego", "package ambit.policies.security\n\n" + regotest.ClosedPolicy},
	} {
		fsys := regotest.Dir(pairs...)
		found, err := lint.Check(fsys)
		require.NoError(t, err)
		want := found.Err()
		require.Error(t, want)
		_, err = Load(fsys, registryOf(t, specs()))
		assert.Equal(t, want, err)
		_, err = Test(t.Context(), fsys, TestOptions{})
		assert.Equal(t, want, err)
		_, err = Inspect(t.Context(), fsys)
		assert.Equal(t, want, err)
		p, _ := load(t)
		assert.Equal(t, want, p.Reload(fsys))
	}
}

// A start does not wait for tests: Load takes policies whose tests look at what is not
// there, which Test and Inspect refuse.
func TestLoadLeavesTestsOut(t *testing.T) {
	for body, want := range map[string]string{
		`tset_foo if count(file_write.deny) == 0`: `w_test.rego:5:1: "tset_foo" is no test, and no test uses it (did you mean "test_foo"?)`,
		`test_foo if not file_write.dney`:         `w_test.rego:5:28: there is no data.ambit.tools.file_write.dney (did you mean "deny"?)`,
	} {
		fsys := regotest.Dir("w.rego", regotest.Tool(`deny contains {"code": "too_big", "message": "m"} if input.run.counts.file_write > 3`),
			"w_test.rego", "package ambit.tools.file_write_test\n\nimport data.ambit.tools.file_write\n\n"+body+"\n\ntest_imports if file_write\n")
		_, err := Test(t.Context(), fsys, TestOptions{})
		assert.ErrorContains(t, err, want)
		_, err = Inspect(t.Context(), fsys)
		assert.ErrorContains(t, err, want)
		_, err = Load(fsys, registryOf(t, specs()))
		assert.NoError(t, err)
	}
}
