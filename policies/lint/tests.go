package lint

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/tester"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/policies/lint/internal/places"
	"github.com/ambit-tools/ambit/policies/lint/internal/values"
)

// lintTestRules refuses rules of the contract in files of tests, which the
// engine does not load: their author may believe that the engine evaluates them.
func (c *Checked) lintTestRules(errs *policydir.Errors) {
	for _, f := range c.Src.Files {
		m := c.Tests[f.Name]
		if m == nil || f.Library || !policydir.Contributes(m.Package.Path) || c.isTestPackage(m.Package.Path) {
			continue
		}
		for _, r := range m.Rules {
			if name := policydir.RuleName(r); policydir.Contract(name) != nil && len(r.Head.Args) == 0 {
				errs.Add(r.Location, fmt.Sprintf("%s of package %s stands in a file of tests, which decides nothing", name, policydir.PackageName(m)), c.moveHint(m))
			}
		}
	}
}

// moveHint says where a rule of the contract in a file of tests belongs.
func (c *Checked) moveHint(m *ast.Module) string {
	if kind, name := policydir.ContractPackage(m.Package.Path); kind == policydir.ToolPackage && !c.IsTool(name) {
		return "a package of tests is called ambit.tools.<tool>_test; there is no tool " + name
	}
	return "move it into a file whose name does not end in " + policydir.TestSuffix
}

// isTestPackage says that a package is one of tests by its name: the helpers of
// ambit.tools.x_test may be called as they like.
func (c *Checked) isTestPackage(pkg ast.Ref) bool {
	_, name := policydir.ContractPackage(pkg)
	tested, isTest := strings.CutSuffix(name, "_test")
	return isTest && (c.IsTool(tested) || !c.IsTool(name))
}

// CheckTests reports tests that do not compile, that never run, and that refer to a
// path that does not exist: they would pass with any policies.
func (c *Checked) CheckTests() error {
	if len(c.Tests) == 0 {
		return nil
	}
	var errs policydir.Errors
	compiler := policydir.TestCompiler()
	if compiler.Compile(c.TestModules()); compiler.Failed() {
		c.AddOPA(&errs, "", compiler.Errors)
		return c.Src.Show(errs.Err())
	}
	paths := &pathLint{root: places.Root(c.Bundle, compiler), tests: true, errs: &errs}
	for name := range c.Tests {
		paths.mocks(compiler.Modules[name])
	}
	for name := range c.Tests {
		paths.module(compiler.Modules[name])
	}
	c.lintIdle(compiler, &errs)
	c.lintVacuous(compiler, &errs)
	return c.Src.Show(errs.Err())
}

// lintVacuous reports what makes a test pass, or fail, whatever the policies say: a condition that is never false, and
// an input of which no policy sees a member.
func (c *Checked) lintVacuous(compiler *ast.Compiler, errs *policydir.Errors) {
	b := *c.Bundle
	b.Compiler = compiler
	l := newValueLint(&Checked{Bundle: &b})
	for name := range c.Tests {
		m := compiler.Modules[name]
		operators := aboutOperators(m)
		for _, r := range m.Rules {
			for ; r != nil; r = r.Else {
				f := values.NewFrame(r, nil, values.ToolSet{}, 0)
				ast.WalkExprs(r, func(e *ast.Expr) bool {
					l.condition(e, f)
					return false
				})
				ast.WalkWiths(r, func(w *ast.With) bool {
					if !operators {
						l.replaced(w, m.Package.Path, f)
					}
					return false
				})
			}
		}
	}
	var warnings policydir.Errors
	l.notes.collect(errs, &warnings)
}

// aboutOperators says that tests are about the operator policy, whose input is another one.
func aboutOperators(m *ast.Module) bool {
	found := false
	ast.WalkRefs(m, func(ref ast.Ref) bool {
		found = found || ref.HasPrefix(ast.MustParseRef("data.ambit.operators"))
		return found
	})
	return found
}

// replaced checks the input that a test gives, as far as it is written out: its members are those of the input, its
// arguments those of the tool that the test is about.
func (l *valueLint) replaced(w *ast.With, pkg ast.Ref, f *values.Frame) {
	ref, ok := w.Target.Value.(ast.Ref)
	if !ok || !ref[0].Equal(ast.InputRootDocument) {
		return
	}
	given := l.Values(w.Value, f)
	tools := l.Tools
	_, name := policydir.ContractPackage(pkg)
	if tested := strings.TrimSuffix(name, "_test"); l.IsTool(tested) && strings.HasPrefix(pkg.String(), "data.ambit.tools.") {
		tools = []string{tested}
	}
	if len(ref) == 1 {
		named, known := l.Step(l.Step(given, ast.StringTerm("tool"), f), ast.StringTerm("name"), f).AllConstants()
		if known {
			tools = nil
			for _, c := range named {
				tools = append(tools, textOf(c))
			}
		}
		if slices.ContainsFunc(tools, func(name string) bool { return !l.IsTool(name) }) {
			return // of another application
		}
	}
	schemaOf := ast.MustParseRef("data.ambit.policies.any")
	if len(tools) == 1 {
		schemaOf = ast.Ref{ast.DefaultRootDocument, ast.StringTerm("ambit"), ast.StringTerm("tools"), ast.StringTerm(tools[0])}
	}
	at := places.Input{l.SchemaOf(schemaOf)}
	for i, t := range ref[1:] {
		name, isName := t.Value.(ast.String)
		if !isName {
			return
		}
		next, closed := at.Step(t)
		if i == 0 && name == "args" {
			next, closed = places.Args(l.Bundle, tools...), false
		}
		if closed {
			l.unseen(t, ref[:i+1], at, w.Location)
			return
		}
		at = next
	}
	l.seen(given, ref, at, tools, w.Location, f)
}

// seen checks the members of a value that a test puts at a place of the input.
func (l *valueLint) seen(given values.Set, ref ast.Ref, at places.Input, tools []string, near *ast.Location, f *values.Frame) {
	if len(ref) > values.MaxNested {
		return
	}
	keys, _ := l.Keys(given).AllConstants()
	for _, key := range keys {
		if _, isName := key.Value.(ast.String); !isName || !key.IsKey() {
			continue
		}
		t := ast.NewTerm(key.Value).SetLocation(l.Where(key))
		next, closed := at.Step(t)
		if len(ref) == 1 && key.Value.Compare(ast.String("args")) == 0 {
			next, closed = places.Args(l.Bundle, tools...), false
		}
		if closed {
			l.unseen(t, ref, at, near)
			continue
		}
		if len(next) > 0 {
			l.seen(l.Step(given, t, f), ref.Append(t), next, tools, near, f)
		}
	}
}

// unseen reports a member that no policy sees, since no call has it.
func (l *valueLint) unseen(name *ast.Term, ref ast.Ref, at places.Input, near *ast.Location) {
	where := name.Location
	if where == nil || where.File == "" {
		where = near
	}
	text := string(name.Value.(ast.String))
	hint := policydir.DidYouMean(text, at.Names())
	if hint == "" && len(at.Names()) > 0 {
		hint = "it has " + listed(at.Names())
	}
	l.notes.at("given "+ref.String()+text, where).wrong(where, fmt.Sprintf("%v has no member %q, so that no call is like this", ref, text), hint)
}

// mocks notes what a module of tests replaces. What is replaced must be there,
// or the policies do not read it; but a test may add to base data.
func (l *pathLint) mocks(m *ast.Module) {
	ast.WalkWiths(m, func(w *ast.With) bool {
		ref, ok := w.Target.Value.(ast.Ref)
		if !ok || !ref[0].Equal(ast.DefaultRootDocument) {
			return false
		}
		l.mocked = append(l.mocked, ref)
		at, wrong := l.root.Lost(ref)
		if wrong > 0 && at.Held() {
			noSuch(at, ref[wrong], nearest(ref[wrong], ref), l.errs)
		}
		return false
	})
}

// lintIdle refuses rules in files of tests that no test uses: they were meant to be tests.
func (c *Checked) lintIdle(compiler *ast.Compiler, errs *policydir.Errors) {
	var tests []*ast.Rule
	for name := range c.Tests {
		for _, r := range compiler.Modules[name].Rules {
			if isTest(r) {
				tests = append(tests, r)
			}
		}
	}
	used := reachable(compiler, tests)
	for name := range c.Tests {
		reported := map[string]bool{} // or used: when one rule of a name is used, all rules of that name count as used
		for r := range used {
			if r.Module.Package.Path.Equal(compiler.Modules[name].Package.Path) {
				reported[policydir.RuleName(r)] = true
			}
		}
		for _, r := range compiler.Modules[name].Rules {
			if rule := policydir.RuleName(r); !reported[rule] {
				reported[rule] = true
				errs.Add(r.Location, fmt.Sprintf("%q is no test, and no test uses it", rule), idleHint(rule))
			}
		}
	}
}

// isTest says that a rule is run as a test.
func isTest(r *ast.Rule) bool {
	return slices.ContainsFunc(r.Head.Ref().GroundPrefix(), func(t *ast.Term) bool {
		name := strings.Trim(t.Value.String(), `"`)
		return strings.HasPrefix(name, tester.TestPrefix) || strings.HasPrefix(name, tester.SkipTestPrefix)
	})
}

// idleHint says how a rule that never runs was meant.
func idleHint(name string) string {
	first, rest, _ := strings.Cut(name, "_")
	if rest != "" && first == "todo" {
		return fmt.Sprintf("did you mean %q?", tester.SkipTestPrefix+rest)
	}
	if rest != "" && policydir.Distance(strings.ToLower(first), "test") <= 2 {
		return fmt.Sprintf("did you mean %q?", tester.TestPrefix+rest)
	}
	return "a test's name begins with " + tester.TestPrefix + ": call it so, or delete it"
}

// testFileHint says how a file must be called to be one of tests.
func testFileHint(file string) string {
	base := strings.TrimSuffix(strings.TrimSuffix(path.Base(file), ".rego"), "_tests")
	return "tests stand in files named *" + policydir.TestSuffix + ": call it " + base + policydir.TestSuffix
}
