package lint

import "github.com/ambit-tools/ambit/internal/rego/policydir"

// A Checked is a policy directory that passed the checks, compiled.
type Checked struct {
	*policydir.Bundle
	stray    map[string]bool  // files whose package lintPackage refused
	warnings policydir.Errors // of the analysis
}
