package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/ambit-tools/ambit/gen/internal/ir"
)

// Commands is the file of the functions from inputs to arguments. It is nil for a package that has
// no commands.
func Commands(p *ir.Package) ([]byte, error) {
	var list []*ir.Tool
	for _, t := range p.Tools {
		if t.Command != nil {
			list = append(list, t)
		}
	}
	if len(list) == 0 {
		return nil, nil
	}
	fragments := chunks(len(list), 16, func(g *jen.Group, i int) {
		arguments(g, list[i])
		stdin(g, list[i])
	})
	return file(p, nil, [][]string{{argvPath}}, fragments)
}

// commandTool prints an entry of Tools:
//
//	runtime.NewCommandTool[*GitDiffInput, *GitDiffOutput](&gitDiffSpec, &gitDiffInputRule, &gitDiffOutputRule, gitDiffArgv, nil)
func commandTool(t *ir.Tool) jen.Code {
	read := jen.Nil()
	if t.Command.Stdin != nil {
		read = id(t.Command.StdinFunc)
	}
	return fromRuntime("NewCommandTool").Index(jen.List(in(t), out(t))).Call(
		address(id(t.SpecVar)), ruleRef(t.Input.Rule), ruleRef(t.Output.Rule), id(t.Command.Func), read)
}

// arguments prints
//
//	// gitDiffArgv returns the arguments of a call of git_diff.
//	func gitDiffArgv(in *GitDiffInput) ([]string, error) {
//		a := argv.New("git", "diff")
//		a.When(in.Stat, "--stat")
//		if in.Ref.Set {
//			a.One(argv.Of("ref", in.Ref.V))
//		}
//		a.Add("--")
//		argv.Each(a, "paths", in.Paths.V)
//		return a.Argv()
//	}
func arguments(g *jen.Group, t *ir.Tool) {
	docLine(g, t.Command.Func+" returns the arguments of a call of "+t.Decl.Name+".")
	g.Func().Add(id(t.Command.Func)).Params(id("in").Add(in(t))).Params(jen.Index().String(), jen.Error()).BlockFunc(func(g *jen.Group) {
		first, rest := literals(t.Command.Elements)
		g.Add(id("a")).Op(":=").Add(fromArgv("New").Call(first...))
		for len(rest) > 0 {
			if rest[0].Literal != "" {
				var all []jen.Code
				all, rest = literals(rest)
				g.Add(field("a", "Add").Call(all...))
				continue
			}
			argument(g, rest[0])
			rest = rest[1:]
		}
		g.Return(field("a", "Argv").Call())
	})
	g.Line()
}

// literals returns the literals that elements begin with, and the rest.
func literals(elements []*ir.Element) (texts []jen.Code, rest []*ir.Element) {
	for len(elements) > 0 && elements[0].Literal != "" {
		texts = append(texts, text(elements[0].Literal))
		elements = elements[1:]
	}
	return texts, elements
}

// argument prints what adds an element that reads the input.
func argument(g *jen.Group, e *ir.Element) {
	var present []*jen.Statement
	read := func(f *ir.Field) *jen.Statement {
		value, conditions := access(f)
		present = append(present, conditions...)
		return value
	}
	var add *jen.Statement
	switch {
	case e.When != nil:
		add = field("a", "When").Call(read(e.When), text(e.Add))
	case e.Each != nil:
		add = fromArgv("Each").Call(id("a"), text(e.Each.Name), read(e.Each))
	default:
		pieces := make([]jen.Code, len(e.Parts))
		for i, p := range e.Parts {
			if p.Field == nil {
				pieces[i] = fromArgv("Text").Call(text(p.Literal))
			} else {
				pieces[i] = fromArgv("Of").Call(text(p.Field.Name), read(p.Field))
			}
		}
		add = field("a", "One").Call(pieces...)
	}
	if len(present) == 0 {
		g.Add(add)
		return
	}
	condition := present[0]
	for _, c := range present[1:] {
		condition = condition.Op("&&").Add(c)
	}
	g.If(condition).Block(add)
}

// access is the value of a scalar or an array of the input, and what has to be true for it to be
// there.
func access(f *ir.Field) (value *jen.Statement, conditions []*jen.Statement) {
	value = field("in", f.GoName)
	if f.Presence == ir.Optional {
		conditions = append(conditions, value.Clone().Dot("Set"))
		value = value.Clone().Dot("V")
	}
	if f.Type.Kind == ir.KindNull {
		conditions = append(conditions, value.Clone().Dot("Valid"))
		value = value.Clone().Dot("V")
	}
	return value, conditions
}

// stdin prints the function from the input to what the process reads, where there is one:
//
//	func textFindStdin(in *TextFindInput) string { return in.Text.V }
func stdin(g *jen.Group, t *ir.Tool) {
	f := t.Command.Stdin
	if f == nil {
		return
	}
	docLine(g, t.Command.StdinFunc+" returns what the process of a call of "+t.Decl.Name+" reads.")
	value, _ := access(f) // that of an absent member is empty
	if f.Type.Base().Kind == ir.KindEnum {
		value = jen.String().Parens(value)
	}
	g.Func().Add(id(t.Command.StdinFunc)).Params(id("in").Add(in(t))).String().Block(jen.Return(value))
	g.Line()
}
