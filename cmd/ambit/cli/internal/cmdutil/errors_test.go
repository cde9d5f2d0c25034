package cmdutil

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReportPrintsEveryErrorAndReturnsTheHighestCode(t *testing.T) {
	var w bytes.Buffer
	err := errors.Join(Problem("one", "do this"), errors.Join(Verdict("two", ""), Problem("three", "")))
	require.Equal(t, ExitVerdict, Report(&w, "ambit", err))
	require.Equal(t, "error: one\nhint: do this\nerror: two\nerror: three\n", w.String())
	require.Equal(t, ExitOK, Report(&w, "ambit", nil))
}
