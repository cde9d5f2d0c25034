package opa

import (
	"context"
	"fmt"
	"io/fs"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// An Inspection is what is worth knowing of policies that are right.
type Inspection struct {
	// Warnings are about asks that would widen what the declaration allows.
	Warnings Errors
	// Closed are the tools that nothing can allow and nobody is asked about:
	// every call of them is denied. Sorted.
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
// returns besides what is right but may not be what is meant.
func Inspect(ctx context.Context, fsys fs.FS) (*Inspection, error) {
	b, err := check(fsys)
	if err != nil {
		return nil, err
	}
	report, err := b.runTests(ctx, TestOptions{})
	if err != nil {
		return nil, err
	}
	return &Inspection{Warnings: b.askWarnings(), Closed: b.closed()}, b.src.show(report.err())
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
