package opa

import (
	"context"
	"fmt"
	"io/fs"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// An Inspection is what Inspect reports of valid policies.
type Inspection struct {
	// Warnings are about asks that would widen what the declaration allows, about
	// names that are not declared here, in packages that other applications may
	// share, and about denials and asks that do not apply when an optional member is
	// absent. Sorted by place; each has a Code.
	Warnings Errors
	// Closed are the tools that no rule can allow and no rule asks about: every
	// call of them is denied. Sorted.
	Closed []string
}

// Check reports everything that can be found wrong with a policy directory
// without knowing the program that will use it. The error is Errors.
func Check(fsys fs.FS) error {
	b, err := check(fsys)
	if err != nil {
		return err
	}
	return b.lintTests()
}

func check(fsys fs.FS) (*bundle, error) {
	b, err := loadBundle(fsys)
	if err != nil {
		return nil, err
	}
	if _, err := newGeneration(b); err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	return b, nil
}

// Inspect is Check, runs the tests of the directory, which must pass, and
// also returns what is valid but may not be intended.
func Inspect(ctx context.Context, fsys fs.FS) (*Inspection, error) {
	b, err := check(fsys)
	if err != nil {
		return nil, err
	}
	report, err := b.runTests(ctx, TestOptions{})
	if err != nil {
		return nil, err
	}
	return &Inspection{Warnings: b.allWarnings(), Closed: b.closed()}, b.src.show(report.err())
}

// allWarnings returns what may not be intended, sorted by place.
func (b *bundle) allWarnings() Errors {
	warnings := append(b.askWarnings(), b.warnings...)
	_ = b.src.show(warnings.err()) // sorts in place
	return warnings
}

// closed returns the tools that no rule can allow or ask about.
func (b *bundle) closed() []string {
	opened := map[asker]bool{}
	for _, m := range b.handWritten(b.parsed) {
		if !contributes(m.Package.Path) {
			continue
		}
		kind, name := contractPackage(m.Package.Path)
		if slices.ContainsFunc(m.Rules, func(r *ast.Rule) bool { return ruleName(r) == "allow" || ruleName(r) == "ask" }) {
			if kind == orgPackage {
				return nil // it may be about any tool
			}
			opened[asker{kind, name}] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(b.tools), func(name string) bool {
		t := b.declared.Tools[name]
		return t.Effect == "read" || t.Consent != nil && t.Consent.Ask == "always" || opened[asker{toolPackage, name}]
	})
}
