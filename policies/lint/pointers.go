package lint

import (
	"fmt"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/internal/rego/schema"
	"github.com/ambit-tools/ambit/policies/lint/internal/values"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// judged returns the tools whose calls a frame can be about; nil when one of them
// is not declared here.
func (l *valueLint) judged(f *values.Frame) []string {
	switch {
	case f.Tools.Foreign:
		return nil
	case f.Tools.Fixed:
		return f.Tools.Names
	}
	return l.Tools
}

// rewrite checks the constants of a rewrite against the published schemas: a place
// that no call has, and a value that no call could run with.
func (l *valueLint) rewrite(r *ast.Rule, entry values.Set, f *values.Frame) {
	value, at := l.Step(entry, ast.StringTerm("value"), f), l.entryLocation(r, "value")
	for _, p := range l.Step(entry, ast.StringTerm("pointer"), f).Constants() {
		pointer, isText := p.Value.(ast.String)
		names, err := wire.ParsePointer(string(pointer))
		if !isText {
			continue
		}
		if err != nil {
			l.wrongPlace(r, "pointer", err.Error(), "")
			continue
		}
		var inputs []schema.Schema
		for _, tool := range l.judged(f) {
			if s := l.Published[tool].Input; s.Leads(names) {
				inputs = append(inputs, s)
			}
		}
		if len(inputs) == 0 && len(l.judged(f)) > 0 {
			name, hint := l.lost(f, names, func(p policydir.Published) schema.Schema { return p.Input })
			l.wrongPlace(r, "pointer", fmt.Sprintf("pointer %q leads nowhere: there is no %q", string(pointer), name), hint)
			continue
		}
		for _, c := range value.Constants() {
			if bad := misfits(inputs, string(pointer), names, c.Value); bad != nil {
				l.notes.at("value", at).wrong(at, fmt.Sprintf("the argument at %q cannot be %s: %s wants %s, and this has %s", bad.Pointer, shown(c.Value), bad.Keyword, bad.Expected, bad.Actual),
					"no call could run with it: write a value that fits")
			}
		}
	}
}

// misfits returns how a value breaks each of some schemas at a pointer, as the
// first says it, nil when it fits one.
func misfits(inputs []schema.Schema, pointer string, names []string, v ast.Value) *wire.Violation {
	value, err := ast.JSON(v)
	if err != nil {
		return nil
	}
	var first *wire.Violation
	for _, s := range inputs {
		bad := s.Misfit(pointer, names, value)
		if len(bad) == 0 {
			return nil
		}
		if first == nil {
			first = &bad[0]
		}
	}
	return first
}

// lost returns the first name of a pointer that leads nowhere in the schemas of
// all tools, and what may have been meant.
func (l *valueLint) lost(f *values.Frame, names []string, of func(policydir.Published) schema.Schema) (name, hint string) {
	var known []string
	best := 0
	for _, tool := range l.judged(f) {
		s := of(l.Published[tool])
		n := 0
		for n < len(names)-1 && s.Leads(names[:n+1]) {
			n++
		}
		if n > best {
			best, known = n, nil
		}
		if n == best {
			known = append(known, s.NamesAt(names[:n])...)
		}
	}
	return names[best], policydir.DidYouMean(names[best], known)
}

// obligation checks the constants of what redact_output masks.
func (l *valueLint) obligation(r *ast.Rule, entry values.Set, f *values.Frame) {
	code := ast.StringTerm("redact_output")
	if codes := l.Step(entry, ast.StringTerm("code"), f).Constants(); len(codes) != 1 || !codes[0].Equal(code) {
		return
	}
	args := l.Step(entry, ast.StringTerm("args"), f)
	for _, c := range args.Constants() {
		var errs policydir.Errors
		lintObligation(ast.NewObject(ast.Item(ast.StringTerm("code"), code), ast.Item(ast.StringTerm("args"), c.Term)), &errs)
		for _, e := range errs {
			l.wrongPlace(r, "args", e.Message, e.Hint)
		}
	}
	pointers := l.Elements(l.Step(args, ast.StringTerm("pointers"), f))
	for _, c := range pointers.Constants() {
		text, ok := c.Value.(ast.String)
		names, err := wire.ParsePointer(string(text))
		if !ok || err != nil || len(l.judged(f)) == 0 {
			continue
		}
		found := false
		for _, tool := range l.judged(f) {
			found = found || l.Published[tool].Output.Leads(names)
		}
		at := l.Where(c)
		if at == nil {
			at = l.entryLocation(r, "args")
		}
		if note := l.notes.at("redact", at); found {
			note.fine = true
		} else {
			_, hint := l.lost(f, names, func(p policydir.Published) schema.Schema { return p.Output })
			note.wrong(at, fmt.Sprintf("the output of %s has nothing at %q, so that every call would be denied", strings.Join(l.judged(f), ", "), string(text)), hint)
		}
	}
}

// wrongPlace notes a mistake in a member of a rule's entry.
func (l *valueLint) wrongPlace(r *ast.Rule, member, message, hint string) {
	at := l.entryLocation(r, member)
	l.notes.at("entry "+member, at).wrong(at, message, hint)
}
