package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/ambit-tools/ambit/gen/internal/ir"
)

// specification prints what the runtime is told of a tool:
//
//	var (
//		//go:embed schemas/file_read.input.json
//		fileReadInputSchema string
//		//go:embed schemas/file_read.output.json
//		fileReadOutputSchema string
//	)
//
//	var fileReadSpec = runtime.Spec{
//		Name:    FileReadName,
//		Version: "1.0.0",
//	}
func specification(g *jen.Group, t *ir.Tool) {
	g.Var().DefsFunc(func(g *jen.Group) {
		for _, e := range t.Embeds {
			embed(g, e)
		}
	})
	g.Line()
	g.Var().Add(id(t.SpecVar)).Op("=").Add(literal(t.Spec, true))
	g.Line()
}

// setRules prints what all specifications point to:
//
//	var setRules = runtime.Rules{MaxCalls: 200}
func setRules(g *jen.Group, p *ir.Package) {
	if p.SetRules == nil {
		return
	}
	docLine(g, p.SetVar+" are the rules of all tools together.")
	g.Var().Add(id(p.SetVar)).Op("=").Add(literal(p.SetRules, false))
	g.Line()
}

// literal prints a Go value; a composite with an element per line when multi.
func literal(l *ir.Literal, multi bool) *jen.Statement {
	switch {
	case l.Slice:
		elems := make([]jen.Code, len(l.Elems))
		for i, e := range l.Elems {
			elems[i] = element(e)
		}
		if l.Type == "" {
			return jen.Index().String().Values(elems...)
		}
		return jen.Index().Add(fromRuntime(l.Type)).Values(elems...)
	case l.Type != "":
		value := fromRuntime(l.Type).Add(fields(l, multi))
		if l.Ptr {
			return address(value)
		}
		return value
	case l.String != nil:
		return text(*l.String)
	case l.Int != nil && l.Shift > 0:
		return jen.Lit(int(*l.Int)).Op("<<").Lit(l.Shift)
	case l.Int != nil:
		return jen.Lit(int(*l.Int))
	case l.Const != "":
		return fromRuntime(l.Const)
	case l.Ident != "" && l.Ptr:
		return address(id(l.Ident))
	case l.Ident != "":
		return id(l.Ident)
	case l.Unit != "" && l.Count == 1:
		return jen.Qual("time", goIdent(l.Unit))
	case l.Unit != "":
		return jen.Lit(int(l.Count)).Op("*").Qual("time", goIdent(l.Unit))
	}
	return jen.Lit(l.Bool)
}

// element prints an element of a slice, whose type the slice says.
func element(l *ir.Literal) *jen.Statement {
	if l.Type != "" && !l.Slice {
		return fields(l, false)
	}
	return literal(l, false)
}

func fields(l *ir.Literal, multi bool) *jen.Statement {
	elems := make([]jen.Code, len(l.Fields))
	for i, f := range l.Fields {
		elems[i] = keyed(f.Name, literal(f.Value, false))
	}
	if multi {
		return lines(elems)
	}
	return inline(elems)
}
