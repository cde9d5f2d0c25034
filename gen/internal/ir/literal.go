package ir

import (
	"fmt"
	"slices"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// checkLiterals judges the values that a declaration holds by the types that
// they are values of: a default or an args that a call would be refused for.
func (b *builder) checkLiterals() {
	for _, t := range b.pkg.Types {
		for _, f := range t.Fields {
			if d := f.Default(); d != nil {
				b.literal(f.Type, d, "the default of "+f.Name)
			}
		}
	}
	for _, t := range b.pkg.Tools {
		if t.Decl.Args != nil {
			b.literal(t.Input, t.Decl.Args, "args")
		}
	}
}

// literal reports why v is no value of t. The structure is compared here, so
// that every fault has its place; package wire judges the scalars.
func (b *builder) literal(t *Type, v *dsl.Value, what string) {
	if t.Kind == KindNull && v.Kind == dsl.ValueNull {
		return
	}
	switch t = t.Base(); t.Kind {
	case KindStruct, KindMap:
		if b.isKind(v, dsl.ValueObject, "object", what) {
			b.objectLiteral(t, v, what)
		}
	case KindArray, KindTuple:
		if b.isKind(v, dsl.ValueArray, "array", what) {
			b.arrayLiteral(t, v, what)
		}
	case KindUnion:
		if t.Rule.Union.Types != 0 {
			b.byTypeLiteral(t, v, what)
		} else if b.isKind(v, dsl.ValueObject, "object", what) {
			b.unionLiteral(t, v, what)
		}
	default:
		b.scalarLiteral(t, v, what)
	}
}

func (b *builder) isKind(v *dsl.Value, kind dsl.ValueKind, want, what string) bool {
	if v.Kind != kind {
		b.errorf(v.Pos, "give such a value, or change the type", "%s: want an %s, have %s", what, want, clip(v.JSON()))
	}
	return v.Kind == kind
}

func (b *builder) objectLiteral(t *Type, v *dsl.Value, what string) {
	rule := t.Rule.Object
	for _, m := range v.Members {
		i := slices.IndexFunc(t.Fields, func(f *Field) bool { return f.Name == m.Name })
		inner := what + ": " + m.Name
		switch {
		case i >= 0:
			b.literal(t.Fields[i].Type, m.Value, inner)
		case t.Kind == KindMap:
			b.literal(t.Elem, m.Value, inner)
		case t.Extra != nil:
			b.literal(t.Extra, m.Value, inner)
		default:
			b.errorf(m.Value.Pos, "remove it or declare it", "%s is no declared member", inner)
		}
	}
	for _, name := range rule.Names[:rule.Required] {
		if !slices.ContainsFunc(v.Members, func(m *dsl.ValueMember) bool { return m.Name == name }) {
			b.errorf(v.Pos, "add it", "%s: the required member %q is missing", what, name)
		}
	}
	b.countLiteral(v, len(v.Members), rule.Has, rule.Min, rule.Max, what, "members")
	if rule.Schema != nil {
		b.wireLiteral(v, what, func(r *wire.Reader) { wire.ReadRaw(r, new(wire.Raw), &wire.RawRule{Schema: rule.Schema}) })
	}
}

func (b *builder) arrayLiteral(t *Type, v *dsl.Value, what string) {
	if t.Kind == KindTuple && len(v.Items) != len(t.Items) {
		b.errorf(v.Pos, "give one element for each of prefixItems", "%s: want %d elements, have %d", what, len(t.Items), len(v.Items))
		return
	}
	for i, item := range v.Items {
		elem := t.Elem
		if t.Kind == KindTuple {
			elem = t.Items[i]
		}
		b.literal(elem, item, fmt.Sprintf("%s: element %d", what, i))
	}
	if t.Rule == nil {
		return
	}
	rule := t.Rule.Array
	b.countLiteral(v, len(v.Items), rule.Has, rule.Min, rule.Max, what, "elements")
	if rule.Unique {
		b.wireLiteral(v, what, func(r *wire.Reader) {
			var any []wire.Raw
			wire.ReadArray(r, &any, &wire.ArrayRule{Unique: true}, wire.ReadRaw, nil)
		})
	}
}

func (b *builder) countLiteral(v *dsl.Value, n int, has wire.Bounds, lo, hi int, what, unit string) {
	if has&wire.Min != 0 && n < lo || has&wire.Max != 0 && n > hi {
		b.errorf(v.Pos, "give another value, or change the bounds", "%s: %d %s are outside the declared bounds", what, n, unit)
	}
}

func (b *builder) unionLiteral(t *Type, v *dsl.Value, what string) {
	tag := t.Rule.Union.Tag
	for _, m := range v.Members {
		for _, variant := range t.Variants {
			if m.Name == tag && m.Value.Kind == dsl.ValueString && m.Value.Text == variant.Tag {
				b.literal(variant.Type, v, what)
				return
			}
		}
	}
	b.errorf(v.Pos, "use one of these, or declare a branch for it", "%s: %s is none of %q", what, tag, t.Rule.Union.Values)
}

// byTypeLiteral judges a value by the variant that has its type.
func (b *builder) byTypeLiteral(t *Type, v *dsl.Value, what string) {
	kinds := map[wire.Types]dsl.ValueKind{wire.TypeString: dsl.ValueString, wire.TypeInteger: dsl.ValueNumber, wire.TypeNumber: dsl.ValueNumber,
		wire.TypeBoolean: dsl.ValueBool, wire.TypeArray: dsl.ValueArray, wire.TypeObject: dsl.ValueObject}
	for _, variant := range t.Variants {
		if kinds[variant.JSON] != v.Kind {
			continue
		}
		of := variant.Type
		if of.Kind == KindBox {
			of = of.Elem
		}
		b.literal(of, v, what)
		return
	}
	b.errorf(v.Pos, "give such a value, or change the schema", "%s: want %s, have %s", what, t.Rule.Union.Types, clip(v.JSON()))
}

func (b *builder) scalarLiteral(t *Type, v *dsl.Value, what string) {
	rule := t.Rule
	if rule == nil {
		rule = &Rule{}
	}
	b.wireLiteral(v, what, func(r *wire.Reader) {
		switch t.Kind {
		case KindString, KindEnum:
			wire.ReadString(r, new(string), rule.String)
		case KindFixed:
			wire.ReadFixed(r, rule.String)
		case KindInt, KindIntEnum:
			wire.ReadInt(r, new(int64), rule.Int)
		case KindFloat:
			wire.ReadFloat(r, new(float64), rule.Number)
		case KindBool:
			wire.ReadBool(r, new(bool), rule.Bool)
		default:
			wire.ReadRaw(r, new(wire.Raw), rule.Raw)
		}
	})
}

// wireLiteral reads the text of v as a call's argument would be read.
func (b *builder) wireLiteral(v *dsl.Value, what string, read func(*wire.Reader)) {
	text := v.JSON()
	limits := wire.DefaultLimits()
	limits.Size = max(limits.Size, len(text)) // the file is small enough, and it is the user's own
	var r wire.Reader
	r.Reset([]byte(text), limits)
	read(&r)
	for _, bad := range r.Finish() {
		b.errorf(v.Pos, "give a value that its own schema allows, or change the schema", "%s: %s: want %s, have %s", what, bad.Keyword, bad.Expected, bad.Actual)
	}
}

// clip keeps a value short enough for a message.
func clip(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "..."
	}
	return s
}
