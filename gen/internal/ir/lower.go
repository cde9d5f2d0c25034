package ir

import (
	"slices"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// kind chooses what a schema is in Go. This is the only place that chooses. A schema
// that no Go type expresses is KindRaw, whose rule holds the value against it.
func (b *builder) kind(s *dsl.Schema) Kind {
	switch {
	case s.Ref != "":
		return KindInvalid // what it leads to decides
	case s.Any, s.Checked:
		return KindRaw
	case len(s.OneOf) > 0 && !s.Composed:
		return KindUnion
	}
	switch s.Type {
	case dsl.TypeString:
		if s.Enum != nil {
			return KindEnum
		}
		return KindString
	case dsl.TypeInteger:
		if s.Enum != nil {
			return KindIntEnum
		}
		return KindInt
	case dsl.TypeNumber:
		return KindFloat
	case dsl.TypeBoolean:
		return KindBool
	case dsl.TypeArray:
		if len(s.PrefixItems) > 0 {
			return KindTuple
		}
		return KindArray
	case dsl.TypeObject:
		if len(s.Properties) > 0 || s.Closed {
			return KindStruct
		}
		return KindMap
	}
	b.errorf(s.Pos, "say type: string, integer, number, boolean, array or object",
		"a schema without a type cannot be enforced yet")
	return KindRaw
}

// lower makes the Type of a schema.
func (b *builder) lower(s *dsl.Schema, at site) *Type {
	if s.Ref != "" {
		return b.ref(s, at)
	}
	b.define(s, at)
	if s.OrNull != nil {
		return b.orNull(s, at)
	}
	t := &Type{Kind: b.kind(s), Schema: s}
	if !b.nullable(s) {
		b.fill(t, s, at)
		return t
	}
	null := &Type{Kind: KindNull, Elem: t, Schema: s, base: at.name}
	b.fill(t, s, at)
	return null
}

// orNull makes the Type of a union of a type and null.
func (b *builder) orNull(s *dsl.Schema, at site) *Type {
	t := b.lower(s.OrNull, at)
	if t.Nullable() {
		return t
	}
	return &Type{Kind: KindNull, Elem: t, Schema: s, base: at.name}
}

// nullable reports whether null is a value of s: a const of another value
// rules it out. An enum never does, since dsl keeps null out of Enum.
func (b *builder) nullable(s *dsl.Schema) bool {
	return s.Nullable && (s.Const == nil || s.Const.Kind == dsl.ValueNull)
}

// define names the $defs that stand in a schema after the place they stand in.
func (b *builder) define(s *dsl.Schema, at site) {
	for _, d := range s.Defs {
		if _, ok := b.names[d]; !ok {
			b.names[d] = at.name + dsl.GoName(d.Name)
		}
	}
}

// fill completes t, whose Kind is chosen, from s.
func (b *builder) fill(t *Type, s *dsl.Schema, at site) {
	b.refuseMisplaced(t.Kind, s)
	switch t.Kind {
	case KindString:
		b.addRule(t, at, &Rule{String: b.stringRule(s, at)})
	case KindEnum:
		b.enum(t, s, at)
	case KindIntEnum:
		b.intEnum(t, s, at)
	case KindInt:
		b.addRule(t, at, &Rule{Int: b.intRule(s)})
	case KindFloat:
		b.addRule(t, at, &Rule{Number: b.numberRule(s)})
	case KindBool:
		b.addRule(t, at, &Rule{Bool: b.boolRule(s)})
	case KindRaw:
		b.addRule(t, at, &Rule{Raw: b.rawRule(s, at)})
	case KindArray:
		b.addRule(t, at, &Rule{Array: b.arrayRule(s)})
		b.holds(t, b.element(s.Items, at.member("Item", "one element of "+at.called())))
	case KindMap:
		b.dictionary(t, s, at)
		b.holds(t, b.element(s.Additional, at.member("Value", "one value of "+at.called())))
	case KindTuple:
		b.tuple(t, s, at)
	case KindStruct:
		b.object(t, s, at)
	case KindUnion:
		b.union(t, s, at)
	}
	t.base = at.name
}

// maxUnnamed is how deep arrays and maps are nested in a type without a name in Go.
const maxUnnamed = 256

// holds makes elem the type of the elements of an array or a map.
func (b *builder) holds(t, elem *Type) {
	if t.Elem, t.unnamed = elem, elem.Base().unnamed+1; t.unnamed > maxUnnamed {
		b.errorf(t.Schema.Pos, "put an object in between", "arrays and maps are nested deeper than %d levels without an object", maxUnnamed)
		t.Elem, t.unnamed = &Type{Kind: KindRaw}, 0
	}
}

// element is the Type of a schema that may be missing, which allows any value.
func (b *builder) element(s *dsl.Schema, at site) *Type {
	if s == nil {
		return &Type{Kind: KindRaw}
	}
	return b.lower(s, at)
}

// ref is the Type of a schema that refers to a declared one. A mark of
// sensitivity beside the reference makes a Type with a rule of its own.
func (b *builder) ref(s *dsl.Schema, at site) *Type {
	if s.Target == nil {
		b.errorf(s.Pos, "declare it under types", "%q leads nowhere", s.Ref)
		return &Type{Kind: KindRaw}
	}
	if b.busy[s.Target] {
		b.errorf(s.Pos, "put an object in between", "%q holds itself without an object, which no Go type can express", s.Target.Name)
		return &Type{Kind: KindRaw}
	}
	t := b.resolve(s.Target)
	if !s.Sensitive {
		return t
	}
	own := *t
	b.fixups = append(b.fixups, func() { b.makeSensitive(&own, t, at) })
	return &own
}

// makeSensitive completes the copy of a shared type whose every use is secret here.
func (b *builder) makeSensitive(own, shared *Type, at site) {
	*own = *shared
	if own.Kind == KindNull {
		elem := new(Type)
		b.makeSensitive(elem, shared.Elem, at)
		own.Elem = elem
		return
	}
	r := &Rule{}
	if shared.Rule != nil {
		*r = *shared.Rule
	}
	switch own.Kind {
	case KindString, KindEnum:
		r.String = sensitive(r.String, func(r *wire.StringRule) *bool { return &r.Sensitive })
	case KindInt, KindIntEnum:
		r.Int = sensitive(r.Int, func(r *wire.IntRule) *bool { return &r.Sensitive })
	case KindFloat:
		r.Number = sensitive(r.Number, func(r *wire.NumberRule) *bool { return &r.Sensitive })
	case KindBool:
		r.Bool = sensitive(r.Bool, func(r *wire.BoolRule) *bool { return &r.Sensitive })
	case KindRaw:
		r.Raw = sensitive(r.Raw, func(r *wire.RawRule) *bool { return &r.Sensitive })
	case KindArray, KindTuple:
		r.Array = sensitive(r.Array, func(r *wire.ArrayRule) *bool { return &r.Sensitive })
	case KindStruct, KindMap:
		r.Object = sensitive(r.Object, func(r *wire.ObjectRule) *bool { return &r.Sensitive })
	case KindUnion:
		r.Union = sensitive(r.Union, func(r *wire.UnionRule) *bool { return &r.Sensitive })
	}
	b.addRule(own, at, r)
}

// sensitive is a copy of a rule, or a new one, with its mark set.
func sensitive[R any](rule *R, mark func(*R) *bool) *R {
	own := new(R)
	if rule != nil {
		*own = *rule
	}
	*mark(own) = true
	return own
}

// resolve makes the Type of a declared schema, once.
func (b *builder) resolve(n *dsl.NamedSchema) *Type {
	if t, ok := b.named[n]; ok {
		return t
	}
	name, ok := b.names[n]
	if !ok {
		name = dsl.GoName(n.Name)
	}
	at := site{name: name, rule: lower(name) + "Rule", self: "the type " + n.Name, inner: !slices.Contains(b.file.Types, n)}
	s := n.Schema
	if s.Ref != "" || s.OrNull != nil && s.OrNull.Ref != "" {
		b.busy[n] = true
		t := b.lower(s, at)
		delete(b.busy, n)
		b.named[n] = t
		return t
	}
	b.define(s, at)
	null := b.nullable(s)
	if s.OrNull != nil {
		s, null = s.OrNull, true
	}
	t := &Type{Kind: b.kind(s), Schema: s}
	outer := t
	if null {
		outer = &Type{Kind: KindNull, Elem: t, Schema: s, base: name}
	}
	switch t.Kind {
	case KindStruct, KindTuple, KindUnion, KindEnum, KindIntEnum:
		b.named[n] = outer // has a Go name: it may hold itself
		b.fill(t, s, at)
	default:
		b.busy[n] = true
		b.fill(t, s, at)
		delete(b.busy, n)
		b.named[n] = outer
	}
	return outer
}
