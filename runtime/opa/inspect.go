package opa

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/ambit-tools/ambit/policies"
)

// An Inspection is what Inspect reports of valid policies.
type Inspection struct {
	// Warnings are about asks that would widen what the declaration allows, about
	// names that are not declared here, in packages that other applications may
	// share, and about denials and asks that do not apply when an optional member is
	// absent. Sorted by place; each has a Code.
	Warnings policies.Diagnostics
	// Closed are the tools that no rule can allow and no rule asks about: every
	// call of them is denied. Sorted.
	Closed []string
}

// Inspect checks a policy directory as lint.Check does, runs its tests, which must
// pass, and also returns what is valid but may not be intended. The error is
// policies.Diagnostics.
func Inspect(ctx context.Context, fsys fs.FS) (*Inspection, error) {
	c, err := checked(fsys)
	if err != nil {
		return nil, err
	}
	if _, err := newGeneration(c.Bundle, Plan); err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	report, err := runTests(ctx, c, TestOptions{})
	if err != nil {
		return nil, err
	}
	return &Inspection{Warnings: c.Warnings(), Closed: c.Closed()}, c.Src.Show(report.err())
}
