package lint

import (
	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
)

// A Checked is a policy directory that passed the checks, compiled.
type Checked struct {
	*policydir.Bundle
	stray    map[string]bool  // files whose package lintPackage refused
	warnings policydir.Errors // of the analysis
	entries  []entryRule      // for lintTotals
}

// An entryRule is a rule of the contract, as it is parsed.
type entryRule struct {
	module *ast.Module
	rule   *ast.Rule
}
