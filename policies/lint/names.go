package lint

import (
	"fmt"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/internal/rego/schema"
)

// comparison checks constants that are compared with a part of the input, also
// through locals and rules: a value that the part never has makes the comparison
// always the same.
func (l *valueLint) comparison(x, y *ast.Term, e *ast.Expr, f *frame) {
	if l.defines(x, e, f) || l.defines(y, e, f) {
		return
	}
	left, right := l.side(x, f, e), l.side(y, f, e)
	l.compared(left, right.constants(), f)
	l.compared(right, left.constants(), f)
	l.destructured(x, right, f)
	l.destructured(y, left, f)
}

// membership checks constants that a part of the input is looked for among.
func (l *valueLint) membership(wanted, among *ast.Term, e *ast.Expr, f *frame) {
	left, right := l.side(wanted, f, e), l.side(among, f, e)
	l.compared(left, l.elements(right).constants(), f)
	l.compared(right.each(func(c candidate) valueSet {
		if p, ok := c.(inputPart); ok && p.at.Kinds() == schema.ObjectKind {
			return anything() // values of an object: names among them are found as they are written
		}
		return l.elements(only(c))
	}), left.constants(), f)
	for _, part := range right.partsNamed() {
		for _, name := range left.constants() {
			if _, isText := name.Value.(ast.String); isText {
				l.memberOf([]inputPart{part}, ast.NewTerm(name.Value).SetLocation(wanted.Location), f)
			}
		}
	}
}

// lookup checks the keys of a table that a part of the input is the index of: a
// key that the part never has is never found.
func (l *valueLint) lookup(table valueSet, index *ast.Term, f *frame) {
	if ast.IsScalar(index.Value) {
		return
	}
	if _, ok := l.values(index, f).allParts(); !ok {
		return
	}
	l.compared(l.values(index, f), l.keys(table).constants(), f)
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
				for _, t := range headTerms(r) {
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
func (l *valueLint) compared(with valueSet, constants []constant, f *frame) {
	parts, ok := with.allParts()
	for _, c := range constants {
		note := l.notes.at("value", l.where(c))
		switch {
		case c.isKey() && l.namedKeys()[textOf(c)]: // such as limits.default
		case !ok && len(with.constants()) == 0 || slices.ContainsFunc(parts, func(p inputPart) bool { return l.possible(c, p) }):
			note.fine = true
		case ok:
			l.impossible(note, c, parts[0], constants, f)
		}
	}
}

// possible says that a part of the input can be a constant. Null is compared
// with what may be absent, too.
func (l *valueLint) possible(c constant, p inputPart) bool {
	if c.Value.Compare(ast.NullValue) == 0 {
		return true
	}
	allowed := l.domain(p)
	_, never := neverOneOf(c.Term, allowed)
	return p.at.Kinds()&kindOfConstant(c.Value) != 0 && (!never || !ast.IsScalar(c.Value))
}

// kindOfConstant returns the kind of a value.
func kindOfConstant(v ast.Value) schema.Kinds { return (&inputLint{}).kindsOf(ast.NewTerm(v)) }

// domain returns the values that a part of the input can have, nil when any.
func (l *valueLint) domain(p inputPart) []any {
	names, _ := p.path[:min(2, len(p.path))].Names()
	if len(names) == 2 && names[0] == "tool" {
		switch {
		case names[1] == "name" && len(p.path) == 2:
			return listOf(l.Tools)
		case names[1] == "capabilities" && len(p.path) == 3:
			return listOf(l.Declared.Capabilities)
		}
	}
	return p.at.Values()
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
func (l *valueLint) impossible(note *note, c constant, p inputPart, among []constant, f *frame) {
	at, inData := l.where(c), c.inData()
	if inData && slices.ContainsFunc(among, func(o constant) bool { return l.possible(o, p) }) && similar(textOf(c), unlisted(l.domain(p), among)) == "" {
		note.fine = true // a table of several applications
		return
	}
	if have := kindOfConstant(c.Value); p.at.Kinds()&have == 0 {
		note.wrong(at, fmt.Sprintf("%v is %v, and it is compared with %v", p.path, p.at.Kinds(), have), compareHint(p.at.Kinds(), c.Term))
		return
	}
	allowed := l.domain(p)
	hint, _ := neverOneOf(c.Term, allowed)
	message := fmt.Sprintf("%v is never %v", p.path, c.Value)
	switch {
	case similar(textOf(c), unlisted(allowed, among)) != "":
		note.wrong(at, message, hint)
	case p.ofApplication() && (inData || f.shared()):
		note.unsure(at, codeForeignName, message+" here", hint)
	default:
		note.wrong(at, message, hint)
	}
}

// textOf returns the text of a constant, "" when it is none.
func textOf(c constant) string {
	text, _ := c.Value.(ast.String)
	return string(text)
}

// unlisted returns the allowed texts that are not among some constants.
func unlisted(allowed []any, among []constant) []string {
	var names []string
	for _, v := range allowed {
		if name, ok := v.(string); ok && !containsValue(among, ast.String(name)) {
			names = append(names, name)
		}
	}
	return names
}

// destructured checks the members that a pattern takes from a part of the input.
func (l *valueLint) destructured(pattern *ast.Term, from valueSet, f *frame) {
	object, ok := pattern.Value.(ast.Object)
	if !ok || len(from.parts()) == 0 {
		return
	}
	object.Foreach(func(key, value *ast.Term) {
		if !policydir.IsConstant(key) {
			return
		}
		l.members(from, key, f)
		l.destructured(value, l.step(from, key, f), f)
	})
}
