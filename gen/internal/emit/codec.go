package emit

import (
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/ambit-tools/ambit/gen/internal/ir"
)

// Codec is the file of types, rule tables, decoders and walks.
func Codec(p *ir.Package) ([]byte, error) {
	fragments := []fragment{func(g *jen.Group) {
		patterns(g, p.Patterns)
		ruleBlock(g, p.Rules)
	}}
	fragments = append(fragments, chunks(len(p.Types), 16, func(g *jen.Group, i int) { declaration(g, p.Types[i]) })...)
	var imports [][]string
	if len(p.Types) > 0 {
		imports = [][]string{{wirePath}}
	}
	return file(p, nil, imports, fragments)
}

// declaration prints everything of one declared type.
func declaration(g *jen.Group, t *ir.Type) {
	switch t.Kind {
	case ir.KindEnum, ir.KindIntEnum:
		enum(g, t)
	case ir.KindUnion:
		union(g, t)
	case ir.KindTuple:
		tuple(g, t)
	case ir.KindBox:
		box(g, t)
	default:
		object(g, t)
	}
	for _, h := range t.Helpers {
		helper(g, h)
	}
	if len(t.Helpers) > 0 {
		g.Line()
	}
}

// object prints a struct:
//
//	// FileReadInput is the input of the file_read tool.
//	type FileReadInput struct {
//		Path string // Path inside the workspace.
//	}
//
//	var (
//		fileReadInputRule = wire.ObjectRule{Names: []string{"path"}, Required: 1}
//		fileReadInputPath = wire.StringRule{Has: wire.Max, Max: 4096}
//	)
//
// and then its ReadMember and its Walk.
func object(g *jen.Group, t *ir.Type) {
	doc(g, t.Doc)
	g.Type().Add(id(t.Name)).StructFunc(func(g *jen.Group) {
		for _, f := range t.Fields {
			switch {
			case f.Type.Kind == ir.KindFixed:
			case t.Beside:
				g.Add(besideField(id(f.GoName).Add(fieldType(f)), f.Doc))
			default:
				doc(g, f.Doc)
				g.Add(id(f.GoName)).Add(fieldType(f))
			}
		}
		if t.Extra != nil {
			docLine(g, t.ExtraName+" holds the members that are not declared.")
			g.Add(id(t.ExtraName)).Map(jen.String()).Add(goType(t.Extra))
		}
	})
	g.Line()
	ruleBlock(g, t.Rules)
	readMember(g, t)
	walkObject(g, t)
}

// tuple prints a struct with a field per element:
//
//	type FileReadInputRange struct {
//		V0 int64
//		V1 int64
//	}
//
// and then its ReadItem and its Walk.
func tuple(g *jen.Group, t *ir.Type) {
	doc(g, t.Doc)
	g.Type().Add(id(t.Name)).StructFunc(func(g *jen.Group) {
		for i, item := range t.Items {
			g.Add(id("V" + strconv.Itoa(i))).Add(goType(item))
		}
	})
	g.Line()
	ruleBlock(g, t.Rules)
	readItem(g, t)
	walkTuple(g, t)
}

// enum prints a named string or integer and its constants:
//
//	type FileReadInputMode string
//
//	// The values of FileReadInputMode.
//	const (
//		FileReadInputModeText FileReadInputMode = "text"
//	)
func enum(g *jen.Group, t *ir.Type) {
	doc(g, t.Doc)
	if t.Kind == ir.KindEnum {
		g.Type().Add(id(t.Name)).String()
	} else {
		g.Type().Add(id(t.Name)).Int64()
	}
	g.Line()
	docLine(g, "The values of "+t.Name+".")
	g.Const().DefsFunc(func(g *jen.Group) {
		for _, v := range t.Enum {
			value := text(v.Text)
			if t.Kind == ir.KindIntEnum {
				value = jen.Lit(int(v.Int))
			}
			g.Add(id(v.GoName)).Add(id(t.Name)).Op("=").Add(value)
		}
	})
	g.Line()
}

// union prints a sealed interface:
//
//	type NotifyTarget interface {
//		wire.Value
//		isNotifyTarget()
//	}
//
//	func (*EmailTarget) isNotifyTarget() {}
func union(g *jen.Group, t *ir.Type) {
	doc(g, t.Doc)
	g.Type().Add(id(t.Name)).Interface(fromWire("Value"), id("is"+t.Name).Call())
	g.Line()
	for _, v := range t.Variants {
		g.Func().Params(pointer(id(v.Type.Name))).Add(id("is" + t.Name)).Params().Block()
	}
	g.Line()
	ruleBlock(g, t.Rules)
	if t.Read != "" {
		readUnion(g, t)
	}
}

// box prints a variant that is no struct of its own:
//
//	type FindInputAmountString struct{ V string }
//
//	// Walk visits v.
//	func (v *FindInputAmountString) Walk(w wire.Visitor) { wire.WalkString(w, &v.V, nil) }
func box(g *jen.Group, t *ir.Type) {
	doc(g, t.Doc)
	g.Type().Add(id(t.Name)).Struct(jen.Id("V").Add(goType(t.Elem)))
	g.Line()
	ruleBlock(g, t.Rules)
	docLine(g, "Walk visits v.")
	g.Func().Params(receiver(t)).Id("Walk").Params(jen.Id("w").Add(fromWire("Visitor"))).Block(
		walkFunc(t.Elem).Call(jen.Id("w"), address(field("v", "V")), ruleRef(t.Elem.Check())),
	)
	g.Line()
}

// fieldType is the Go type of a struct field.
func fieldType(f *ir.Field) *jen.Statement {
	if f.Pointer() {
		return pointer(goType(f.Type))
	}
	if f.Presence == ir.Optional {
		return fromWire("Opt").Index(goType(f.Type))
	}
	return goType(f.Type)
}

// goType is the Go type of a schema.
func goType(t *ir.Type) *jen.Statement {
	switch t.Kind {
	case ir.KindString:
		return jen.String()
	case ir.KindInt:
		return jen.Int64()
	case ir.KindFloat:
		return jen.Float64()
	case ir.KindBool:
		return jen.Bool()
	case ir.KindRaw:
		return fromWire("Raw")
	case ir.KindArray:
		return jen.Index().Add(goType(t.Elem))
	case ir.KindMap:
		return jen.Map(jen.String()).Add(goType(t.Elem))
	case ir.KindNull:
		return fromWire("Null").Index(goType(t.Elem))
	case ir.KindPointer:
		return pointer(goType(t.Elem))
	}
	return id(t.Name)
}
