package lint

import (
	"fmt"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/policies/lint/internal/values"
)

// members checks an index of a part of the arguments in packages that are not a
// tool's: a member that no tool has is undefined, and what depends on it never
// happens. In a tool's package OPA's type checker finds it, but not behind object.get.
func (l *valueLint) members(base values.Set, index *ast.Term, f *values.Frame) {
	parts := base.Parts()
	if len(parts) == 0 || !ast.IsScalar(index.Value) && !isVar(index) {
		return
	}
	names := []values.Constant{{Term: index}}
	if !ast.IsScalar(index.Value) {
		if names, _ = l.Values(index, f).AllConstants(); len(names) > values.MaxAlternatives {
			return
		}
	}
	for _, name := range names {
		t := ast.NewTerm(name.Value).SetLocation(index.Location)
		if _, ok := t.Value.(ast.String); ok {
			l.memberOf(parts, t, f)
		}
	}
}

// memberOf checks a name that is looked for in one of some parts of the input.
func (l *valueLint) memberOf(parts []values.InputPart, name *ast.Term, f *values.Frame) {
	at := name.Location
	if at == nil {
		at = f.Rule.Location
	}
	for _, p := range parts {
		switch note := l.notes.at("member "+name.String(), at); {
		case p.IsFacts():
			l.fact(note, p, name, at)
		case len(p.Path) == 0 || !p.Path[0].Equal(ast.StringTerm("args")):
		case p.ClosedFor(name):
			message, hint := l.noMember(p, name)
			note.wrong(at, message, hint)
		default:
			note.fine = true
		}
	}
}

// noMember says that a part of the arguments never has a member.
func (l *valueLint) noMember(p values.InputPart, name *ast.Term) (message, hint string) {
	text := string(name.Value.(ast.String))
	if hint = policydir.DidYouMean(text, p.At.Names()); hint == "" && len(p.At.Names()) > 0 {
		hint = "it has " + listed(p.At.Names())
	}
	message = fmt.Sprintf("%v has no member %q", p.Path, text)
	switch tools := p.Frame.Tools; {
	case !tools.Fixed && len(p.At) > 1:
		message += ", whatever the tool"
	case tools.Fixed:
		message += " when the tool is " + strings.Join(tools.Names, " or ")
	}
	return message, hint
}

// fact checks that a count or a success is one of a tool.
func (l *valueLint) fact(note *note, p values.InputPart, name *ast.Term, at *ast.Location) {
	text := string(name.Value.(ast.String))
	message := fmt.Sprintf("%v has no tool %q", p.Path, text)
	switch {
	case l.IsTool(text), p.Frame.Tools.Foreign: // the name that is compared is warned of
		note.fine = true
	default:
		hint := toolHint(text, l.Tools)
		if tool, as := l.Called(text); tool != "" {
			hint = fmt.Sprintf("write %q: %s is %s of it", tool, text, as)
		}
		note.wrong(at, message, hint)
	}
}

// got checks a member that object.get looks for. Who asks with a default expects
// that the member may be absent, so only what looks like a typo is worth a warning.
func (l *valueLint) got(object, key *ast.Term, f *values.Frame) {
	path := []*ast.Term{key}
	if list, ok := key.Value.(*ast.Array); ok {
		path = nil
		list.Foreach(func(t *ast.Term) { path = append(path, t) })
	}
	base := l.Values(object, f)
	for _, index := range path {
		for _, p := range base.Parts() {
			name, ok := index.Value.(ast.String)
			if !ok || index.Location == nil {
				continue
			}
			note := l.notes.at("got "+index.String(), index.Location)
			switch {
			case p.IsFacts():
				l.fact(note, p, index, index.Location)
			case len(p.Path) == 0 || !p.Path[0].Equal(ast.StringTerm("args")) || !p.ClosedFor(index):
				note.fine = true
			case !p.Frame.Shared(): // the arguments are those of this tool
				message, hint := l.noMember(p, index)
				note.wrong(index.Location, message, hint)
			case similar(string(name), p.At.Names()) != "":
				message, hint := l.noMember(p, index)
				note.unsure(index.Location, codeForeignName, message, hint)
			}
		}
		base = l.Step(base, index, f)
	}
}
