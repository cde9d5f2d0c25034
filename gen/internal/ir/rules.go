package ir

import (
	"strings"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A keyword is one that constrains values, and the kinds it can be enforced on.
type keyword struct {
	name  string
	set   bool
	kinds []Kind
}

// refuseMisplaced reports every keyword of s that would not be enforced.
func (b *builder) refuseMisplaced(kind Kind, s *dsl.Schema) {
	text := []Kind{KindString, KindEnum, KindFixed}
	number := []Kind{KindInt, KindIntEnum, KindFloat}
	array := []Kind{KindArray, KindTuple}
	object := []Kind{KindStruct, KindMap}
	scalar := []Kind{KindString, KindEnum, KindFixed, KindInt, KindIntEnum, KindFloat, KindBool}
	for _, k := range []keyword{
		{"minimum", s.Minimum != "", number},
		{"maximum", s.Maximum != "", number},
		{"exclusiveMinimum", s.ExclusiveMinimum != "", number},
		{"exclusiveMaximum", s.ExclusiveMaximum != "", number},
		{"multipleOf", s.MultipleOf != "", number},
		{"minLength", s.MinLength != nil, text},
		{"maxLength", s.MaxLength != nil, text},
		{"pattern", s.Pattern != "", text},
		{"format", s.Format != "", text},
		{"minItems", s.MinItems != nil, array},
		{"maxItems", s.MaxItems != nil, array},
		{"uniqueItems", s.UniqueItems, array},
		{"minProperties", s.MinProperties != nil, object},
		{"maxProperties", s.MaxProperties != nil, object},
		{"enum", s.Enum != nil && !s.Composed, scalar},
		{"const", s.Const != nil && !s.Composed, scalar},
	} {
		if k.set && !containsKind(k.kinds, kind) {
			b.errorf(b.at(s, k.name), "leave it out", "%s cannot be enforced on %s", k.name, describe(s))
		}
	}
}

func containsKind(kinds []Kind, kind Kind) bool {
	for _, k := range kinds {
		if k == kind {
			return true
		}
	}
	return false
}

func (b *builder) stringRule(s *dsl.Schema, at site) *wire.StringRule {
	r := &wire.StringRule{Sensitive: s.Sensitive}
	r.Has, r.Min, r.Max = b.counts(s, "Length", s.MinLength, s.MaxLength)
	if s.Pattern != "" {
		r.Pattern = b.pattern(s, at)
	}
	if s.Format != "" {
		format, ok := wire.ParseFormat(s.Format)
		if !ok {
			b.errorf(b.at(s, "format"), "use one of date-time, date, time, duration, uuid, ipv4, ipv6, uri, email, hostname",
				"format %q cannot be enforced yet", s.Format)
		}
		r.Format = format
	}
	for _, v := range b.allowed(s, dsl.ValueString) {
		r.Enum = append(r.Enum, v.Text)
	}
	r.Const = s.Const != nil
	if r.Has == 0 && r.Pattern == nil && r.Format == 0 && r.Enum == nil && !r.Sensitive {
		return nil
	}
	return r
}

// pattern compiles a pattern, once for all schemas that have it.
func (b *builder) pattern(s *dsl.Schema, at site) *wire.Pattern {
	if p, ok := b.patterns[s.Pattern]; ok {
		return p.Pattern
	}
	compiled, err := wire.CompilePattern(s.Pattern)
	if err != nil {
		fault, hint := PatternFault(s.Pattern)
		b.errorf(b.at(s, "pattern"), hint, "%s", fault)
		return nil
	}
	compiled.Source = s.Pattern
	p := &Pattern{Source: s.Pattern, Pattern: compiled, Var: b.scope.unique("pattern" + strings.TrimSuffix(at.name, "Rule"))}
	b.patterns[s.Pattern] = p
	b.pkg.Patterns = append(b.pkg.Patterns, p)
	return compiled
}

// allowed lists the values of enum and const that are of the right kind. The
// null of a nullable schema is no value of the rule; any other is an error.
func (b *builder) allowed(s *dsl.Schema, kind dsl.ValueKind) []*dsl.Value {
	var values []*dsl.Value
	add := func(key string, v *dsl.Value) {
		switch {
		case v.Kind == kind:
			values = append(values, v)
		case v.Kind == dsl.ValueNull && s.Nullable:
		default:
			pos := v.Pos
			if pos.Line == 0 {
				pos = b.at(s, key)
			}
			b.errorf(pos, "remove it or change the type", "%s: %s is no %s, so that it could never occur", key, v.JSON(), s.Type)
		}
	}
	if s.Const != nil {
		add("const", s.Const)
		for _, v := range s.Enum {
			if v.JSON() == s.Const.JSON() {
				return values
			}
		}
		if s.Enum != nil {
			b.errorf(b.at(s, "const"), "leave enum out", "const is none of the values of enum: no value fits")
		}
		return values
	}
	for _, v := range s.Enum {
		add("enum", v)
	}
	if s.Enum != nil && values == nil {
		b.errorf(b.at(s, "enum"), "list at least one value", "enum allows no %s", s.Type)
	}
	return values
}

func (b *builder) boolRule(s *dsl.Schema) *wire.BoolRule {
	r := &wire.BoolRule{Sensitive: s.Sensitive, Const: s.Const != nil}
	for _, v := range b.allowed(s, dsl.ValueBool) {
		r.Enum = append(r.Enum, v.Bool)
	}
	if r.Enum == nil && !r.Sensitive {
		return nil
	}
	return r
}

// rawRule keeps SEMANTICS 7.6.
func (b *builder) rawRule(s *dsl.Schema, at site) *wire.RawRule {
	r := &wire.RawRule{Sensitive: s.Sensitive}
	if s.Checked {
		table, sensitive := b.table(s, at)
		r.Schema = table
		r.Sensitive = r.Sensitive || sensitive
	}
	if *r == (wire.RawRule{}) {
		return nil
	}
	return r
}

func (b *builder) arrayRule(s *dsl.Schema) *wire.ArrayRule {
	r := &wire.ArrayRule{Unique: s.UniqueItems, Sensitive: s.Sensitive}
	r.Has, r.Min, r.Max = b.counts(s, "Items", s.MinItems, s.MaxItems)
	if *r == (wire.ArrayRule{}) {
		return nil
	}
	return r
}

// mapRule is never nil: the rule says that the members are undeclared (SEMANTICS 5.9).
func (b *builder) mapRule(s *dsl.Schema) *wire.ObjectRule {
	r := &wire.ObjectRule{Open: true, Sensitive: s.Sensitive || hidesNames(s)}
	r.Has, r.Min, r.Max = b.counts(s, "Properties", s.MinProperties, s.MaxProperties)
	return r
}

// hidesNames reports whether the undeclared members of an object are sensitive. Who
// puts a secret there may well put one into its name, so the object is sensitive as
// one value, declared members included.
func hidesNames(s *dsl.Schema) bool {
	seen := map[*dsl.NamedSchema]bool{}
	for m := s.Additional; m != nil; m = m.Target.Schema {
		if m.Sensitive {
			return true
		}
		if m.Ref == "" || m.Target == nil || seen[m.Target] {
			return false
		}
		seen[m.Target] = true
	}
	return false
}

// counts are the bounds of a length or a count. A lower one of 0 says nothing.
func (b *builder) counts(s *dsl.Schema, what string, lowest, highest *int) (has wire.Bounds, lo, hi int) {
	for _, bound := range []struct {
		key   string
		value *int
	}{{"min" + what, lowest}, {"max" + what, highest}} {
		if bound.value != nil && *bound.value < 0 {
			b.errorf(b.at(s, bound.key), "use 0 or more", "%s is %d", bound.key, *bound.value)
		}
	}
	if lowest != nil && *lowest > 0 {
		has, lo = has|wire.Min, *lowest
	}
	if highest != nil {
		has, hi = has|wire.Max, *highest
		if lo > hi {
			b.errorf(b.at(s, "max"+what), "make it at least as large", "max%s is less than min%s: no value fits", what, what)
		}
	}
	return has, lo, hi
}
