package lint

import (
	"io/fs"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/rego/regotest"
	"github.com/ambit-tools/ambit/policies"
)

// What is wrong with policies is in the report, and the error is for a directory that
// cannot be read.
func TestCheckReports(t *testing.T) {
	report, err := Check(regotest.Dir("w.rego", regotest.Tool("denny contains 1")))
	require.NoError(t, err)
	require.Len(t, report.Errors, 1)
	assert.Equal(t, policies.Diagnostic{
		File: "w.rego", Line: 3, Col: 1, Message: `nothing reaches "denny" from the decision`, Hint: `did you mean "deny"?`, Excerpt: "denny contains 1",
	}, *report.Errors[0])
	assert.Equal(t, error(report.Errors), report.Err())

	report, err = Check(regotest.Dir())
	require.NoError(t, err)
	assert.NoError(t, report.Err())
	assert.Empty(t, report.Warnings)
	assert.Equal(t, []string{"file_write"}, report.Closed)

	_, err = Check(os.DirFS("testdata/nosuch"))
	assert.ErrorIs(t, err, fs.ErrNotExist)
}

// A fault of the checks refuses the policies, and does not end the program.
func TestChecksThatPanic(t *testing.T) {
	_, err := Source(nil)
	assert.ErrorContains(t, err, "checking the policies failed, which is a bug in ambit: panic: ")
}
