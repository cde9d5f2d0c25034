package lint

import (
	"fmt"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/internal/rego/schema"
	"github.com/ambit-tools/ambit/policies/lint/internal/values"
)

// comparison checks constants that are compared with a part of the input, also
// through locals and rules: a value that the part never has makes the comparison
// always the same.
func (l *valueLint) comparison(x, y *ast.Term, e *ast.Expr, f *values.Frame) {
	if l.Defines(x, e, f) || l.Defines(y, e, f) {
		return
	}
	left, right := l.Side(x, f, e), l.Side(y, f, e)
	l.compared(left, right.Constants(), f)
	l.compared(right, left.Constants(), f)
	l.destructured(x, right, f)
	l.destructured(y, left, f)
}

// membership checks constants that a part of the input is looked for among.
func (l *valueLint) membership(wanted, among *ast.Term, e *ast.Expr, f *values.Frame) {
	left, right := l.Side(wanted, f, e), l.Side(among, f, e)
	l.compared(left, l.Elements(right).Constants(), f)
	l.compared(right.Each(func(c values.Candidate) values.Set {
		if p, ok := c.(values.InputPart); ok && p.At.Kinds() == schema.ObjectKind {
			return values.Anything() // values of an object: names among them are found as they are written
		}
		return l.Elements(values.Only(c))
	}), left.Constants(), f)
	for _, part := range right.PartsNamed() {
		for _, name := range left.Constants() {
			if _, isText := name.Value.(ast.String); isText {
				l.memberOf([]values.InputPart{part}, ast.NewTerm(name.Value).SetLocation(wanted.Location), f)
			}
		}
	}
}

// lookup checks the keys of a table that a part of the input is the index of: a
// key that the part never has is never found.
func (l *valueLint) lookup(table values.Set, index *ast.Term, f *values.Frame) {
	if ast.IsScalar(index.Value) {
		return
	}
	if _, ok := l.Values(index, f).AllParts(); !ok {
		return
	}
	l.compared(l.Values(index, f), l.Keys(table).Constants(), f)
}

// namedKeys returns the names by which the policies index something themselves.
func (l *valueLint) namedKeys() map[string]bool {
	if l.indexed == nil {
		l.indexed = map[string]bool{}
		for _, m := range l.HandWritten(l.Parsed) {
			indexed := func(ref ast.Ref) bool {
				for _, t := range ref[1:] {
					if name, ok := t.Value.(ast.String); ok {
						l.indexed[string(name)] = true
					}
				}
				return false
			}
			for _, r := range m.Rules {
				ast.WalkRefs(r.Body, indexed)
				for _, t := range values.HeadTerms(r) {
					if !ast.IsScalar(t.Value) {
						ast.WalkRefs(t, indexed)
					}
				}
			}
			ast.WalkTerms(m, func(t *ast.Term) bool {
				if call, ok := t.Value.(ast.Call); ok && call[0].String() == "object.get" && len(call) == 4 && policydir.IsConstant(call[2]) {
					l.indexed[string(call[2].Value.(ast.String))] = true
				}
				return false
			})
		}
	}
	return l.indexed
}

// compared checks constants that are compared with what can be a part of the
// input. A constant that is compared with anything else too is no mistake.
func (l *valueLint) compared(with values.Set, constants []values.Constant, f *values.Frame) {
	parts, ok := with.AllParts()
	for _, c := range constants {
		note := l.notes.at("value", l.Where(c))
		switch {
		case c.IsKey() && l.namedKeys()[textOf(c)]: // such as limits.default
		case !ok && len(with.Constants()) == 0 || slices.ContainsFunc(parts, func(p values.InputPart) bool { return l.possible(c, p) }):
			note.fine = true
		case ok:
			l.impossible(note, c, parts[0], constants, f)
		}
	}
}

// possible says that a part of the input can be a constant. Null is compared
// with what may be absent, too.
func (l *valueLint) possible(c values.Constant, p values.InputPart) bool {
	if c.Value.Compare(ast.NullValue) == 0 {
		return true
	}
	allowed := l.domain(p)
	_, never := neverOneOf(c.Term, allowed)
	return p.At.Kinds()&kindOfConstant(c.Value) != 0 && (!never || !ast.IsScalar(c.Value))
}

// kindOfConstant returns the kind of a value.
func kindOfConstant(v ast.Value) schema.Kinds { return (&inputLint{}).kindsOf(ast.NewTerm(v)) }

// domain returns the values that a part of the input can have, nil when any.
func (l *valueLint) domain(p values.InputPart) []any {
	names, _ := p.Path[:min(2, len(p.Path))].Names()
	if len(names) == 2 && names[0] == "tool" {
		switch {
		case names[1] == "name" && len(p.Path) == 2:
			return listOf(l.Tools)
		case names[1] == "capabilities" && len(p.Path) == 3:
			return listOf(l.Declared.Capabilities)
		}
	}
	return p.At.Values()
}

// listOf returns names as values of JSON.
func listOf(names []string) []any {
	all := make([]any, len(names))
	for i, name := range names {
		all[i] = name
	}
	return all
}

// impossible notes a constant that a part of the input never is. The name of a
// tool that is like none here may be that of another application's, in packages
// and data that several applications share.
func (l *valueLint) impossible(note *note, c values.Constant, p values.InputPart, among []values.Constant, f *values.Frame) {
	at, inData := l.Where(c), c.InData()
	if inData && slices.ContainsFunc(among, func(o values.Constant) bool { return l.possible(o, p) }) && similar(textOf(c), unlisted(l.domain(p), among)) == "" {
		note.fine = true // a table of several applications
		return
	}
	if have := kindOfConstant(c.Value); p.At.Kinds()&have == 0 {
		note.wrong(at, fmt.Sprintf("%v is %v, and it is compared with %v", p.Path, p.At.Kinds(), have), compareHint(p.At.Kinds(), c.Term))
		return
	}
	allowed := l.domain(p)
	hint, _ := neverOneOf(c.Term, allowed)
	message := fmt.Sprintf("%v is never %v", p.Path, c.Value)
	switch {
	case similar(textOf(c), unlisted(allowed, among)) != "":
		note.wrong(at, message, hint)
	case p.OfApplication() && (inData || f.Shared()):
		note.unsure(at, codeForeignName, message+" here", hint)
	default:
		note.wrong(at, message, hint)
	}
}

// textOf returns the text of a constant, "" when it is none.
func textOf(c values.Constant) string {
	text, _ := c.Value.(ast.String)
	return string(text)
}

// unlisted returns the allowed texts that are not among some constants.
func unlisted(allowed []any, among []values.Constant) []string {
	var names []string
	for _, v := range allowed {
		if name, ok := v.(string); ok && !values.Contains(among, ast.String(name)) {
			names = append(names, name)
		}
	}
	return names
}

// destructured checks the members that a pattern takes from a part of the input.
func (l *valueLint) destructured(pattern *ast.Term, from values.Set, f *values.Frame) {
	object, ok := pattern.Value.(ast.Object)
	if !ok || len(from.Parts()) == 0 {
		return
	}
	object.Foreach(func(key, value *ast.Term) {
		if !policydir.IsConstant(key) {
			return
		}
		l.members(from, key, f)
		l.destructured(value, l.Step(from, key, f), f)
	})
}
