package ir

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/ambit-tools/ambit/dsl"
)

// A site is where a schema stands: it names what the schema becomes.
type site struct {
	owner *Type  // the declared type that the rule tables stand with; nil: its own, or the package's
	name  string // Go name of a type declared here, FileReadInputOptions
	rule  string // of its rule table, fileReadInputOptions
	doc   string // what a type declared here is, in a comment: "the input of the file_read tool"
	self  string // how comments name the site where doc does not say it
	inner bool   // name is made of the names around it, and gives way to one that is declared
}

// member is the site of something inside at.
func (at site) member(name, doc string) site {
	return site{owner: at.owner, name: at.name + name, rule: at.rule + name, doc: doc, inner: true}
}

// inside is the site of what a declared type holds. The rule tables of a type
// that only one other uses stand with those of the other.
func (at site) inside(t *Type) site {
	owner := at.owner
	if owner == nil {
		owner = t
	}
	return site{owner: owner, name: t.Name, rule: lower(t.Name), self: t.Name}
}

// called is the site in the comment of something inside it.
func (at site) called() string { return cmp.Or(at.doc, at.self) }

// declare takes an exported name for something of the user's; a name that is
// taken is an error at pos.
func (b *builder) declare(s *scope, name, what string, pos dsl.Pos) string {
	h, ok := s.taken[name]
	if !ok {
		s.taken[name] = holder{what, pos}
		return name
	}
	where := ""
	if h.pos.Line > 0 {
		where = fmt.Sprintf(" (line %d)", h.pos.Line)
	}
	b.errorf(pos, "rename one of the two", "%s would be named %s in Go, as %s already is%s", what, name, h.what, where)
	return name
}

// vacant returns name, or name with the first number that makes it free: of the names so
// far, and of those that the declaration gives.
func (b *builder) vacant(name string) string {
	free := name
	for i := 2; ; i++ {
		if _, taken := b.scope.taken[free]; !taken && !b.given[free] {
			return free
		}
		free = name + strconv.Itoa(i)
	}
}

// announce makes t a declared Go type.
func (b *builder) announce(t *Type, s *dsl.Schema, at site) {
	what := "the type of " + describe(s)
	if t.Name = at.name; at.inner {
		t.Name = b.vacant(at.name)
	}
	b.declare(b.scope, t.Name, what, s.Pos)
	switch {
	case at.owner != nil: // a member's field has the description already
		t.Doc.Text = typeDoc(t.Name, at.doc, "")
	case at.doc == "":
		t.Doc.Text = sharedDoc(t.Name, s.Description)
	default:
		t.Doc.Text = typeDoc(t.Name, at.doc, s.Description)
	}
	b.pkg.Types = append(b.pkg.Types, t)
	b.types[t.Name] = t
}

// addRule gives t a rule table, unless the rule says nothing.
func (b *builder) addRule(t *Type, at site, r *Rule) {
	if r.String == nil && r.Int == nil && r.Number == nil && r.Bool == nil && r.Raw == nil && r.Array == nil &&
		r.Object == nil && r.Union == nil {
		return
	}
	if r.String != nil && r.String.Pattern != nil {
		r.Pattern = b.patterns[r.String.Pattern.Source]
	}
	if schema := r.Schema(); schema != nil {
		r.Patterns = b.patternsOf(schema)
	}
	r.Var = b.scope.unique(at.rule)
	t.Rule = r
	if at.owner != nil {
		at.owner.Rules = append(at.owner.Rules, r)
	} else {
		b.pkg.Rules = append(b.pkg.Rules, r)
	}
}

func describe(s *dsl.Schema) string {
	switch {
	case s.Title != "":
		return fmt.Sprintf("the schema %q", s.Title)
	case s.Type != "":
		return fmt.Sprintf("the %s on line %d", s.Type, s.Pos.Line)
	}
	return fmt.Sprintf("the schema on line %d", s.Pos.Line)
}
