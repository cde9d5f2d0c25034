package ir

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// maxProperties is how many members package wire can keep apart in one object.
const maxProperties = 256

// announce makes t a declared Go type.
func (b *builder) announce(t *Type, s *dsl.Schema, at place) {
	t.Name = b.declare(b.scope, at.name, "the type of "+describe(s), s.Pos)
	t.Doc.Text = []string{at.doc}
	if text := sentence(s.Description); text != "" && at.owner == nil { // a member's field says it already
		t.Doc.Text = append(t.Doc.Text, text)
	}
	b.pkg.Types = append(b.pkg.Types, t)
	b.types[t.Name] = t
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

// root is the struct of an input, an output or an undo state.
func (b *builder) root(s *dsl.Schema, name, doc string, d *dsl.Tool) *Type {
	if s == nil {
		s = &dsl.Schema{Pos: d.Pos, Type: dsl.TypeObject, Closed: true}
	}
	at := place{name: name, rule: lower(name) + "Rule", doc: doc}
	b.define(s, at)
	b.refuseSensitive(s, "mark its members with x-sensitive", name+" as a whole")
	seen := map[*dsl.NamedSchema]bool{}
	for s.Ref != "" && s.Target != nil && !seen[s.Target] {
		seen[s.Target] = true
		if b.kind(s.Target.Schema) == KindStruct && !s.Target.Schema.Nullable && !s.Sensitive {
			b.refuseSensitive(s.Target.Schema, "mark its members with x-sensitive", name+" as a whole")
			return b.resolve(s.Target)
		}
		s = s.Target.Schema
		b.refuseSensitive(s, "mark its members with x-sensitive", name+" as a whole")
	}
	t := &Type{Kind: KindStruct, Schema: s}
	if s.Type != dsl.TypeObject || s.Nullable {
		b.errorf(s.Pos, "say type: object", "%s must be an object", name)
		return t
	}
	b.define(s, at)
	b.fill(t, s, at)
	return t
}

// object completes a struct: a field per declared member.
func (b *builder) object(t *Type, s *dsl.Schema, at place) {
	b.announce(t, s, at)
	if len(s.Properties) > maxProperties {
		b.errorf(s.Pos, "split it into nested objects", "an object with %d properties: at most %d can be enforced", len(s.Properties), maxProperties)
		return
	}
	rule := &wire.ObjectRule{Open: !s.Closed, Sensitive: s.Sensitive}
	rule.Has, rule.Min, rule.Max = b.counts(s, "Properties", s.MinProperties, s.MaxProperties)
	in := at.inside(t)
	b.addRule(t, place{owner: in.owner, rule: in.rule + "Rule"}, &Rule{Object: rule})

	fields := &scope{taken: map[string]holder{}}
	for _, p := range s.Properties {
		t.Fields = append(t.Fields, b.field(p, slices.Contains(s.Required, p.Name), fields, in))
	}
	t.Beside = besides(t.Fields)
	b.members(t, rule)
	for _, name := range s.Required {
		if !slices.Contains(rule.Names[:rule.Required], name) {
			b.errorf(s.Pos, "declare it under properties", "%q is required but not declared", name)
		}
	}
	if rule.Open {
		t.Extra = b.element(s.Additional, in.member("Extra", "one undeclared member of "+t.Name))
		t.ExtraName = fields.unique("Extra")
	}
}

// besides reports whether the comments of all fields are short enough to stand
// on the lines of the fields.
func besides(fields []*Field) bool {
	const short = 50
	for _, f := range fields {
		text := strings.Join(f.Doc.Text, "\n")
		if text != "" && f.Doc.Deprecated != "" || len(text) > short || strings.ContainsAny(text, "\r\n\u2028\u2029") {
			return false
		}
	}
	return true
}

// members lists the members in the order of the rule: the required ones first.
func (b *builder) members(t *Type, rule *wire.ObjectRule) {
	for _, f := range t.Fields {
		if f.Presence == Required {
			rule.Names = append(rule.Names, f.Name)
		}
	}
	rule.Required = len(rule.Names)
	for _, f := range t.Fields {
		if f.Presence == Required {
			continue
		}
		rule.Names = append(rule.Names, f.Name)
		if f.Presence == Defaulted {
			if rule.Defaults == nil {
				rule.Defaults = make([]string, len(t.Fields))
			}
			rule.Defaults[len(rule.Names)-1] = f.Default().JSON()
		}
	}
}

// Default is the value that stands in when the member is absent; nil for none.
func (f *Field) Default() *dsl.Value {
	for s := f.Schema; ; s = s.Target.Schema {
		if s.Default != nil || s.Ref == "" || s.Target == nil {
			return s.Default
		}
	}
}

func (b *builder) field(p *dsl.Property, required bool, fields *scope, in place) *Field {
	f := &Field{Name: p.Name, Doc: fieldDoc(p.Schema), Schema: p.Schema, Presence: Optional}
	goName := dsl.GoName(p.Name)
	at := in.member(goName, fmt.Sprintf("%s is the member %s of %s.", in.name+goName, p.Name, in.name))
	switch {
	case required:
		f.Presence = Required
	case f.Default() != nil:
		f.Presence = Defaulted
	}
	s := p.Schema
	if required && s.Ref == "" && s.Const != nil && s.Const.Kind == dsl.ValueString && s.Type == dsl.TypeString {
		f.Type = &Type{Kind: KindFixed, Schema: s}
		b.refuseMisplaced(KindFixed, s)
		b.addRule(f.Type, at, &Rule{String: b.stringRule(s, at)})
		return f
	}
	if goName == "Walk" || goName == "ReadMember" {
		goName += "Value" // the methods of every generated struct
	}
	f.GoName = b.declare(fields, goName, fmt.Sprintf("property %q", p.Name), p.Pos)
	f.Type = b.lower(s, at)
	return f
}

// tuple completes a struct with a field per element.
func (b *builder) tuple(t *Type, s *dsl.Schema, at place) {
	b.announce(t, s, at)
	n := len(s.PrefixItems)
	for _, bound := range []struct {
		key   string
		value *int
	}{{"minItems", s.MinItems}, {"maxItems", s.MaxItems}} {
		if bound.value != nil && *bound.value != n {
			b.errorf(b.at(s, bound.key), "leave it out", "%s: a tuple of %d elements has exactly %d", bound.key, n, n)
		}
	}
	in := at.inside(t)
	if s.UniqueItems || s.Sensitive {
		b.addRule(t, place{owner: in.owner, rule: in.rule + "Rule"}, &Rule{Array: &wire.ArrayRule{Unique: s.UniqueItems, Sensitive: s.Sensitive}})
	}
	for i, item := range s.PrefixItems {
		name := "V" + strconv.Itoa(i)
		t.Items = append(t.Items, b.lower(item, in.member(name, fmt.Sprintf("%s is element %d of %s.", in.name+name, i, in.name))))
	}
}

// union completes an interface with a variant per branch.
func (b *builder) union(t *Type, s *dsl.Schema, at place) {
	b.announce(t, s, at)
	rule := &wire.UnionRule{Tag: s.Tag, Sensitive: s.Sensitive}
	b.addRule(t, place{owner: at.inside(t).owner, rule: lower(t.Name) + "Rule"}, &Rule{Union: rule})
	for _, branch := range s.OneOf {
		if branch.Ref != "" {
			b.refuseSensitive(branch, "mark the oneOf, or what $ref names, with x-sensitive", "a branch of oneOf beside its $ref")
		}
		object := branch
		for hops := 0; object.Ref != "" && object.Target != nil && hops < 100; hops++ {
			object = object.Target.Schema
		}
		tag, ok := tagValue(object, s.Tag)
		if object.Type != dsl.TypeObject || object.Nullable || !ok {
			b.errorf(branch.Pos, "give every branch a required member with a const of its own, such as kind",
				"this branch of oneOf is no object told apart by the const of %q; other unions cannot be enforced yet", s.Tag)
			continue
		}
		if slices.Contains(rule.Values, tag) {
			b.errorf(branch.Pos, "give each branch its own", "two branches of oneOf have %s: %q", s.Tag, tag)
			continue
		}
		name := at.name + dsl.GoName(tag)
		v := b.lower(branch, place{name: name, rule: lower(name) + "Rule", doc: fmt.Sprintf("%s is the %s with %s %s.", name, t.Name, s.Tag, tag)})
		rule.Values = append(rule.Values, tag)
		t.Variants = append(t.Variants, &Variant{Tag: tag, Type: v})
		b.fixups = append(b.fixups, func() { // the branch may be a copy that is sensitive
			if own := b.types[v.Name]; own != nil && !slices.Contains(own.Implements, t.Name) {
				own.Implements = append(own.Implements, t.Name)
			}
		})
	}
}

// refuseSensitive reports x-sensitive where a walk of the value could not mark
// everything below it.
func (b *builder) refuseSensitive(s *dsl.Schema, hint, what string) {
	if s.Sensitive {
		pos, ok := s.Keys["x-sensitive"]
		if !ok {
			pos = s.Pos
		}
		b.errorf(pos, hint, "%s cannot be sensitive", what)
	}
}

// tagValue is the const string of a required member.
func tagValue(s *dsl.Schema, tag string) (string, bool) {
	for _, p := range s.Properties {
		if p.Name != tag || !slices.Contains(s.Required, tag) {
			continue
		}
		m := p.Schema
		for m.Ref != "" && m.Target != nil && m.Target.Schema != m {
			m = m.Target.Schema
		}
		if m.Const != nil && m.Const.Kind == dsl.ValueString {
			return m.Const.Text, true
		}
	}
	return "", false
}

// enum completes a named string with its constants.
func (b *builder) enum(t *Type, s *dsl.Schema, at place) {
	b.announce(t, s, at)
	b.addRule(t, at, &Rule{String: b.stringRule(s, at)})
	if t.Rule == nil {
		return
	}
	for i, value := range t.Rule.String.Enum {
		name := t.Name + dsl.GoName(value)
		if _, taken := b.scope.taken[name]; taken || name == t.Name {
			name = t.Name + "Value" + strconv.Itoa(i+1)
		}
		b.declare(b.scope, name, fmt.Sprintf("the value %q", value), s.Pos)
		t.Enum = append(t.Enum, &EnumValue{GoName: name, Value: value})
	}
}
