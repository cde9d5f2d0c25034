package lint

import (
	"fmt"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
)

// members checks an index of a part of the arguments in packages that are not a
// tool's: a member that no tool has is undefined, and what depends on it never
// happens. In a tool's package OPA's type checker finds it.
func (a *valueLint) members(base valueSet, index *ast.Term, f *frame) {
	parts := base.parts()
	if len(parts) == 0 || !ast.IsScalar(index.Value) && !isVar(index) {
		return
	}
	names := []constant{{Term: index}}
	if !ast.IsScalar(index.Value) {
		if names, _ = a.values(index, f).allConstants(); len(names) > maxAlternatives {
			return
		}
	}
	for _, name := range names {
		t := ast.NewTerm(name.Value).SetLocation(index.Location)
		if _, ok := t.Value.(ast.String); ok {
			a.memberOf(parts, t, f)
		}
	}
}

// memberOf checks a name that is looked for in one of some parts of the input.
func (a *valueLint) memberOf(parts []inputPart, name *ast.Term, f *frame) {
	at := name.Location
	if at == nil {
		at = f.rule.Location
	}
	for _, p := range parts {
		if !p.frame.shared() {
			continue
		}
		switch note := a.notes.at("member "+name.String(), at); {
		case p.isFacts():
			a.fact(note, p, name, at)
		case len(p.path) == 0 || !p.path[0].Equal(ast.StringTerm("args")):
		case p.closedFor(name):
			message, hint := a.noMember(p, name)
			note.wrong(at, message, hint)
		default:
			note.fine = true
		}
	}
}

// noMember says that a part of the arguments never has a member.
func (a *valueLint) noMember(p inputPart, name *ast.Term) (message, hint string) {
	text := string(name.Value.(ast.String))
	if hint = policydir.DidYouMean(text, p.at.names()); hint == "" && len(p.at.names()) > 0 {
		hint = "it has " + listed(p.at.names())
	}
	message = fmt.Sprintf("%v has no member %q", p.path, text)
	switch tools := p.frame.tools; {
	case !tools.fixed && len(p.at) > 1:
		message += ", whatever the tool"
	case tools.fixed:
		message += " when the tool is " + strings.Join(tools.names, " or ")
	}
	return message, hint
}

// fact checks that a count or a success is one of a tool.
func (a *valueLint) fact(note *note, p inputPart, name *ast.Term, at *ast.Location) {
	text := string(name.Value.(ast.String))
	message := fmt.Sprintf("%v has no tool %q", p.path, text)
	switch {
	case a.IsTool(text), p.frame.tools.foreign: // the name that is compared is warned of
		note.fine = true
	default:
		note.wrong(at, message, toolHint(text, a.Tools))
	}
}

// got checks a member that object.get looks for. Who asks with a default expects
// that the member may be absent, so only what looks like a typo is worth a warning.
func (a *valueLint) got(object, key *ast.Term, f *frame) {
	path := []*ast.Term{key}
	if list, ok := key.Value.(*ast.Array); ok {
		path = nil
		list.Foreach(func(t *ast.Term) { path = append(path, t) })
	}
	base := a.values(object, f)
	for _, index := range path {
		for _, p := range base.parts() {
			name, ok := index.Value.(ast.String)
			if !ok || !p.frame.shared() || index.Location == nil {
				continue
			}
			note := a.notes.at("got "+index.String(), index.Location)
			switch {
			case p.isFacts():
				a.fact(note, p, index, index.Location)
			case len(p.path) == 0 || !p.path[0].Equal(ast.StringTerm("args")) || !p.closedFor(index):
				note.fine = true
			case similar(string(name), p.at.names()) != "":
				message, hint := a.noMember(p, index)
				note.unsure(index.Location, codeForeignName, message, hint)
			}
		}
		base = a.step(base, index, f)
	}
}
