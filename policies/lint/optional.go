package lint

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/functions"
	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/internal/rego/schema"
	"github.com/ambit-tools/ambit/policies/lint/internal/places"
	"github.com/ambit-tools/ambit/policies/lint/internal/values"
)

// codeOptional is the code of warnings about members that may be absent.
const codeOptional = "optional_member"

// An optionalLint finds rules that refuse or ask and that certainly do not apply to
// calls that lack an optional member, though they do not say so.
type optionalLint struct {
	*valueLint
	root    *ast.Rule
	visited map[string]bool
	found   map[string]look // the first look at each member without which the rule does not apply
	fuel    int
}

// maxChains bounds the ways to the rules that one rule uses.
const maxChains = 500

// A link is a rule on the way from a contract rule to what it looks at.
type link struct {
	rule *ast.Rule
	up   *link
}

// A look is a reference to a member that may be absent.
type look struct {
	path     []string
	at       *ast.Location
	tools    []string // that declare it so; nil in the package of a tool
	pins     map[ast.Var]string
	kind     schema.Kinds
	declared bool // it is no entry of a map
}

// optionals warns of denials and asks that do not apply without an optional member.
func (l *valueLint) optionals() {
	for _, m := range l.HandWritten(l.Compiler.Modules) {
		if !policydir.Contributes(m.Package.Path) {
			continue
		}
		for _, r := range m.Rules {
			if name := policydir.RuleName(r); (name == "deny" || name == "ask") && r.Head.Key != nil {
				lint := &optionalLint{valueLint: l, root: r, visited: map[string]bool{}, found: map[string]look{}, fuel: maxChains}
				lint.visit(values.NewFrame(r, nil, l.Rooted(m.Package.Path), 0), &link{rule: r})
				for _, member := range slices.Sorted(maps.Keys(lint.found)) {
					lint.warn(lint.found[member])
				}
			}
		}
	}
}

// visit looks into a rule and into the rules that it uses.
func (l *optionalLint) visit(f *values.Frame, chain *link) {
	if l.fuel == 0 || f.Depth > values.MaxNested {
		return
	}
	l.fuel--
	l.looks(f.With(l.Narrowed(f.Rule.Body, f)), chain)
	used := func(rules []*ast.Rule, args []values.Set) {
		for _, r := range rules {
			tools := l.Entering(r, f)
			if key := values.ContextKey(r, args, tools); r.Module != nil && !r.Default && !l.visited[key] {
				l.visited[key] = true
				l.visit(values.NewFrame(r, args, tools, f.Depth+1), &link{r, chain})
			}
		}
	}
	ast.WalkExprs(f.Rule, func(e *ast.Expr) bool {
		if terms, ok := e.Terms.([]*ast.Term); ok && len(e.With) == 0 && functions.Builtin(terms[0].String()) == nil {
			if ref, ok := terms[0].Value.(ast.Ref); ok {
				used(l.Compiler.GetRulesExact(ref), l.Passed(terms[1:], f))
			}
		}
		return len(e.With) > 0
	})
	ast.WalkRefs(f.Rule, func(ref ast.Ref) bool {
		used(l.RulesOf(ref), nil)
		return false
	})
}

// looks checks the references of one rule.
func (l *optionalLint) looks(f *values.Frame, chain *link) {
	ast.WalkExprs(f.Rule, func(e *ast.Expr) bool {
		if len(e.With) == 0 {
			if terms, ok := e.Terms.([]*ast.Term); ok && terms[0].String() == "eq" {
				l.patterns(terms[1], terms[2], e, f, chain)
				l.patterns(terms[2], terms[1], e, f, chain)
			}
		}
		return false
	})
	ast.WalkRefs(f.Rule, func(ref ast.Ref) bool {
		base := l.RefValues(ref[:1], f)
		var found []look
		for _, index := range ref[1:] {
			found = append(found, l.optional(base, index, f)...)
			base = l.Step(base, index, f)
		}
		l.judge(found, chain)
		return false
	})
}

// patterns checks the members that a pattern takes from a part of the input.
func (l *optionalLint) patterns(pattern, from *ast.Term, e *ast.Expr, f *values.Frame, chain *link) {
	object, ok := pattern.Value.(ast.Object)
	if !ok {
		return
	}
	base := l.Side(from, f, e)
	object.Foreach(func(key, _ *ast.Term) { l.judge(l.optional(base, key, f), chain) })
}

// optional returns the looks of an index at members that may be absent.
func (l *optionalLint) optional(base values.Set, index *ast.Term, f *values.Frame) (found []look) {
	names := []values.Constant{{Term: index}}
	v, varies := index.Value.(ast.Var)
	if varies {
		var ok bool
		if names, ok = l.Values(index, f).AllConstants(); !ok || len(names) > values.MaxAlternatives {
			return nil
		}
	}
	for _, p := range base.Parts() {
		if len(p.Path) == 0 || !p.Path[0].Equal(ast.StringTerm("args")) {
			continue
		}
		for _, name := range names {
			text, ok := name.Value.(ast.String)
			if !ok {
				continue
			}
			one := look{path: append(namesOfPath(p.Path), string(text)), at: index.Location}
			var tools []string
			for _, tool := range l.judged(p.Frame) {
				if mayLack(l.Published[tool].Input, one.path[1:], &one) {
					tools = append(tools, tool)
				}
			}
			if len(tools) == 0 {
				continue
			}
			if p.Frame.Shared() {
				one.tools = tools
			}
			if varies {
				one.pins = map[ast.Var]string{v: string(text)}
			}
			found = append(found, one)
		}
	}
	return found
}

// namesOfPath returns a path with anyIndex for what is no name.
func namesOfPath(p places.Path) []string {
	names := make([]string, len(p))
	for i, t := range p {
		if name, ok := t.Value.(ast.String); ok {
			names[i] = string(name)
		} else {
			names[i] = schema.AnyIndex
		}
	}
	return names
}

// mayLack says that a valid value which has what leads to a member may lack the
// member, and notes what the member is.
func mayLack(s schema.Schema, path []string, one *look) (may bool) {
	s = s.Resolve()
	next := s.Branches()
	rest := path
	if len(next) == 0 && len(path) > 1 {
		next, rest = s.Below(path[0]), path[1:]
	}
	for _, b := range next {
		may = mayLack(b, rest, one) || may
	}
	name := path[0]
	if len(next) > 0 || len(path) > 1 || s.Node == nil || !s.Is("object") || s.Requires(name) {
		return may
	}
	_, _, declared, _ := s.Member(name)
	for _, m := range s.Below(name) {
		if m.Node["default"] != nil || m.Resolve().Node["default"] != nil {
			return false
		}
		may, one.kind, one.declared = true, one.kind|m.Kinds(), one.declared || declared
	}
	return may
}

// judge warns of the member that a reference needs, if the rule is lost without it.
func (l *optionalLint) judge(found []look, chain *link) {
	for _, one := range slices.Backward(found) {
		if one.at == nil || one.at.File == "" || strings.HasPrefix(one.at.File, policydir.LibraryName) {
			continue
		}
		if !l.lost(one, chain) || l.said(one.path, chain) {
			continue
		}
		key := pathText(one.path)
		if first, seen := l.found[key]; !seen || one.at.Compare(first.at) < 0 {
			l.found[key] = one
		}
		return
	}
}

// lost says that the contract rule does not apply to a call that lacks a member,
// by the way that leads to the look at it.
func (l *optionalLint) lost(one look, chain *link) bool {
	only := map[string]*ast.Rule{}
	for c := chain; c != nil && c.rule != l.root; c = c.up {
		only[c.rule.Ref().GroundPrefix().String()] = c.rule
	}
	with := &absence{Analysis: l.Analysis, missing: one.path, only: only, pins: one.pins}
	return with.body(l.root.Body, findings{}) == fails
}

// said says that a rule on the way, or another one of its name, says what is when a
// member is absent.
func (l *optionalLint) said(path []string, chain *link) bool {
	for c := chain; c != nil; c = c.up {
		if l.handles(c.rule, path, true) {
			return true
		}
		for _, r := range l.Compiler.GetRulesExact(c.rule.Ref().GroundPrefix()) {
			if r != c.rule && l.handles(r, path, false) {
				return true
			}
		}
	}
	return false
}

// handles says that a rule asks whether a member is absent; own, that it has a
// default for it.
func (l *optionalLint) handles(r *ast.Rule, path []string, own bool) bool {
	found := false
	frame := values.NewFrame(r, nil, values.ToolSet{}, 0)
	leads := func(t *ast.Term, more ...*ast.Term) bool {
		s := l.Values(t, frame)
		for _, index := range more {
			s = l.Step(s, index, frame)
		}
		return slices.ContainsFunc(s.Parts(), func(p values.InputPart) bool { return slices.Equal(namesOfPath(p.Path), path) })
	}
	ast.WalkExprs(r, func(e *ast.Expr) bool {
		switch terms := e.Terms.(type) {
		case *ast.Term:
			found = found || e.Negated && leads(terms)
		case []*ast.Term:
			switch name := terms[0].String(); {
			case name == "object.get" && own && len(terms) > 3:
				found = found || leads(terms[1], places.PathOf(terms[2])...)
			case name == "internal.member_2" && policydir.IsConstant(terms[1]):
				for _, part := range l.Values(terms[2], frame).PartsNamed() {
					found = found || slices.Equal(append(namesOfPath(part.Path), string(terms[1].Value.(ast.String))), path)
				}
			}
		}
		return found
	})
	return found
}

// warn says that a rule does not apply without a member.
func (l *optionalLint) warn(one look) {
	member := pathText(one.path)
	message := fmt.Sprintf("this %s does not apply when %s is absent", policydir.RuleName(l.root), member)
	if one.at.File != l.root.Location.File || one.at.Row < l.root.Location.Row || one.at.Row > l.root.Location.Row+strings.Count(string(l.root.Location.Text), "\n") {
		message = fmt.Sprintf("the %s at %s does not apply when %s is absent", policydir.RuleName(l.root), policydir.Position(l.root.Location), member)
	}
	if len(one.tools) > 0 {
		message += ", as in calls of " + strings.Join(one.tools, ", ")
	}
	hint := "write object.get(" + getText(one) + ")"
	if one.declared {
		hint += ", give it a default in tools.yaml"
	}
	if !slices.Contains(one.path, schema.AnyIndex) {
		hint += ", or say what is then by a rule with not " + member
	}
	note := l.notes.at("optional", one.at)
	note.unsure(one.at, codeOptional, message, hint)
}

// pathText writes a path as a reference.
func pathText(path []string) string {
	ref := ast.Ref{ast.InputRootDocument}
	for _, name := range path {
		if name == schema.AnyIndex {
			ref = append(ref, ast.VarTerm(ast.WildcardPrefix))
		} else {
			ref = append(ref, ast.StringTerm(name))
		}
	}
	return ref.String()
}

// getText writes the arguments of object.get for a member.
func getText(one look) string {
	last := len(one.path) - 1
	start := 1
	for i, name := range one.path {
		if name == schema.AnyIndex {
			start = i + 1 // of an element
		}
	}
	object := pathText(one.path[:start])
	if start > 1 {
		object = "<the element>"
	}
	keys := make([]string, 0, last)
	for _, name := range one.path[start:] {
		keys = append(keys, strconv.Quote(name))
	}
	key := keys[0]
	if len(keys) > 1 {
		key = "[" + strings.Join(keys, ", ") + "]"
	}
	return object + ", " + key + ", " + emptyOf(one.kind)
}

// emptyOf returns a default for members of some kinds.
func emptyOf(k schema.Kinds) string {
	switch k &^ schema.NullKind {
	case schema.StringKind:
		return `""`
	case schema.NumberKind:
		return "0"
	case schema.BooleanKind:
		return "false"
	case schema.ArrayKind:
		return "[]"
	case schema.ObjectKind:
		return "{}"
	}
	return "null"
}
