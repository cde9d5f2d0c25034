package cmdutil

import (
	"strings"

	"github.com/ambit-tools/ambit/dsl"
)

// A CodedError is an error of the analysis, which has a code.
type CodedError struct {
	Code string
	At   *dsl.Diagnostic
}

// CodedErrors are all errors of one analysis, in the order of their places.
type CodedErrors []CodedError

// Error returns one line per error.
func (es CodedErrors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.At.Error()
	}
	return strings.Join(lines, "\n")
}
