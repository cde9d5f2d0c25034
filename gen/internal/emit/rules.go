package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/ambit-tools/ambit/gen/internal/ir"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// ruleRef is the address of a rule table, or nil.
func ruleRef(r *ir.Rule) *jen.Statement {
	if r == nil {
		return jen.Nil()
	}
	return address(id(r.Var))
}

// ruleType is the type of the rule tables of a kind.
func ruleType(k ir.Kind) *jen.Statement {
	switch k {
	case ir.KindInt, ir.KindIntEnum:
		return fromWire("IntRule")
	case ir.KindFloat:
		return fromWire("NumberRule")
	case ir.KindBool:
		return fromWire("BoolRule")
	case ir.KindRaw:
		return fromWire("RawRule")
	case ir.KindArray, ir.KindTuple:
		return fromWire("ArrayRule")
	case ir.KindStruct, ir.KindMap:
		return fromWire("ObjectRule")
	case ir.KindUnion:
		return fromWire("UnionRule")
	}
	return fromWire("StringRule")
}

// ruleBlock prints rule tables:
//
//	var (
//		fileReadInputRule  = wire.ObjectRule{Names: []string{"path", "limit"}, Required: 1}
//		fileReadInputLimit = wire.IntRule{Has: wire.Min | wire.Max, Min: 1, Max: 10000}
//	)
func ruleBlock(g *jen.Group, rules []*ir.Rule) {
	switch len(rules) {
	case 0:
		return
	case 1:
		g.Var().Add(id(rules[0].Var)).Op("=").Add(ruleValue(rules[0]))
	default:
		g.Var().DefsFunc(func(g *jen.Group) {
			for _, r := range rules {
				g.Add(id(r.Var)).Op("=").Add(ruleValue(r))
			}
		})
	}
	g.Line()
}

// A table is a composite literal of a rule whose zero fields are left out.
type table []jen.Code

func (t *table) add(ok bool, name string, value jen.Code) {
	if ok {
		*t = append(*t, keyed(name, value))
	}
}

func (t *table) flag(ok bool, name string) { t.add(ok, name, jen.True()) }

func ruleValue(r *ir.Rule) *jen.Statement {
	var t table
	switch {
	case r.String != nil:
		stringTable(&t, r)
		return fromWire("StringRule").Add(inline(t))
	case r.Int != nil:
		v := r.Int
		bounds(&t, v.Has, jen.Lit(int(v.Min)), jen.Lit(int(v.Max)))
		t.add(v.MultipleOf != 0, "MultipleOf", jen.Lit(int(v.MultipleOf)))
		t.add(v.Enum != nil, "Enum", jen.Index().Int64().Add(list(v.Enum, func(n int64) jen.Code { return jen.Lit(int(n)) })))
		t.flag(v.Const, "Const")
		t.flag(v.Sensitive, "Sensitive")
		return fromWire("IntRule").Add(inline(t))
	case r.Number != nil:
		v := r.Number
		bounds(&t, v.Has, jen.Lit(v.Min), jen.Lit(v.Max))
		t.add(v.MinText != "", "MinText", text(v.MinText))
		t.add(v.MaxText != "", "MaxText", text(v.MaxText))
		t.add(v.MultipleOf != "", "MultipleOf", text(v.MultipleOf))
		t.add(v.Enum != nil, "Enum", jen.Index().Float64().Add(list(v.Enum, func(n float64) jen.Code { return jen.Lit(n) })))
		t.flag(v.Const, "Const")
		t.flag(v.Sensitive, "Sensitive")
		return fromWire("NumberRule").Add(inline(t))
	case r.Bool != nil:
		t.add(r.Bool.Enum != nil, "Enum", jen.Index().Bool().Add(list(r.Bool.Enum, func(v bool) jen.Code { return jen.Lit(v) })))
		t.flag(r.Bool.Const, "Const")
		t.flag(r.Bool.Sensitive, "Sensitive")
		return fromWire("BoolRule").Add(inline(t))
	}
	return structureValue(r)
}

// structureValue is the rule of something that holds other values.
func structureValue(r *ir.Rule) *jen.Statement {
	var t table
	switch {
	case r.Raw != nil:
		t.flag(r.Raw.Sensitive, "Sensitive")
		if r.Raw.Schema != nil {
			t.add(true, "Schema", schemaTable(r))
		}
		return fromWire("RawRule").Add(inline(t))
	case r.Array != nil:
		bounds(&t, r.Array.Has, jen.Lit(r.Array.Min), jen.Lit(r.Array.Max))
		t.flag(r.Array.Unique, "Unique")
		t.flag(r.Array.Sensitive, "Sensitive")
		return fromWire("ArrayRule").Add(inline(t))
	case r.Union != nil:
		t.add(r.Union.Types == 0, "Tag", text(r.Union.Tag))
		t.add(r.Union.Types == 0, "Values", texts(r.Union.Values))
		t.add(r.Union.Types != 0, "Types", typeSet(r.Union.Types))
		t.flag(r.Union.Sensitive, "Sensitive")
		return fromWire("UnionRule").Add(inline(t))
	}
	v := r.Object
	t.add(v.Names != nil, "Names", texts(v.Names))
	t.add(v.Required != 0, "Required", jen.Lit(v.Required))
	t.add(v.Defaults != nil, "Defaults", jen.Index().Add(fromWire("Default")).Add(list(v.Defaults, func(d wire.Default) jen.Code {
		return jen.Values(keyed("Name", text(d.Name)), keyed("JSON", text(d.JSON)))
	})))
	t.flag(v.Open, "Open")
	bounds(&t, v.Has, jen.Lit(v.Min), jen.Lit(v.Max))
	t.flag(v.Sensitive, "Sensitive")
	if v.Schema != nil {
		t.add(true, "Schema", schemaTable(r))
	}
	return fromWire("ObjectRule").Add(inline(t))
}

func stringTable(t *table, r *ir.Rule) {
	v := r.String
	bounds(t, v.Has, jen.Lit(v.Min), jen.Lit(v.Max))
	if r.Pattern != nil {
		t.add(true, "Pattern", address(id(r.Pattern.Var)))
	}
	t.add(v.Format != 0, "Format", fromWire(formatName(v.Format)))
	t.add(v.Enum != nil, "Enum", texts(v.Enum))
	t.flag(v.Const, "Const")
	t.flag(v.Sensitive, "Sensitive")
}

// bounds are the fields Has, Min and Max.
func bounds(t *table, has wire.Bounds, lo, hi jen.Code) {
	flags := jen.Null()
	for _, b := range []struct {
		bit  wire.Bounds
		name string
	}{{wire.Min, "Min"}, {wire.Max, "Max"}, {wire.ExclusiveMin, "ExclusiveMin"}, {wire.ExclusiveMax, "ExclusiveMax"}} {
		if has&b.bit == 0 {
			continue
		}
		if has&(b.bit-1) != 0 {
			flags.Op("|")
		}
		flags.Add(fromWire(b.name))
	}
	t.add(has != 0, "Has", flags)
	t.add(has&wire.Min != 0, "Min", lo)
	t.add(has&wire.Max != 0, "Max", hi)
}

func list[T any](values []T, lit func(T) jen.Code) *jen.Statement {
	elems := make([]jen.Code, len(values))
	for i, v := range values {
		elems[i] = lit(v)
	}
	return inline(elems)
}

// formatName is the constant of a format.
func formatName(f wire.Format) string {
	return map[wire.Format]string{
		wire.FormatDateTime: "FormatDateTime", wire.FormatDate: "FormatDate", wire.FormatTime: "FormatTime",
		wire.FormatDuration: "FormatDuration", wire.FormatUUID: "FormatUUID", wire.FormatIPv4: "FormatIPv4",
		wire.FormatIPv6: "FormatIPv6", wire.FormatURI: "FormatURI", wire.FormatEmail: "FormatEmail",
		wire.FormatHostname: "FormatHostname",
	}[f]
}

// patterns prints compiled patterns as static data:
//
//	// The patterns of the strings below.
//	var patternPath = wire.Pattern{
//		Source: "^[a-z]+$",
//		Spans:  []wire.Span{{Class: [2]uint64{0x0, 0x7fffffe00000000}, Min: 1, Max: -1}},
//	}
func patterns(g *jen.Group, all []*ir.Pattern) {
	for _, p := range all {
		elems := []jen.Code{keyed("Source", text(p.Source))}
		if p.Pattern.RE2 != "" {
			elems = append(elems, keyed("RE2", text(p.Pattern.RE2)))
		}
		if p.Pattern.Looks != nil {
			elems = append(elems, keyed("Looks", looks(p.Pattern.Looks)))
		}
		if p.Pattern.Spans != nil {
			elems = append(elems, keyed("Spans", jen.Index().Add(fromWire("Span")).Add(list(p.Pattern.Spans, span))))
		}
		g.Var().Add(id(p.Var)).Op("=").Add(fromWire("Pattern")).Add(lines(elems))
		g.Line()
	}
}

// looks prints look-around.
func looks(all []wire.Look) *jen.Statement {
	return jen.Index().Add(fromWire("Look")).Add(list(all, func(l wire.Look) jen.Code {
		elems := []jen.Code{keyed("RE2", text(l.RE2))}
		if l.Looks != nil {
			elems = append(elems, keyed("Looks", looks(l.Looks)))
		}
		if l.Behind {
			elems = append(elems, keyed("Behind", jen.True()))
		}
		if l.Not {
			elems = append(elems, keyed("Not", jen.True()))
		}
		return jen.Values(elems...)
	}))
}

func span(s wire.Span) jen.Code {
	return jen.Values(
		keyed("Class", jen.Index(jen.Lit(2)).Uint64().Values(hex(s.Class[0]), hex(s.Class[1]))),
		keyed("Min", jen.Lit(s.Min)),
		keyed("Max", jen.Lit(s.Max)),
	)
}
