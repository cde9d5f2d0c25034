package emit

import (
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/ambit-tools/ambit/gen/internal/ir"
)

// walkObject prints the walk of a struct:
//
//	// Walk visits v in declaration order.
//	func (v *FileReadInput) Walk(w wire.Visitor) {
//		wire.BeginObject(w, &fileReadInputRule)
//		wire.StringMember(w, "path", &v.Path, &fileReadInputPath)
//		wire.OptIntMember(w, "limit", &v.Limit, &fileReadInputLimit)
//		wire.End(w)
//	}
func walkObject(g *jen.Group, t *ir.Type) {
	docLine(g, "Walk visits v in declaration order.")
	g.Func().Params(receiver(t)).Id("Walk").Params(jen.Id("w").Add(fromWire("Visitor"))).BlockFunc(func(g *jen.Group) {
		w := jen.Id("w")
		g.Add(fromWire("BeginObject")).Call(w, ruleRef(t.Rule))
		for _, f := range t.Fields {
			g.Add(walkMember(f))
		}
		if t.Extra != nil {
			g.Add(fromWire("ExtraMembers")).Call(w, field("v", t.ExtraName), walkFunc(t.Extra), ruleRef(t.Extra.Check()))
		}
		g.Add(fromWire("End")).Call(w)
	})
	g.Line()
}

func walkMember(f *ir.Field) *jen.Statement {
	w, name, rule := jen.Id("w"), jen.Lit(f.Name), ruleRef(f.Type.Check())
	if f.Type.Kind == ir.KindFixed {
		return fromWire("FixedMember").Call(w, name, rule)
	}
	if kind := scalar(f); kind != "" {
		return fromWire(kind+"Member").Call(w, name, plain(f), rule)
	}
	value := field("v", f.GoName)
	switch {
	case f.Pointer():
		return fromWire("ObjectMember").Call(w, name, value.Clone().Op("!=").Nil(), value, rule)
	case f.Type.Kind == ir.KindStruct:
		return fromWire("ObjectMember").Call(w, name, jen.True(), address(value), rule)
	case f.Presence == ir.Optional:
		return fromWire("OptMember").Call(w, name, address(value), walkFunc(f.Type), rule)
	}
	return fromWire("Member").Call(w, name, address(value), walkFunc(f.Type), rule)
}

// scalar is what the names of the functions of package wire that read and walk
// a field of a scalar type have in common, say OptInt. It is empty for any other.
func scalar(f *ir.Field) string {
	opt, kind := "", f.Type.Kind
	if f.Presence == ir.Optional {
		opt = "Opt"
	} else if kind == ir.KindEnum {
		kind = ir.KindString // see plain
	} else if kind == ir.KindIntEnum {
		kind = ir.KindInt
	}
	switch kind {
	case ir.KindString:
		return opt + "String"
	case ir.KindInt:
		return opt + "Int"
	case ir.KindFloat:
		return opt + "Float"
	case ir.KindBool:
		return opt + "Bool"
	}
	return ""
}

// walkTuple prints the walk of a tuple, element by element.
func walkTuple(g *jen.Group, t *ir.Type) {
	docLine(g, "Walk visits the elements of v.")
	g.Func().Params(receiver(t)).Id("Walk").Params(jen.Id("w").Add(fromWire("Visitor"))).BlockFunc(func(g *jen.Group) {
		w := jen.Id("w")
		g.Add(fromWire("BeginArray")).Call(w, jen.Lit(len(t.Items)), ruleRef(t.Rule))
		for i, item := range t.Items {
			g.Add(walkFunc(item)).Call(w, address(item0(i)), ruleRef(item.Check()))
		}
		g.Add(fromWire("End")).Call(w)
	})
	g.Line()
}

// walkWith walks *p by rule, in a helper.
func walkWith(t *ir.Type) *jen.Statement {
	w, p, rule := jen.Id("w"), jen.Id("p"), jen.Id("rule")
	switch t.Kind {
	case ir.KindArray:
		return fromWire("WalkArray").Call(w, p, rule, walkFunc(t.Elem), ruleRef(t.Elem.Check()))
	case ir.KindMap:
		return fromWire("WalkMap").Call(w, p, rule, walkFunc(t.Elem), ruleRef(t.Elem.Check()))
	case ir.KindNull:
		return fromWire("WalkNull").Call(w, p, walkFunc(t.Elem), rule)
	}
	return fromWire("WalkPointer").Call(w, p, walkFunc(t.Elem), rule)
}

// walkFunc is the function that walks a value.
func walkFunc(t *ir.Type) *jen.Statement {
	switch t.Kind {
	case ir.KindString:
		return fromWire("WalkString")
	case ir.KindEnum:
		return fromWire("WalkEnum")
	case ir.KindIntEnum:
		return fromWire("WalkIntEnum")
	case ir.KindInt:
		return fromWire("WalkInt")
	case ir.KindFloat:
		return fromWire("WalkFloat")
	case ir.KindBool:
		return fromWire("WalkBool")
	case ir.KindRaw:
		return fromWire("WalkRaw")
	case ir.KindStruct:
		return fromWire("WalkObject")
	case ir.KindTuple:
		return fromWire("WalkTuple")
	case ir.KindUnion:
		return fromWire("WalkUnion")
	}
	return id(t.Walk)
}

func receiver(t *ir.Type) *jen.Statement { return jen.Id("v").Op("*").Add(id(t.Name)) }

func readerParam() *jen.Statement { return jen.Id("r").Op("*").Add(fromWire("Reader")) }

func valueParam(t *ir.Type) *jen.Statement { return jen.Id("p").Op("*").Add(goType(t)) }

func ruleParam(t *ir.Type) *jen.Statement {
	return jen.Id("rule").Op("*").Add(ruleType(t.Base().Kind))
}

// item0 is v.V0 and so on.
func item0(i int) *jen.Statement { return field("v", "V"+strconv.Itoa(i)) }
