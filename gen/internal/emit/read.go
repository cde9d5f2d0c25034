package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/ambit-tools/ambit/gen/internal/ir"
)

// readMember prints the decoder of a struct:
//
//	// ReadMember reads one member of v.
//	func (v *FileReadInput) ReadMember(r *wire.Reader, name string) {
//		switch name {
//		case "path":
//			wire.ReadString(r, &v.Path, &fileReadInputPath)
//		case "limit":
//			wire.ReadOptInt(r, &v.Limit, &fileReadInputLimit)
//		}
//	}
//
// A struct with one member has an if in the place of the switch.
func readMember(g *jen.Group, t *ir.Type) {
	docLine(g, "ReadMember reads one member of v.")
	g.Func().Params(receiver(t)).Id("ReadMember").Params(readerParam(), jen.Id("name").String()).BlockFunc(func(g *jen.Group) {
		switch {
		case len(t.Fields) == 1 && t.Extra == nil:
			only := t.Fields[0]
			g.If(jen.Id("name").Op("==").Lit(only.Name)).Block(readField(only)...)
		case len(t.Fields) > 0:
			g.Switch(jen.Id("name")).BlockFunc(func(g *jen.Group) {
				for _, f := range t.Fields {
					g.Case(jen.Lit(f.Name)).Block(readField(f)...)
				}
				if t.Extra != nil {
					g.Default().Block(readExtra(t))
				}
			})
		case t.Extra != nil:
			g.Add(readExtra(t))
		}
	})
	g.Line()
}

// readExtra reads a member that is not declared.
func readExtra(t *ir.Type) *jen.Statement {
	return fromWire("ReadExtra").Call(jen.Id("r"), address(field("v", t.ExtraName)), jen.Id("name"), readFunc(t.Extra), ruleRef(t.Extra.Check()))
}

// readItem prints the decoder of a tuple, ReadItem, which switches on the index.
func readItem(g *jen.Group, t *ir.Type) {
	docLine(g, "ReadItem reads one element of v.")
	g.Func().Params(receiver(t)).Id("ReadItem").Params(readerParam(), jen.Id("i").Int()).Block(
		jen.Switch(jen.Id("i")).BlockFunc(func(g *jen.Group) {
			for i, item := range t.Items {
				g.Case(jen.Lit(i)).Block(readCall(item, address(item0(i))))
			}
		}),
	)
	g.Line()
}

// readUnion prints the decoder of a union:
//
//	func readNotifyTarget(r *wire.Reader, p *NotifyTarget, rule *wire.UnionRule) {
//		switch wire.ReadTag(r, rule) {
//		case "email":
//			v := new(EmailTarget)
//			wire.ReadStruct(r, v, &emailTargetRule)
//			*p = v
//		}
//	}
func readUnion(g *jen.Group, t *ir.Type) {
	if t.Variants[0].JSON != 0 {
		readByType(g, t)
		return
	}
	g.Func().Add(id(t.Read)).Params(readerParam(), jen.Id("p").Op("*").Add(id(t.Name)), jen.Id("rule").Op("*").Add(fromWire("UnionRule"))).Block(
		jen.Switch(fromWire("ReadTag").Call(jen.Id("r"), jen.Id("rule"))).BlockFunc(func(g *jen.Group) {
			for _, v := range t.Variants {
				g.Case(jen.Lit(v.Tag)).Block(
					jen.Id("v").Op(":=").New(id(v.Type.Name)),
					fromWire("ReadStruct").Call(jen.Id("r"), jen.Id("v"), ruleRef(v.Type.Rule)),
					jen.Op("*").Id("p").Op("=").Id("v"),
				)
			}
		}),
	)
	g.Line()
}

// readByType prints the decoder of a union that is told apart by types:
//
//	func readFindInputAmount(r *wire.Reader, p *FindInputAmount, rule *wire.UnionRule) {
//		switch wire.ReadType(r, rule) {
//		case wire.TypeString:
//			v := new(FindInputAmountString)
//			wire.ReadString(r, &v.V, nil)
//			*p = v
//		}
//	}
func readByType(g *jen.Group, t *ir.Type) {
	g.Func().Add(id(t.Read)).Params(readerParam(), jen.Id("p").Op("*").Add(id(t.Name)), jen.Id("rule").Op("*").Add(fromWire("UnionRule"))).Block(
		jen.Switch(fromWire("ReadType").Call(jen.Id("r"), jen.Id("rule"))).BlockFunc(func(g *jen.Group) {
			for _, v := range t.Variants {
				read := readCall(v.Type, jen.Id("v"))
				if v.Type.Kind == ir.KindBox {
					read = readCall(v.Type.Elem, address(field("v", "V")))
				}
				g.Case(typeSet(v.JSON)).Block(jen.Id("v").Op(":=").New(id(v.Type.Name)), read, jen.Op("*").Id("p").Op("=").Id("v"))
			}
		}),
	)
	g.Line()
}

// helper prints the functions of a type that no function of package wire reads
// or walks alone:
//
//	func walkFileReadInputTags(w wire.Visitor, p *[]string, rule *wire.ArrayRule) { wire.WalkArray(w, p, rule, wire.WalkString, nil) }
func helper(g *jen.Group, t *ir.Type) {
	if t.Read != "" {
		g.Func().Add(id(t.Read)).Params(readerParam(), valueParam(t), ruleParam(t)).Block(readWith(t, jen.Id("p"), jen.Id("rule")))
		g.Line()
	}
	if t.Walk != "" {
		g.Func().Add(id(t.Walk)).Params(jen.Id("w").Add(fromWire("Visitor")), valueParam(t), ruleParam(t)).Block(walkWith(t))
		g.Line()
	}
}

// readCall reads a value into ptr.
func readCall(t *ir.Type, ptr *jen.Statement) *jen.Statement {
	return readWith(t, ptr, ruleRef(t.Check()))
}

// readWith reads a value into ptr by a rule.
func readWith(t *ir.Type, ptr, rule *jen.Statement) *jen.Statement {
	r := jen.Id("r")
	switch t.Kind {
	case ir.KindFixed:
		return fromWire("ReadFixed").Call(r, rule)
	case ir.KindStruct:
		return fromWire("ReadStruct").Call(r, ptr, rule)
	case ir.KindTuple:
		return fromWire("ReadTuple").Call(r, ptr, rule, jen.Lit(len(t.Items)))
	case ir.KindArray:
		return fromWire("ReadArray").Call(r, ptr, rule, readFunc(t.Elem), ruleRef(t.Elem.Check()))
	case ir.KindMap:
		return fromWire("ReadMap").Call(r, ptr, rule, readFunc(t.Elem), ruleRef(t.Elem.Check()))
	case ir.KindNull:
		return fromWire("ReadNull").Call(r, ptr, readFunc(t.Elem), rule)
	case ir.KindPointer:
		return fromWire("ReadPointer").Call(r, ptr, readFunc(t.Elem), rule)
	}
	return readFunc(t).Call(r, ptr, rule)
}

// readFunc is the function that reads a value.
func readFunc(t *ir.Type) *jen.Statement {
	switch t.Kind {
	case ir.KindString:
		return fromWire("ReadString")
	case ir.KindEnum:
		return fromWire("ReadEnum")
	case ir.KindIntEnum:
		return fromWire("ReadIntEnum")
	case ir.KindInt:
		return fromWire("ReadInt")
	case ir.KindFloat:
		return fromWire("ReadFloat")
	case ir.KindBool:
		return fromWire("ReadBool")
	case ir.KindRaw:
		return fromWire("ReadRaw")
	case ir.KindStruct:
		return fromWire("ReadObject")
	}
	return id(t.Read)
}

// readField reads a member into its field. What a pointer points to is made
// first, by a statement: a generic function would be one more instance per type.
func readField(f *ir.Field) []jen.Code {
	if f.Pointer() {
		value := field("v", f.GoName)
		return []jen.Code{value.Clone().Op("=").New(goType(f.Type)), readCall(f.Type, value)}
	}
	if name := scalar(f); name != "" {
		return []jen.Code{fromWire("Read"+name).Call(jen.Id("r"), plain(f), ruleRef(f.Type.Check()))}
	}
	return []jen.Code{readCall(f.Type, target(f))}
}

// target is the pointer to what a member is read into.
func target(f *ir.Field) *jen.Statement {
	if f.Presence == ir.Optional && f.Type.Kind != ir.KindFixed {
		return field("v", f.GoName).Dot("Put").Call()
	}
	return plain(f)
}

// plain is the pointer to a field that is always there. An enum's is that of
// its basic type, so that reading and walking it are no further instances.
func plain(f *ir.Field) *jen.Statement {
	ptr := address(field("v", f.GoName))
	switch {
	case f.Presence == ir.Optional:
		return ptr
	case f.Type.Kind == ir.KindEnum:
		return jen.Parens(jen.Op("*").String()).Call(ptr)
	case f.Type.Kind == ir.KindIntEnum:
		return jen.Parens(jen.Op("*").Int64()).Call(ptr)
	}
	return ptr
}
