package lint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/policies"
	"github.com/ambit-tools/ambit/runtime"
)

// lintParsed checks the modules as they are written. It says whether what is
// generated is complete, without which they do not compile.
func (c *Checked) lintParsed(errs *policydir.Errors) bool {
	complete := c.lintGenerated(errs)
	c.ReadReasons(errs)
	c.lintData(errs)
	for _, m := range c.HandWritten(c.Parsed) {
		c.lintPackage(m, errs)
		for _, a := range m.Annotations {
			if len(a.Schemas) > 0 {
				errs.Add(a.Location, "a schemas annotation in a hand-written file", "delete it: the generated schema of the tool applies already")
			}
		}
		for _, r := range m.Rules {
			c.lintRule(m, r, errs)
			c.lintIteration(r)
		}
		c.lintInput(m, errs)
	}
	c.lintTestRules(errs)
	c.lintAsks(errs)
	c.lintAgreement(errs)
	return complete
}

// codeIteration is the code of warnings about rules that have a value for each element of a collection.
const codeIteration = "top_level_iteration"

// lintIteration warns of a rule without a body whose value goes through all elements: two different ones are two values
// of one name, an error of the decision.
func (c *Checked) lintIteration(r *ast.Rule) {
	if r.Head.RuleKind() == ast.MultiValue || len(r.Head.Ref()) > 1 || len(r.Head.Args) > 0 || r.Default || len(r.Body) != 1 || !r.Body[0].Equal(ast.NewExpr(ast.BooleanTerm(true))) {
		return
	}
	ref, ok := r.Head.Value.Value.(ast.Ref)
	if !ok {
		return
	}
	for _, t := range ref[1:] {
		if isVar(t) && t.Value.(ast.Var).IsWildcard() {
			c.warnings = append(c.warnings, &policies.Diagnostic{
				File: r.Location.File, Line: r.Location.Row, Col: r.Location.Col, Code: codeIteration,
				Message: fmt.Sprintf("%s has a value for each element: two that differ are an error in every decision", policydir.RuleName(r)),
				Hint:    fmt.Sprintf("write %s contains ... if some element in the list, or name one of them", policydir.RuleName(r)),
			})
			return
		}
	}
}

// lintGenerated checks that every tool has its schema, without which a typo
// would pass, and that nothing else is among the generated files. It says
// whether none is missing.
func (c *Checked) lintGenerated(errs *policydir.Errors) bool {
	expected := map[string]bool{policydir.DeclaredFile: true, policydir.SchemasFile: true}
	expect := func(schema, header string) {
		expected[policydir.GeneratedDir+"/"+schema+policydir.SchemaSuffix] = true
		expected[policydir.GeneratedDir+"/"+header+".rego"] = true
	}
	expect("ambit", "policies")
	for _, name := range c.Tools {
		expect(name, name)
	}
	for _, f := range c.Src.Files {
		m := c.Parsed[f.Name]
		switch {
		case !f.Generated():
		case !expected[f.Path]:
			errs.AddFile(f.Name, "not a generated file of a declared tool", "delete it, or move it out of "+policydir.GeneratedDir)
		case m != nil && len(m.Rules) > 0:
			errs.Add(m.Rules[0].Location, "a rule in a generated file", "write it into a file of your own beside "+policydir.GeneratedDir)
		}
		delete(expected, f.Path)
	}
	for name := range expected {
		errs.AddFile(c.Src.Home.FileName(name), "the file is missing", "run go generate")
	}
	return len(expected) == 0
}

// lintPackage checks that the package is not one of the library, and not one of a
// tool that is not declared.
func (c *Checked) lintPackage(m *ast.Module, errs *policydir.Errors) {
	kind, name := policydir.ContractPackage(m.Package.Path)
	before := len(*errs)
	switch {
	case kind == policydir.ForeignPackage:
		errs.Add(m.Package.Location, fmt.Sprintf("package %s belongs to the library", policydir.PackageName(m)),
			"write package ambit.tools.<tool>, ambit.policies.<name> or ambit.operators")
	case kind == policydir.ToolPackage && !c.IsTool(name):
		hint := toolHint(name, c.Tools)
		if tested, isTest := strings.CutSuffix(name, "_test"); isTest && c.IsTool(tested) {
			hint = testFileHint(m.Package.Location.File)
		}
		if tool, as := c.Called(name); tool != "" {
			hint = fmt.Sprintf("write package ambit.tools.%s: %s is %s of it", tool, name, as)
		}
		errs.Add(m.Package.Location, fmt.Sprintf("package of the unknown tool %q", name), hint)
	}
	c.stray[m.Package.Location.File] = len(*errs) > before
}

// lintOperatorRule checks that allow of the operator policy is true or undefined, and that the library's
// rule of the defaults has no more rules.
func lintOperatorRule(name string, r *ast.Rule, errs *policydir.Errors) {
	yes := r.Head.Value != nil && r.Head.Value.Equal(ast.BooleanTerm(true)) || r.Default && r.Head.Value.Equal(ast.BooleanTerm(false))
	switch {
	case name == "by_default":
		errs.Add(r.Location, "by_default belongs to the library", "give the rule another name")
	case name == "allow" && (len(r.Head.Args) > 0 || len(r.Head.Ref()) != 1 || r.Head.RuleKind() == ast.MultiValue || !yes):
		errs.Add(r.Location, "allow of package ambit.operators is neither true nor undefined", "write allow if { ... }")
	}
}

// lintRule checks a rule of the contract: its package and its members.
func (c *Checked) lintRule(m *ast.Module, r *ast.Rule, errs *policydir.Errors) {
	name := policydir.RuleName(r)
	if kind, _ := policydir.ContractPackage(m.Package.Path); kind == policydir.OperatorPackage {
		lintOperatorRule(name, r, errs)
		return
	}
	fields := policydir.Contract(name)
	if fields == nil {
		return
	}
	if !policydir.Contributes(m.Package.Path) {
		if kind, _ := policydir.ContractPackage(m.Package.Path); kind != policydir.ForeignPackage {
			errs.Add(r.Location, fmt.Sprintf("nothing reads %s in package %s", name, policydir.PackageName(m)),
				"only packages ambit.tools.<tool> and ambit.policies.<name> are part of the decision; rename it or move it")
		}
		return
	}
	if r.Default || len(r.Head.Args) > 0 || len(r.Head.Ref()) != 1 || r.Head.RuleKind() != ast.MultiValue {
		errs.Add(r.Location, fmt.Sprintf("%s is not a set", name), fmt.Sprintf("write %s contains %s if ...", name, example(fields)))
		return
	}
	entry, ok := r.Head.Key.Value.(ast.Object)
	if !ok {
		errs.Add(r.Head.Key.Location, fmt.Sprintf("the entry of %s must be written as an object", name), fmt.Sprintf("write %s contains %s if ...", name, example(fields)))
		return
	}
	c.lintEntry(name, fields, entry, r, errs)
	c.entries = append(c.entries, entryRule{m, r})
	switch name {
	case "modify":
		c.lintModify(m, r, entry, errs)
	case "obligations":
		lintObligation(entry, errs)
	}
}

// lintEntry checks the members of one entry.
func (c *Checked) lintEntry(rule string, fields []policydir.Field, entry ast.Object, r *ast.Rule, errs *policydir.Errors) {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
		value := entry.Get(ast.StringTerm(f.Name))
		switch {
		case value == nil && !f.Optional:
			errs.Add(r.Head.Key.Location, fmt.Sprintf("the entry of %s has no %q", rule, f.Name), "its form is "+example(fields))
		case value == nil:
		case f.Constant && !policydir.IsConstant(value):
			errs.Add(value.Location, fmt.Sprintf("%q of %s must be a constant string", f.Name, rule), "one rule, one code: put what varies into the message")
		default:
			if problem, hint := c.lintValue(rule, f, value); problem != "" {
				errs.Add(value.Location, problem, hint)
			}
		}
	}
	entry.Foreach(func(k, _ *ast.Term) {
		s, ok := k.Value.(ast.String)
		if !ok || !slices.Contains(names, string(s)) {
			hint := policydir.DidYouMean(string(s), names)
			if hint == "" {
				hint = "its form is " + example(fields)
			}
			errs.Add(k.Location, fmt.Sprintf("the entry of %s has no member %v", rule, k), hint)
		}
	})
}

// lintValue checks one member as far as it is written as a constant, and
// returns what is wrong with it and what to do.
func (c *Checked) lintValue(rule string, f policydir.Field, value *ast.Term) (problem, hint string) {
	if _, isRef := value.Value.(ast.Ref); isRef || !value.IsGround() {
		return "", ""
	}
	if _, isCall := value.Value.(ast.Call); isCall || ast.IsComprehension(value.Value) {
		return "", ""
	}
	if !f.Kind.Holds(value.Value) {
		return fmt.Sprintf("%q of %s must be %s", f.Name, rule, f.Kind), f.Kind.Remedy()
	}
	s, _ := value.Value.(ast.String)
	switch rule + "." + f.Name {
	case "deny.code":
		return c.lintCode(string(s))
	case "obligations.code":
		if !slices.Contains(policydir.ObligationCodes(), string(s)) {
			return fmt.Sprintf("unknown obligation %q", string(s)), "there are " + strings.Join(policydir.ObligationCodes(), " and ")
		}
	case "ask.timeout":
		if d, err := time.ParseDuration(string(s)); err != nil || d <= 0 {
			return fmt.Sprintf("timeout %q is not a positive duration", string(s)), "write such as \"10m\" or \"36h\""
		}
	case "ask.max_cover":
		var cover runtime.GrantCover
		if err := cover.UnmarshalText([]byte(s)); err != nil {
			return fmt.Sprintf("unknown cover %q", string(s)), "write \"exact\", \"args\" or \"tool\""
		}
	case "ask.quorum":
		if n, ok := value.Value.(ast.Number).Int(); !ok || n < 1 {
			return "quorum must be at least 1", "leave it out for 1"
		}
	case "ask.approvers":
		if l, ok := value.Value.(policydir.Collection); ok && l.Len() == 0 {
			return "approvers name nobody, so that nobody could agree", "leave them out for anybody but the principal"
		}
	}
	return "", ""
}

// example shows the form of an entry: {"code": ..., "message": ...}.
func example(fields []policydir.Field) string {
	var parts []string
	for _, f := range fields {
		if !f.Optional {
			parts = append(parts, strconv.Quote(f.Name)+": ...")
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
