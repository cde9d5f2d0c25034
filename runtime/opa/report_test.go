package opa

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/rego/regotest"
)

const policyTests = `package ambit.tools.file_write_test

import data.ambit.tools.file_write

docs := {"args": {"path": "docs/a", "content": "x", "mode": "create"}}

test_docs_are_allowed if {
	file_write.allow == {{"code": "docs", "message": "documents may be written"}} with input as docs
}

test_prints if {
	print("looking at", docs.args.path)
	count(file_write.deny) == 1 with input as docs
}

test_each[name] if {
	some name, path in {"etc": "/etc/a", "home": "/home/a"}
	count(file_write.deny) == 1 with input as {"args": {"path": path}}
}

todo_test_later if false

test_fails_on_errors if to_number(docs.args.path) == 1
`

func TestTest(t *testing.T) {
	fsys := regotest.Dir("file_write.rego", writePolicy, "file_write_test.rego", policyTests)
	report, err := Test(t.Context(), fsys, TestOptions{})
	require.NoError(t, err)
	outcomes := map[string]string{}
	for _, r := range report.Tests {
		outcome := "passed"
		if r.Skipped {
			outcome = "skipped"
		} else if !r.Passed {
			outcome = r.Message
		}
		outcomes[r.Name] = outcome
		assert.Equal(t, "file_write_test.rego", r.File)
		assert.Positive(t, r.Line)
	}
	assert.Equal(t, map[string]string{
		"data.ambit.tools.file_write_test.test_docs_are_allowed": "passed",
		"data.ambit.tools.file_write_test.test_prints":           "false or undefined",
		"data.ambit.tools.file_write_test.test_each":             "false for home",
		"data.ambit.tools.file_write_test.todo_test_later":       "skipped",
		"data.ambit.tools.file_write_test.test_fails_on_errors":  `file_write_test.rego:23: eval_builtin_error: to_number: strconv.ParseFloat: parsing "docs/a": invalid syntax`,
	}, outcomes)
	assert.Equal(t, "looking at docs/a\n", report.Tests[1].Output)
	assert.Len(t, report.Failed(), 3)
	require.Len(t, report.Files, 1, "neither the library nor what is generated")
	assert.Equal(t, "file_write.rego", report.Files[0].File)
	assert.NotEmpty(t, report.Files[0].Uncovered)
	assert.InDelta(t, 60, report.Coverage, 30)

	report, err = Test(t.Context(), fsys, TestOptions{Filter: "docs"})
	require.NoError(t, err)
	assert.Len(t, report.Tests, 1)
	_, err = Test(t.Context(), fsys, TestOptions{Filter: "("})
	assert.Error(t, err)
	_, err = Test(t.Context(), regotest.Dir("file_write.rego", regotest.Tool("denny contains 1")), TestOptions{})
	assert.Error(t, err)

	report, err = Test(t.Context(), regotest.Dir(), TestOptions{})
	require.NoError(t, err)
	assert.Empty(t, report.Tests)
	assert.Equal(t, 100.0, report.Coverage)
}
