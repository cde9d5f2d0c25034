package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/ambit-tools/ambit/gen/internal/ir"
)

// Registry is the file that an application reads and implements: names,
// Handler, Tools and the declarations.
func Registry(p *ir.Package) ([]byte, error) {
	standard := []string{}
	handled := withMethod(p)
	if len(handled) > 0 {
		standard = append(standard, "context")
	}
	if len(p.Tools) > 0 {
		standard = append(standard, "_ embed")
	}
	if p.UsesTime {
		standard = append(standard, "time")
	}
	fragments := []fragment{
		func(g *jen.Group) { constants(g, p) },
		func(g *jen.Group) { handler(g, p) },
	}
	fragments = append(fragments, func(g *jen.Group) { unimplemented(g) })
	fragments = append(fragments, chunks(len(handled), 64, func(g *jen.Group, i int) { unimplementedMethod(g, handled[i]) })...)
	fragments = append(fragments, func(g *jen.Group) { tools(g, p) })
	fragments = append(fragments, func(g *jen.Group) { setRules(g, p) })
	fragments = append(fragments, chunks(len(p.Tools), 16, func(g *jen.Group, i int) { specification(g, p.Tools[i]) })...)
	comment := []string{"Package " + p.Name + " holds the tools that " + p.Source + " declares."}
	return file(p, comment, [][]string{standard, {runtimePath}}, fragments)
}

// withMethod are the tools that Handler has a method of.
func withMethod(p *ir.Package) (all []*ir.Tool) {
	for _, t := range p.Tools {
		if t.Command == nil {
			all = append(all, t)
		}
	}
	return all
}

// constants prints the handshake with the runtime and the names:
//
//	// A runtime without this constant is older than the generator: upgrade it.
//	const _ = runtime.IsAtLeastVersion0_1
//
//	// The names by which models and policies call the tools.
//	const (
//		FileReadName = "file_read"
//	)
func constants(g *jen.Group, p *ir.Package) {
	docLine(g, "A runtime without this constant is older than the generator that wrote this file: upgrade it in go.mod.")
	g.Const().Id("_").Op("=").Add(fromRuntime("IsAtLeastVersion0_1"))
	g.Line()
	if len(p.Tools) > 0 {
		docLine(g, "The names by which models and policies call the tools.")
		g.Const().DefsFunc(func(g *jen.Group) {
			for _, t := range p.Tools {
				g.Add(id(t.Const)).Op("=").Lit(t.Decl.Name)
			}
		})
		g.Line()
	}
	if len(p.Reasons) > 0 {
		docLine(g, "The reasons for which policies deny a call.")
		g.Const().DefsFunc(func(g *jen.Group) {
			for _, r := range p.Reasons {
				doc(g, r.Doc)
				g.Add(id(r.GoName)).Op("=").Lit(r.Code)
			}
		})
		g.Line()
	}
}

// handler prints the interface that an application implements:
//
//	type Handler interface {
//		// FileRead reads a file of the workspace.
//		FileRead(context.Context, *FileReadInput) (*FileReadOutput, error)
//
//		// FileWrite replaces the content of a file in the workspace.
//		FileWrite(context.Context, *FileWriteInput) (*FileWriteOutput, error)
//	}
func handler(g *jen.Group, p *ir.Package) {
	docLine(g, "A Handler carries out the tools. Its methods may be called concurrently, and return soon after their context is done. "+
		"The model does not see the text of an error, unless the tool declares safe_errors or [runtime.Public] marks the error.")
	g.Type().Id("Handler").InterfaceFunc(func(g *jen.Group) {
		for i, t := range withMethod(p) {
			if i > 0 {
				g.Line()
			}
			doc(g, t.Doc)
			g.Add(id(t.GoName)).Add(signature(t))
			for _, h := range t.Hooks {
				g.Line()
				doc(g, h.Doc)
				g.Add(id(h.GoName)).Add(hookSignature(t, h.Kind))
			}
		}
	})
	g.Line()
}

// signature is that of a tool's method.
func signature(t *ir.Tool) *jen.Statement {
	return jen.Params(contextType(), in(t)).Params(out(t), jen.Error())
}

func contextType() *jen.Statement   { return jen.Qual("context", "Context") }
func in(t *ir.Tool) *jen.Statement  { return pointer(id(t.Input.Name)) }
func out(t *ir.Tool) *jen.Statement { return pointer(id(t.Output.Name)) }

func hookSignature(t *ir.Tool, kind ir.HookKind) *jen.Statement {
	switch kind {
	case ir.HookPreview:
		return jen.Params(contextType(), in(t)).Params(fromRuntime("Preview"), jen.Error())
	case ir.HookPrepare:
		return jen.Params(contextType(), in(t)).Params(pointer(id(t.State.Name)), jen.Error())
	case ir.HookReconcile:
		return jen.Params(contextType(), pointer(fromRuntime("Reconcile").Index(id(t.Input.Name)))).Params(out(t), jen.Error())
	}
	undo := fromRuntime("Undo").Index(jen.List(id(t.Input.Name), id(t.State.Name), id(t.Output.Name)))
	return jen.Params(contextType(), pointer(undo)).Error()
}

// unimplemented prints the handler to embed:
//
//	type UnimplementedHandler struct{}
func unimplemented(g *jen.Group) {
	docLine(g, "UnimplementedHandler makes a Handler of a type that embeds it and lacks methods: the tools without one answer with [runtime.NotImplemented]. "+
		"It has no hooks, so that a missing one does not compile.")
	g.Type().Id("UnimplementedHandler").Struct()
	g.Line()
}

// unimplementedMethod prints
//
//	func (UnimplementedHandler) FileRead(context.Context, *FileReadInput) (*FileReadOutput, error) {
//		return nil, runtime.NotImplemented(FileReadName)
//	}
func unimplementedMethod(g *jen.Group, t *ir.Tool) {
	docLine(g, t.GoName+" is not implemented.")
	g.Func().Params(jen.Id("UnimplementedHandler")).Add(id(t.GoName)).Add(signature(t)).Block(
		jen.Return(jen.Nil(), fromRuntime("NotImplemented").Call(id(t.Const))),
	)
	g.Line()
}

// tools prints the table:
//
//	func Tools(h Handler) []*runtime.Tool {
//		return []*runtime.Tool{
//			runtime.NewTool(&fileReadSpec, &fileReadInputRule, h.FileRead),
//		}
//	}
func tools(g *jen.Group, p *ir.Package) {
	docLine(g, "Tools returns the tools, carried out by h.")
	g.Func().Id("Tools").Params(jen.Id("h").Id("Handler")).Index().Op("*").Add(fromRuntime("Tool")).BlockFunc(func(g *jen.Group) {
		all := make([]jen.Code, len(p.Tools))
		for i, t := range p.Tools {
			if t.Command != nil {
				all[i] = commandTool(t)
				continue
			}
			args := []jen.Code{address(id(t.SpecVar)), ruleRef(t.Input.Rule), field("h", t.GoName)}
			all[i] = fromRuntime("NewTool").Call(append(args, options(t)...)...)
		}
		g.Return(jen.Index().Op("*").Add(fromRuntime("Tool")).Add(lines(all)))
	})
	g.Line()
}

// options are the hooks of a tool as arguments of NewTool.
func options(t *ir.Tool) []jen.Code {
	var all []jen.Code
	prepare := ""
	for _, h := range t.Hooks {
		switch h.Kind {
		case ir.HookPreview:
			all = append(all, fromRuntime("WithPreview").Call(field("h", h.GoName)))
		case ir.HookPrepare:
			prepare = h.GoName
		case ir.HookUndo:
			all = append(all, fromRuntime("WithUndo").Call(
				ruleRef(t.State.Rule), ruleRef(t.Output.Rule), field("h", prepare), field("h", h.GoName)))
		case ir.HookReconcile:
			all = append(all, fromRuntime("WithReconcile").Call(field("h", h.GoName)))
		}
	}
	return all
}
