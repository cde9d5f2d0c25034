package dynamic

import (
	"github.com/ambit-tools/ambit/gen/internal/ir"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A Type decodes the values of one schema.
type Type struct {
	t *ir.Type // KindStruct
}

// Decode reads a text strictly, as generated code would. The value is nil when
// there are violations.
func (t *Type) Decode(b []byte, l wire.Limits) (wire.Value, []wire.Violation) {
	var r wire.Reader
	r.Reset(b, l)
	v := new(value)
	read(&r, v, t.t)
	if bad := r.Finish(); bad != nil {
		return nil, bad
	}
	return v, nil
}

// A value is what generated code has a Go type for. Which of its fields are
// used depends on the kind of its type.
type value struct {
	t    *ir.Type
	set  bool // it is a member, and present
	text string
	int  int64
	num  float64
	bool bool
	raw  wire.Raw

	items []value          // the members of a struct as declared; the elements of a tuple or array
	named map[string]value // the undeclared members of a struct; those of a map
	inner *value           // of a null (nil: null itself), a pointer, a union
}

// check is the rule of a type; its pointers are nil where there is none.
func check(t *ir.Type) ir.Rule {
	if t.Rule == nil {
		return ir.Rule{}
	}
	return *t.Rule
}

// read reads a value of type t, as the function does that generated code calls there.
func read(r *wire.Reader, v *value, t *ir.Type) {
	v.t = t
	rule := check(t)
	switch t.Kind {
	case ir.KindString, ir.KindEnum:
		wire.ReadString(r, &v.text, rule.String)
	case ir.KindFixed:
		wire.ReadFixed(r, rule.String)
	case ir.KindInt, ir.KindIntEnum:
		wire.ReadInt(r, &v.int, rule.Int)
	case ir.KindFloat:
		wire.ReadFloat(r, &v.num, rule.Number)
	case ir.KindBool:
		wire.ReadBool(r, &v.bool, rule.Bool)
	case ir.KindRaw:
		wire.ReadRaw(r, &v.raw, rule.Raw)
	case ir.KindStruct:
		v.items = make([]value, len(t.Fields))
		wire.ReadObject(r, v, rule.Object)
	case ir.KindTuple:
		v.items = make([]value, len(t.Items))
		wire.ReadTuple(r, v, rule.Array, len(t.Items))
	case ir.KindArray:
		wire.ReadArray(r, &v.items, rule.Array, read, t.Elem)
	case ir.KindMap:
		wire.ReadMap(r, &v.named, rule.Object, read, t.Elem)
	case ir.KindNull:
		var null wire.Null[value]
		wire.ReadNull(r, &null, read, t.Elem)
		if null.Valid {
			v.inner = &null.V
		}
	case ir.KindPointer:
		wire.ReadPointer(r, &v.inner, read, t.Elem)
	case ir.KindUnion:
		if rule.Union.Types != 0 {
			readByType(r, v, t)
			return
		}
		tag := wire.ReadTag(r, rule.Union)
		for _, variant := range t.Variants {
			if variant.Tag == tag {
				wire.ReadPointer(r, &v.inner, read, variant.Type)
			}
		}
	}
}

// readByType reads a union whose variants have a type of JSON each.
func readByType(r *wire.Reader, v *value, t *ir.Type) {
	kind := wire.ReadType(r, check(t).Union)
	for _, variant := range t.Variants {
		if variant.JSON != kind {
			continue
		}
		of := variant.Type
		if of.Kind == ir.KindBox {
			of = of.Elem
		}
		v.inner = new(value)
		read(r, v.inner, of)
	}
}

// ReadMember reads one member of a struct.
func (v *value) ReadMember(r *wire.Reader, name string) {
	for i, f := range v.t.Fields {
		if f.Name == name {
			v.items[i].set = true
			read(r, &v.items[i], f.Type)
			return
		}
	}
	if v.t.Extra != nil {
		wire.ReadExtra(r, &v.named, name, read, v.t.Extra)
	}
}

// ReadItem reads one element of a tuple.
func (v *value) ReadItem(r *wire.Reader, i int) { read(r, &v.items[i], v.t.Items[i]) }

// walk visits a value of type t, as the function does that generated code calls there.
func walk(w wire.Visitor, v *value, t *ir.Type) {
	rule := check(t)
	switch t.Kind {
	case ir.KindString, ir.KindEnum:
		wire.WalkString(w, &v.text, rule.String)
	case ir.KindInt, ir.KindIntEnum:
		wire.WalkInt(w, &v.int, rule.Int)
	case ir.KindFloat:
		wire.WalkFloat(w, &v.num, rule.Number)
	case ir.KindBool:
		wire.WalkBool(w, &v.bool, rule.Bool)
	case ir.KindRaw:
		wire.WalkRaw(w, &v.raw, rule.Raw)
	case ir.KindStruct:
		wire.WalkObject(w, v, rule.Object)
	case ir.KindTuple:
		wire.WalkTuple(w, v, rule.Array)
	case ir.KindArray:
		wire.WalkArray(w, &v.items, rule.Array, walk, t.Elem)
	case ir.KindMap:
		wire.WalkMap(w, &v.named, rule.Object, walk, t.Elem)
	case ir.KindNull:
		if v.inner == nil {
			w.Visit(wire.Token{Kind: wire.KindNull})
			return
		}
		walk(w, v.inner, t.Elem)
	case ir.KindPointer:
		wire.WalkPointer(w, &v.inner, walk, t.Elem)
	case ir.KindUnion:
		wire.WalkUnion(w, &v.inner, rule.Union)
	}
}

// Walk visits the members of a struct in declaration order, the elements of a tuple, or a
// variant that is neither.
func (v *value) Walk(w wire.Visitor) {
	switch v.t.Kind {
	case ir.KindStruct:
	case ir.KindTuple:
		wire.BeginArray(w, len(v.items), check(v.t).Array)
		for i := range v.items {
			walk(w, &v.items[i], v.t.Items[i])
		}
		wire.End(w)
		return
	default: // a variant of a union
		walk(w, v, v.t)
		return
	}
	wire.BeginObject(w, check(v.t).Object)
	for i, f := range v.t.Fields {
		switch {
		case f.Type.Kind == ir.KindFixed:
			wire.FixedMember(w, f.Name, f.Type.Rule.String)
		case f.Presence != ir.Optional || v.items[i].set:
			wire.Member(w, f.Name, &v.items[i], walk, f.Type)
		}
	}
	if v.t.Extra != nil {
		wire.ExtraMembers(w, v.named, walk, v.t.Extra)
	}
	wire.End(w)
}
