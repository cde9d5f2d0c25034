package opa

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/cover"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/tester"

	"github.com/ambit-tools/ambit/internal/rego/functions"
	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/policies"
	"github.com/ambit-tools/ambit/policies/lint"
)

// TestOptions says which tests of a policy directory run, and how long each may take.
type TestOptions struct {
	Filter  string        // regular expression on the full name; empty: all
	Timeout time.Duration // of one test; 0: 5 s
}

// A TestReport is what the tests of a policy directory found.
type TestReport struct {
	Tests    []TestResult   `json:"tests"`    // sorted by position
	Coverage float64        `json:"coverage"` // percent of the lines of the hand-written policies
	Files    []FileCoverage `json:"files"`    // sorted by name
}

// A TestResult is how one test ended.
type TestResult struct {
	Name     string        `json:"name"` // data.ambit.tools.x_test.test_y
	File     string        `json:"file"`
	Line     int           `json:"line"`
	Passed   bool          `json:"passed"`
	Skipped  bool          `json:"skipped,omitempty"` // its name begins with todo_test_
	Message  string        `json:"message,omitempty"` // why it did not pass
	Output   string        `json:"output,omitempty"`  // what it printed
	Duration time.Duration `json:"duration_ns"`
}

// FileCoverage says which lines of a policy the tests reached.
type FileCoverage struct {
	File      string  `json:"file"`
	Coverage  float64 `json:"coverage"` // percent; 100 for a file without rules
	Uncovered []Lines `json:"uncovered,omitempty"`
}

// Lines is a range of lines, both ends included.
type Lines struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// Failed returns the tests that did not pass.
func (r *TestReport) Failed() []TestResult {
	var failed []TestResult
	for _, t := range r.Tests {
		if !t.Passed && !t.Skipped {
			failed = append(failed, t)
		}
	}
	return failed
}

// err reports the tests that did not pass.
func (r *TestReport) err() error {
	var errs policydir.Errors
	for _, t := range r.Failed() {
		errs = append(errs, &policies.Diagnostic{File: t.File, Line: t.Line, Message: t.Name + " did not pass: " + t.Message, Hint: "ambit policy test shows what it printed"})
	}
	return errs.Err()
}

// Test checks a policy directory and runs the tests in its _test.rego files
// against the policies, with coverage. A test sees the entries of the contract
// as they are written, without the position that a decision carries; it may
// print. The error says why the tests could not be run; tests that fail are in
// the report.
func Test(ctx context.Context, fsys fs.FS, opts TestOptions) (*TestReport, error) {
	c, err := checked(fsys)
	if err != nil {
		return nil, err
	}
	return runTests(ctx, c, opts)
}

// runTests runs the tests of checked policies, those of the library left out.
func runTests(ctx context.Context, c *lint.Checked, opts TestOptions) (*TestReport, error) {
	if err := c.CheckTests(); err != nil {
		return nil, err
	}
	return runModules(ctx, c.Bundle, c.TestModules(), opts, func(f policydir.File) bool { return !f.Library && !f.Generated() && !f.Test() })
}

// runModules runs the tests in modules; covered chooses the files whose coverage is reported.
func runModules(ctx context.Context, b *policydir.Bundle, modules map[string]*ast.Module, opts TestOptions, covered func(policydir.File) bool) (*TestReport, error) {
	coverage := cover.New()
	store := inmem.NewFromObjectWithOpts(b.Data, inmem.OptRoundTripOnWrite(false))
	compiler := policydir.TestCompiler()
	report := &TestReport{}
	err := storage.Txn(ctx, store, storage.TransactionParams{}, func(txn storage.Transaction) error {
		results, err := tester.NewRunner().
			SetCompiler(compiler).
			AddCustomBuiltins(functions.Tested()).
			SetStore(store).
			SetModules(modules).
			SetCoverageQueryTracer(coverage).
			SetCoverageRuns(nil).
			SetTimeout(cmp.Or(opts.Timeout, 5*time.Second)).
			CapturePrintOutput(true).
			RaiseBuiltinErrors(true).
			Filter(opts.Filter).
			RunTests(ctx, txn)
		if err != nil {
			return err
		}
		for r := range results {
			report.Tests = append(report.Tests, testResult(r))
		}
		return ctx.Err()
	})
	if _, ok := errors.AsType[ast.Errors](err); ok {
		var errs policydir.Errors
		b.AddOPA(&errs, "", err)
		return nil, b.Src.Show(errs.Err())
	}
	if err != nil {
		return nil, fmt.Errorf("running the tests: %w", err)
	}
	if compareEvaluators {
		compareTests(planTests(ctx, b, copies(modules), report.Tests))
	}
	slices.SortFunc(report.Tests, func(a, b TestResult) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Name, b.Name))
	})
	reportCoverage(b, report, coverage.Report(modules), covered)
	return report, nil
}

// copies returns copies of modules.
func copies(modules map[string]*ast.Module) map[string]*ast.Module {
	out := make(map[string]*ast.Module, len(modules))
	for name, m := range modules {
		out[name] = m.Copy()
	}
	return out
}

// testResult translates the result of one test.
func testResult(r *tester.Result) TestResult {
	t := TestResult{
		Name: r.Package + "." + r.Name, Passed: r.Pass(), Skipped: r.Skip,
		Output: string(r.Output), Duration: r.Duration,
	}
	if r.Location != nil {
		t.File, t.Line = r.Location.File, r.Location.Row
	}
	var failed []string
	for name, sub := range r.SubResults.Iter {
		if sub.Fail {
			failed = append(failed, strings.Join(name, "/"))
		}
	}
	switch {
	case r.Error != nil:
		t.Message = r.Error.Error()
	case r.Skip || r.Pass():
	case len(failed) > 0:
		t.Message = "false for " + strings.Join(failed, ", ")
	default:
		t.Message = "false or undefined"
	}
	return t
}

// reportCoverage adds the coverage of the chosen files to a report.
func reportCoverage(b *policydir.Bundle, report *TestReport, found cover.Report, chosen func(policydir.File) bool) {
	covered, all := 0, 0
	for _, f := range b.Src.Files {
		if b.Parsed[f.Name] == nil || !chosen(f) {
			continue
		}
		c := FileCoverage{File: f.Name, Coverage: 100}
		if r := found.Files[f.Name]; r != nil {
			lines := r.CoveredLines + r.NotCoveredLines
			covered, all = covered+r.CoveredLines, all+lines
			if lines > 0 {
				c.Coverage = percent(r.CoveredLines, lines)
			}
			for _, n := range r.NotCovered {
				c.Uncovered = append(c.Uncovered, Lines{n.Start.Row, n.End.Row})
			}
		}
		report.Files = append(report.Files, c)
	}
	report.Coverage = 100
	if all > 0 {
		report.Coverage = percent(covered, all)
	}
}

// percent returns part of whole in percent, to one decimal, and 100 only when nothing is missing.
func percent(part, whole int) float64 {
	return math.Floor(1000*float64(part)/float64(whole)) / 10
}
