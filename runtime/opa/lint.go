package opa

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/runtime"
)

// lintParsed checks the modules as they are written. It says whether what is
// generated is complete, without which they do not compile.
func (b *Checked) lintParsed(errs *Errors) bool {
	complete := b.lintGenerated(errs)
	b.readReasons(errs)
	b.lintData(errs)
	for _, m := range b.handWritten(b.parsed) {
		b.lintPackage(m, errs)
		for _, a := range m.Annotations {
			if len(a.Schemas) > 0 {
				errs.add(a.Location, "a schemas annotation in a hand-written file", "delete it: the generated schema of the tool applies already")
			}
		}
		for _, r := range m.Rules {
			b.lintRule(m, r, errs)
		}
		b.lintInput(m, errs)
	}
	b.lintTestRules(errs)
	b.lintAsks(errs)
	return complete
}

// lintGenerated checks that every tool has its schema, without which a typo
// would pass, and that nothing else is among the generated files. It says
// whether none is missing.
func (b *Checked) lintGenerated(errs *Errors) bool {
	expected := map[string]bool{declaredFile: true, schemasFile: true}
	expect := func(schema, header string) {
		expected[generatedDir+"/"+schema+schemaSuffix] = true
		expected[generatedDir+"/"+header+".rego"] = true
	}
	expect("ambit", "policies")
	for _, name := range b.tools {
		expect(name, name)
	}
	for _, f := range b.src.files {
		m := b.parsed[f.name]
		switch {
		case !f.generated():
		case !expected[f.path]:
			errs.addFile(f.name, "not a generated file of a declared tool", "delete it, or move it out of "+generatedDir)
		case m != nil && len(m.Rules) > 0:
			errs.add(m.Rules[0].Location, "a rule in a generated file", "write it into a file of your own beside "+generatedDir)
		}
		delete(expected, f.path)
	}
	for name := range expected {
		errs.addFile(b.src.home.name(name), "the file is missing", "run go generate")
	}
	return len(expected) == 0
}

// lintPackage checks that the package is not one of the library, and not one of a
// tool that is not declared.
func (b *Checked) lintPackage(m *ast.Module, errs *Errors) {
	kind, name := contractPackage(m.Package.Path)
	before := len(*errs)
	switch {
	case kind == foreignPackage:
		errs.add(m.Package.Location, fmt.Sprintf("package %s belongs to the library", packageName(m)),
			"write package ambit.tools.<tool> or ambit.policies.<name>")
	case kind == toolPackage && !b.isTool(name):
		hint := toolHint(name, b.tools)
		if tested, isTest := strings.CutSuffix(name, "_test"); isTest && b.isTool(tested) {
			hint = testFileHint(m.Package.Location.File)
		}
		errs.add(m.Package.Location, fmt.Sprintf("package of the unknown tool %q", name), hint)
	}
	b.stray[m.Package.Location.File] = len(*errs) > before
}

// lintRule checks a rule of the contract: its package and its members.
func (b *Checked) lintRule(m *ast.Module, r *ast.Rule, errs *Errors) {
	name := ruleName(r)
	fields := contract(name)
	if fields == nil {
		return
	}
	if !contributes(m.Package.Path) {
		if kind, _ := contractPackage(m.Package.Path); kind != foreignPackage {
			errs.add(r.Location, fmt.Sprintf("nothing reads %s in package %s", name, packageName(m)),
				"only packages ambit.tools.<tool> and ambit.policies.<name> are part of the decision; rename it or move it")
		}
		return
	}
	if r.Default || len(r.Head.Args) > 0 || len(r.Head.Ref()) != 1 || r.Head.RuleKind() != ast.MultiValue {
		errs.add(r.Location, fmt.Sprintf("%s is not a set", name), fmt.Sprintf("write %s contains %s if ...", name, example(fields)))
		return
	}
	entry, ok := r.Head.Key.Value.(ast.Object)
	if !ok {
		errs.add(r.Head.Key.Location, fmt.Sprintf("the entry of %s must be written as an object", name), fmt.Sprintf("write %s contains %s if ...", name, example(fields)))
		return
	}
	b.lintEntry(name, fields, entry, r, errs)
	b.lintTotal(m, r, errs)
	switch name {
	case "modify":
		b.lintModify(m, r, entry, errs)
	case "obligations":
		lintObligation(entry, errs)
	}
}

// lintEntry checks the members of one entry.
func (b *Checked) lintEntry(rule string, fields []field, entry ast.Object, r *ast.Rule, errs *Errors) {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
		value := entry.Get(ast.StringTerm(f.name))
		switch {
		case value == nil && !f.optional:
			errs.add(r.Head.Key.Location, fmt.Sprintf("the entry of %s has no %q", rule, f.name), "its form is "+example(fields))
		case value == nil:
		case f.constant && !isConstant(value):
			errs.add(value.Location, fmt.Sprintf("%q of %s must be a constant string", f.name, rule), "one rule, one code: put what varies into the message")
		default:
			if problem, hint := b.lintValue(rule, f, value); problem != "" {
				errs.add(value.Location, problem, hint)
			}
		}
	}
	entry.Foreach(func(k, _ *ast.Term) {
		s, ok := k.Value.(ast.String)
		if !ok || !slices.Contains(names, string(s)) {
			hint := didYouMean(string(s), names)
			if hint == "" {
				hint = "its form is " + example(fields)
			}
			errs.add(k.Location, fmt.Sprintf("the entry of %s has no member %v", rule, k), hint)
		}
	})
}

// lintValue checks one member as far as it is written as a constant, and
// returns what is wrong with it and what to do.
func (b *Checked) lintValue(rule string, f field, value *ast.Term) (problem, hint string) {
	if _, isRef := value.Value.(ast.Ref); isRef || !value.IsGround() {
		return "", ""
	}
	if _, isCall := value.Value.(ast.Call); isCall || ast.IsComprehension(value.Value) {
		return "", ""
	}
	if !f.kind.holds(value.Value) {
		return fmt.Sprintf("%q of %s must be %s", f.name, rule, f.kind), f.kind.remedy()
	}
	s, _ := value.Value.(ast.String)
	switch rule + "." + f.name {
	case "deny.code":
		return b.lintCode(string(s))
	case "obligations.code":
		if !slices.Contains(obligationCodes(), string(s)) {
			return fmt.Sprintf("unknown obligation %q", string(s)), "there are " + strings.Join(obligationCodes(), " and ")
		}
	case "ask.timeout":
		if d, err := time.ParseDuration(string(s)); err != nil || d <= 0 {
			return fmt.Sprintf("timeout %q is not a positive duration", string(s)), "write such as \"10m\" or \"36h\""
		}
	case "ask.max_cover":
		var c runtime.GrantCover
		if err := c.UnmarshalText([]byte(s)); err != nil {
			return fmt.Sprintf("unknown cover %q", string(s)), "write \"exact\", \"args\" or \"tool\""
		}
	case "ask.quorum":
		if n, ok := value.Value.(ast.Number).Int(); !ok || n < 1 {
			return "quorum must be at least 1", "leave it out for 1"
		}
	case "ask.approvers":
		if l, ok := value.Value.(collection); ok && l.Len() == 0 {
			return "approvers name nobody, so that nobody could agree", "leave them out for anybody but the principal"
		}
	}
	return "", ""
}

// example shows the form of an entry: {"code": ..., "message": ...}.
func example(fields []field) string {
	var parts []string
	for _, f := range fields {
		if !f.optional {
			parts = append(parts, strconv.Quote(f.name)+": ...")
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
