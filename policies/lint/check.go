package lint

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/functions"
	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/policies"
	"github.com/ambit-tools/ambit/policies/lint/internal/values"
)

// A Report is what Check found in a policy directory.
type Report struct {
	Errors   policies.Diagnostics // what a load refuses; sorted by place
	Warnings policies.Diagnostics // what may not be intended; only of policies without errors; each has a Code
	Closed   []string             // tools that no rule can allow and no rule asks about, sorted: every call is denied
}

// Err returns the errors of the report as one, nil when there are none.
func (r *Report) Err() error {
	if len(r.Errors) == 0 {
		return nil
	}
	return r.Errors
}

// Check checks a policy directory, ambit_gen included, and the tests in it, without the
// program that will use it. It runs no test. The error says why the directory
// cannot be read.
func Check(fsys fs.FS) (*Report, error) {
	c, err := read(fsys)
	if err == nil {
		err = c.CheckTests()
	}
	if found, ok := errors.AsType[policies.Diagnostics](err); ok {
		return &Report{Errors: found}, nil
	}
	if err != nil {
		return nil, err
	}
	return &Report{Warnings: c.Warnings(), Closed: c.Closed()}, nil
}

// read reads and checks a directory, without its tests.
func read(fsys fs.FS) (*Checked, error) {
	src, err := policydir.ReadSource(fsys)
	if err != nil {
		return nil, err
	}
	return Source(src)
}

// Source compiles and checks what package runtime/opa has read; a program outside of this
// module calls Check. It reports all mistakes at once, except for checks that an
// earlier mistake would make fail wrongly. A panic is a fault of the checks: it
// refuses the source, and does not end a program that reloads its policies.
func Source(src *policydir.Source) (_ *Checked, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("checking the policies failed, which is a bug in ambit: panic: %v", v)
		}
	}()
	var errs policydir.Errors
	b, whole := policydir.ReadBundle(src, &errs)
	c := &Checked{Bundle: b, stray: map[string]bool{}}
	parsed := len(errs) == 0
	if whole {
		whole = c.lintParsed(&errs)
	}
	if whole && parsed {
		c.compile(&errs)
	} else {
		c.lintTotals(&errs)
	}
	if len(errs) > 0 || !whole || !parsed {
		return nil, src.Show(errs.Err())
	}
	return c, nil
}

// compile compiles what was parsed and lints the result. When the code has
// errors, what needs no types is linted all the same (SEMANTICS 3.6).
func (c *Checked) compile(errs *policydir.Errors) {
	c.Compiler = c.NewCompiler()
	c.Compiler.Compile(c.Stamped())
	c.lintTotals(errs)
	if !c.Compiler.Failed() {
		c.lintCompiled(errs)
		c.lintTypes(errs)
		return
	}
	var found policydir.Errors
	c.AddOPA(&found, "", c.Compiler.Errors)
	alone := len(*errs) == 0
	for _, e := range found {
		// An error in the library follows from a mistake in what the library reads.
		if alone || !errs.Holds(e.File, e.Line) && !strings.HasPrefix(e.File, policydir.LibraryName) {
			*errs = append(*errs, e)
		}
	}
	c.Compiler = ast.NewCompiler().WithCapabilities(functions.Capabilities()).SetErrorLimit(0)
	if c.Compiler.Compile(c.Stamped()); !c.Compiler.Failed() {
		c.lintCompiled(errs)
	}
}

// Warnings returns what may not be intended, sorted by place.
func (c *Checked) Warnings() policies.Diagnostics {
	warnings := append(c.askWarnings(), c.warnings...)
	found, _ := c.Src.Show(warnings.Err()).(policies.Diagnostics)
	return found
}

// Closed returns the tools that no rule can allow or ask about. A rule in a package for all tools is about those to
// whose names its body keeps.
func (c *Checked) Closed() []string {
	l := newValueLint(c)
	opened := map[string]bool{}
	for _, m := range c.HandWritten(c.Compiler.Modules) {
		if !policydir.Contributes(m.Package.Path) {
			continue
		}
		for _, r := range m.Rules {
			if name := policydir.RuleName(r); name != "allow" && name != "ask" {
				continue
			}
			f := values.NewFrame(r, nil, l.Rooted(m.Package.Path), 0)
			tools, without := l.Narrowed(r.Body, f), l.excluded(r.Body, f)
			for _, tool := range c.Tools {
				if (!tools.Fixed || slices.Contains(tools.Names, tool)) && !slices.Contains(without, tool) {
					opened[tool] = true
				}
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(c.Tools), func(name string) bool {
		t := c.Declared.Tools[name]
		return t.Effect == "read" || t.Consent != nil && t.Consent.Ask == "always" || opened[name]
	})
}

// excluded returns the tools whose names a body rules out, by != or by not ... in.
func (l *valueLint) excluded(body ast.Body, f *values.Frame) (names []string) {
	for _, e := range body {
		terms, ok := e.Terms.([]*ast.Term)
		if !ok || len(terms) != 3 || len(e.With) > 0 {
			continue
		}
		x, y := l.Side(terms[1], f, e), l.Side(terms[2], f, e)
		var out values.ToolSet
		switch name := terms[0].String(); {
		case e.Negated && name == "internal.member_2":
			out = l.Equated(x, l.Elements(y))
		case e.Negated && (name == "eq" || name == "equal"), !e.Negated && name == "neq":
			if out = l.Equated(x, y); !out.Fixed {
				out = l.Equated(y, x)
			}
			if len(out.Names) > 1 { // it is one of them
				continue
			}
		}
		if out.Fixed {
			names = append(names, out.Names...)
		}
	}
	return names
}
