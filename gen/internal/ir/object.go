package ir

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// maxProperties is how many members package wire can keep apart in one object.
const maxProperties = 256

// root is the struct of an input, an output or an undo state.
func (b *builder) root(s *dsl.Schema, name, doc string, d *dsl.Tool) *Type {
	if s == nil {
		s = &dsl.Schema{Pos: d.Pos, Type: dsl.TypeObject, Closed: true}
	}
	at := site{name: name, rule: lower(name) + "Rule", doc: doc}
	b.define(s, at)
	b.refuseSensitive(s, "mark its members with x-sensitive", name+" as a whole")
	b.refuseHidden(s, name)
	seen := map[*dsl.NamedSchema]bool{}
	for s.Ref != "" && s.Target != nil && !seen[s.Target] {
		seen[s.Target] = true
		b.refuseHidden(s.Target.Schema, name)
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
func (b *builder) object(t *Type, s *dsl.Schema, at site) {
	b.announce(t, s, at)
	if len(s.Properties) > maxProperties {
		b.errorf(s.Pos, "split it into nested objects", "an object with %d properties: at most %d can be enforced", len(s.Properties), maxProperties)
		return
	}
	rule := &wire.ObjectRule{Open: !s.Closed, Sensitive: s.Sensitive || hidesNames(s)}
	rule.Has, rule.Min, rule.Max = b.counts(s, "Properties", s.MinProperties, s.MaxProperties)
	in := at.inside(t)
	b.addRule(t, site{owner: in.owner, rule: in.rule + "Rule"}, &Rule{Object: rule})

	names, extra := fieldNames(s)
	for i, p := range s.Properties {
		t.Fields = append(t.Fields, b.field(p, slices.Contains(s.Required, p.Name), names[i], in))
	}
	t.Beside = besides(t.Fields)
	b.members(t, rule)
	if s.Composed {
		b.compose(t, s, rule, in)
	}
	for _, name := range s.Required {
		if !s.Composed && !slices.Contains(rule.Names[:rule.Required], name) {
			b.errorf(s.Pos, "declare it under properties", "%q is required but not declared", name)
		}
	}
	if rule.Open && t.Extra == nil {
		t.Extra = b.element(s.Additional, in.member("Extra", "one undeclared member of "+in.called()))
	}
	if t.Extra != nil {
		t.ExtraName = extra
	}
}

// dictionary completes a map, of which the schema may say which members it has.
func (b *builder) dictionary(t *Type, s *dsl.Schema, at site) {
	rule := b.mapRule(s)
	b.addRule(t, at, &Rule{Object: rule})
	if s.Composed {
		b.compose(t, s, rule, at)
	}
}

// compose adds what the schema says of the object besides its members. Where it may have
// members of which the type knows nothing, they stay JSON.
func (b *builder) compose(t *Type, s *dsl.Schema, rule *wire.ObjectRule, at site) {
	table, sensitive := b.table(s, at)
	if sensitive {
		b.errorf(s.Pos, "mark the member under properties", "a part of the schema is x-sensitive, which a type in Go cannot say")
	}
	table.Hidden = b.holdsSecrets(s)
	rule.Schema = table
	t.Rule.Patterns = b.patternsOf(table)
	if opens(s) {
		rule.Open, t.Extra = true, &Type{Kind: KindRaw}
	}
}

// holdsSecrets reports whether a member of an object is sensitive, or something inside it
// that the declaration shows.
func (b *builder) holdsSecrets(s *dsl.Schema) bool {
	seen := map[*dsl.Schema]bool{}
	var holds func(s *dsl.Schema) bool
	holds = func(s *dsl.Schema) bool {
		if s == nil || seen[s] {
			return false
		}
		seen[s] = true
		parts := append(append([]*dsl.Schema{s.Items, s.Additional, s.OrNull}, s.PrefixItems...), s.OneOf...)
		if s.Target != nil {
			parts = append(parts, s.Target.Schema)
		}
		for _, p := range s.Properties {
			parts = append(parts, p.Schema)
		}
		return s.Sensitive || slices.ContainsFunc(parts, holds)
	}
	return holds(s)
}

// besides reports whether the comments of all fields are short enough to stand
// on the lines of the fields, which are aligned.
func besides(fields []*Field) bool {
	const short, line = 50, 130
	name, typ, comment := 0, 0, 0
	for _, f := range fields {
		text := strings.Join(f.Doc.Text, "\n")
		if text != "" && f.Doc.Deprecated != "" || len(text) > short || strings.ContainsAny(text, "\r\n\u2028\u2029") {
			return false
		}
		name, typ, comment = max(name, len(f.GoName)), max(typ, f.width()), max(comment, len(text))
	}
	return name+typ+comment <= line
}

// width is about how many columns the Go type of a field takes.
func (f *Field) width() int {
	const opt = len("wire.Opt[]")
	n := opt
	for t := f.Type; ; t = t.Elem {
		switch t.Kind {
		case KindArray, KindMap, KindNull, KindPointer:
			n += len("map[string]") // the longest of what they add, nearly
		default:
			return n + max(len(t.Name), len("float64"))
		}
	}
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
			rule.Defaults = append(rule.Defaults, wire.Default{Name: f.Name, JSON: f.Default().JSON()})
		}
	}
}

func (b *builder) field(p *dsl.Property, required bool, name string, in site) *Field {
	f := &Field{Name: p.Name, Doc: fieldDoc(p.Schema), Schema: p.Schema, Presence: Optional}
	switch {
	case required:
		f.Presence = Required
	case f.Default() != nil:
		f.Presence = Defaulted
	}
	s := p.Schema
	called := "the member " + p.Name + " of " + in.called()
	if required && s.Ref == "" && s.Const != nil && s.Const.Kind == dsl.ValueString && s.Type == dsl.TypeString {
		f.Type = &Type{Kind: KindFixed, Schema: s}
		at := in.member(dsl.GoName(p.Name), called)
		b.refuseMisplaced(KindFixed, s)
		b.addRule(f.Type, at, &Rule{String: b.stringRule(s, at)})
		return f
	}
	f.GoName = name
	f.Type = b.lower(s, in.member(f.GoName, called))
	if required {
		b.fixups = append(b.fixups, func() { b.refuseRequired(p, f.Type) })
	}
	return f
}

// refuseRequired reports a member that has to be there and that no value fits.
func (b *builder) refuseRequired(p *dsl.Property, t *Type) {
	if t.Kind != KindRaw || t.Rule == nil {
		return
	}
	if why := b.nevers[t.Rule.Schema()]; why != nil && why.outright {
		b.errorf(p.Pos, "let a value of the member fit, or do not require it", "no value fits: %q is required here, and %s in line %d", p.Name, why.here, why.line)
	}
}

// fieldNames names the fields of a struct: those of the members, and the one that holds members that are
// not declared, if there are any.
func fieldNames(s *dsl.Schema) (members []string, extra string) {
	var all []spelled
	for _, p := range s.Properties {
		all = append(all, spelledMember(p.Name))
	}
	all = append(all, spelled{plain: "Extra", others: []string{"Extra2", "ExtraMembers", "UndeclaredMembers"}})
	if s.Closed && !opens(s) {
		return distinguish(all[:len(s.Properties)]), ""
	}
	names := distinguish(all)
	return names[:len(s.Properties)], names[len(s.Properties)]
}

// opens reports whether another keyword than additionalProperties lets an object have members that are not declared.
func opens(s *dsl.Schema) bool {
	return s.Composed && (get(s.Source, "patternProperties") != nil || get(s.Source, "unevaluatedProperties") != nil)
}

// spelledMember is what the field of a member may be called. A struct has methods Walk and ReadMember.
func spelledMember(name string) spelled {
	field := func(name string) string {
		if name == "Walk" || name == "ReadMember" {
			return name + "Value"
		}
		if !unicode.IsUpper([]rune(name)[0]) {
			return "X" + name
		}
		return name
	}
	s := spelled{name: name, plain: field(dsl.GoName(name))}
	for _, other := range valueNames(name) {
		s.others = append(s.others, field(other))
	}
	return s
}

// tuple completes a struct with a field per element.
func (b *builder) tuple(t *Type, s *dsl.Schema, at site) {
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
		b.addRule(t, site{owner: in.owner, rule: in.rule + "Rule"}, &Rule{Array: &wire.ArrayRule{Unique: s.UniqueItems, Sensitive: s.Sensitive}})
	}
	for i, item := range s.PrefixItems {
		name := "V" + strconv.Itoa(i)
		t.Items = append(t.Items, b.lower(item, in.member(name, fmt.Sprintf("element %d of %s", i, in.called()))))
	}
}

// union completes an interface with a variant per branch.
func (b *builder) union(t *Type, s *dsl.Schema, at site) {
	if s.ByType {
		b.unionByType(t, s, at)
		return
	}
	b.announce(t, s, at)
	rule := &wire.UnionRule{Tag: s.Tag, Sensitive: s.Sensitive}
	b.addRule(t, site{owner: at.inside(t).owner, rule: lower(t.Name) + "Rule"}, &Rule{Union: rule})
	names := variantNames(s)
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
		name := at.name + cmp.Or(names[tag], dsl.GoName(tag))
		v := b.lower(branch, site{name: name, inner: true, rule: lower(name) + "Rule", doc: fmt.Sprintf("the %s whose %s is %s", t.Name, s.Tag, tag)})
		rule.Values = append(rule.Values, tag)
		t.Variants = append(t.Variants, &Variant{Tag: tag, Type: v})
		b.fixups = append(b.fixups, func() { // the branch may be a copy that is sensitive
			if own := b.types[v.Name]; own != nil && !slices.Contains(own.Implements, t.Name) {
				own.Implements = append(own.Implements, t.Name)
			}
		})
	}
}

// variantNames are what the types of the branches are called after the union, by their tags. A branch that is a
// reference has the name of what it refers to.
func variantNames(s *dsl.Schema) map[string]string {
	var all []spelled
	for _, branch := range s.OneOf {
		if tag, ok := tagValue(branch, s.Tag); ok {
			v := spelledValue(tag)
			v.plain = dsl.GoName(tag)
			all = append(all, v)
		}
	}
	names := map[string]string{}
	for i, name := range distinguish(all) {
		names[all[i].name] = name
	}
	return names
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

// refuseHidden reports sensitive undeclared members of an object that cannot be
// sensitive as a whole.
func (b *builder) refuseHidden(s *dsl.Schema, what string) {
	if hidesNames(s) {
		b.errorf(s.Additional.Pos, "declare a member of type object with x-sensitive for them", "undeclared members of %s cannot be sensitive, since their names would be shown", what)
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
