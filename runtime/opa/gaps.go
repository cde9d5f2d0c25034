package opa

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/functions"
	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/policies"
	"github.com/ambit-tools/ambit/runtime/opa/internal/plan"
)

// codeNoAnswer is the code of the warning about policies without an answer of the plan.
const codeNoAnswer = "plan_gives_up"

// A plannedTest is a test, evaluated by the plan.
type plannedTest struct {
	TestResult       // of OPA's evaluator
	holds      bool  // the answer of the plan is true
	err        error // why the plan has no answer
}

// planTests evaluates the tests in modules by their plan. A test that is no rule of
// the plan is left out, as is every test when there is no plan.
func planTests(ctx context.Context, b *policydir.Bundle, modules map[string]*ast.Module, tests []TestResult) []plannedTest {
	compiler := policydir.TestCompiler().WithEnablePrintStatements(false)
	if compiler.Compile(modules); compiler.Failed() {
		return nil
	}
	source := plan.Source{Compiler: compiler, Store: storeOf(b), Builtins: functions.Own(), Replaced: functions.Called}
	p, err := plan.Prepare(ctx, source, "["+strings.Join(roots(modules), ", ")+"]")
	if err != nil {
		return nil
	}
	var planned []plannedTest
	for _, t := range tests {
		answer, err := p.EvalRule(ctx, strings.Split(t.Name, ".")[1:])
		if !errors.Is(err, plan.ErrNoRule) {
			planned = append(planned, plannedTest{t, err == nil && answer.Value.Compare(ast.Boolean(false)) != 0, err})
		}
	}
	return planned
}

// roots returns the documents below data that modules are part of.
func roots(modules map[string]*ast.Module) []string {
	found := map[string]bool{}
	for _, m := range modules {
		found[m.Package.Path[:2].String()] = true
	}
	return slices.Sorted(maps.Keys(found))
}

// gaps warns of tests in which the plan has no answer: OPA's evaluator decides such
// calls, which takes longer.
func gaps(tests []plannedTest) (warnings policydir.Errors) {
	for _, t := range tests {
		if !t.Passed || t.err == nil {
			continue
		}
		warnings = append(warnings, &policies.Diagnostic{
			File: t.File, Line: t.Line, Code: codeNoAnswer,
			Message: fmt.Sprintf("%s: OPA's plan of the policies gives up in %s", t.Name, strings.TrimPrefix(t.err.Error(), "g0.")),
			Hint:    "OPA's evaluator decides such calls, which takes longer: ambit explain says which one decides",
		})
	}
	return warnings
}

// compareTests panics when the plan answered something else than OPA's evaluator.
func compareTests(tests []plannedTest) {
	for _, t := range tests {
		if t.err == nil && !t.Skipped && t.holds != t.Passed && !strings.Contains(t.Message, "false for ") {
			panic(fmt.Sprintf("%s: the plan answered %t, OPA's evaluator %t (%s)", t.Name, t.holds, t.Passed, t.Message))
		}
	}
}
