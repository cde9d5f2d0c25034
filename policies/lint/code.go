package lint

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
)

// unknownCode says what to do about a code that is not declared.
func unknownCode(code string, known []string) string {
	hint := "add it to reasons in tools.yaml and run go generate, or to custom.reasons in the METADATA of the package"
	if similar := policydir.DidYouMean(code, known); similar != "" {
		hint = similar + " Else " + hint
	}
	return hint
}

// lintCode checks that a reason for a refusal is declared.
func (c *Checked) lintCode(code string) (problem, hint string) {
	known := append(slices.Collect(maps.Keys(c.Declared.Reasons)), policydir.LibraryCodes()...)
	if slices.Contains(known, code) {
		return "", ""
	}
	if c.CodesMissing {
		return "", ""
	}
	return fmt.Sprintf("the code %q is not declared", code), unknownCode(code, known)
}
