package ir

import (
	"slices"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/runtime/command/argv"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// commands makes the arguments of every command, and refuses those in which the value of a member
// could become an option.
func (b *builder) commands() {
	for _, t := range b.pkg.Tools {
		if t.Decl.Command == nil {
			continue
		}
		t.Command = &Command{Func: b.scope.unique(lower(t.GoName) + "Argv")}
		if b.template(t); len(b.errs) > 0 {
			continue
		}
		for i, e := range t.Command.Template {
			t.Command.Elements = append(t.Command.Elements, element(t.Input, t.Command.Template[i], e.Literal))
		}
		if name := t.Decl.Command.Stdin; name != "" {
			t.Command.Stdin, t.Command.StdinFunc = t.Input.member(name), b.scope.unique(lower(t.GoName)+"Stdin")
		}
	}
}

// template reads the declared elements and checks them (SEMANTICS 7.5).
func (b *builder) template(t *Tool) {
	places := elementsOf(t.Decl.Command)
	for _, e := range places {
		x := argv.Element{Literal: e.Literal, Terminator: e.Terminator, Arg: e.Arg, Each: e.Each, When: e.When, Add: e.Add}
		if e.Text != "" {
			parts, err := argv.ParseText(e.Text)
			switch {
			case err != nil:
				b.errorf(e.Pos, "write {member}, or {{ and }} for braces", "command.run: %v", err)
			case len(parts) == 1 && parts[0].Member == "":
				x.Literal = parts[0].Literal
			default:
				x.Text = parts
			}
		}
		t.Command.Template = append(t.Command.Template, x)
	}
	if len(b.errs) > 0 {
		return
	}
	members := map[string]argv.Schema{}
	for _, f := range t.Input.Fields {
		members[f.Name] = argumentSchema(f.Type)
	}
	for _, p := range t.Command.Template.Check(members) {
		b.errorf(places[p.Element].Pos, p.Hint(), "command.run: %v", p.Err)
	}
}

// elementsOf are the elements of run, or what a shell is started with.
func elementsOf(c *dsl.Command) []*dsl.Element {
	if c.Shell == nil {
		return c.Run
	}
	at := c.Keys["shell"]
	return []*dsl.Element{
		{Pos: at, Literal: c.Shell.With}, {Pos: at, Literal: "-c"}, {Pos: at, Literal: "--", Terminator: true}, {Pos: at, Arg: c.Shell.Script},
	}
}

// argumentSchema is what a template asks of a type.
func argumentSchema(t *Type) argv.Schema {
	t = t.Base()
	r := t.Rule
	if r == nil {
		r = &Rule{}
	}
	switch t.Kind {
	case KindString, KindEnum, KindFixed:
		return stringArgument(r)
	case KindInt, KindIntEnum:
		return integerArgument(r)
	case KindBool:
		return argv.Schema{Type: argv.Boolean, Sensitive: r.Bool != nil && r.Bool.Sensitive}
	case KindArray:
		items := argumentSchema(t.Elem)
		if t.Elem.Nullable() {
			items.Type = argv.Other
		}
		return argv.Schema{Type: argv.Array, Items: &items, Sensitive: items.Sensitive || r.Array != nil && r.Array.Sensitive}
	}
	return argv.Schema{}
}

func stringArgument(r *Rule) argv.Schema {
	s := argv.Schema{Type: argv.String}
	if r.String == nil {
		return s
	}
	s.Enum, s.Sensitive = r.String.Enum, r.String.Sensitive
	if r.String.Has&wire.Min != 0 {
		s.MinLength = r.String.Min
	}
	if p := r.Pattern; p != nil { // as it is matched: what was translated is in the syntax that the decision reads
		if s.Pattern = p.Pattern.RE2; s.Pattern == "" {
			s.Pattern = p.Source
		}
	}
	return s
}

func integerArgument(r *Rule) argv.Schema {
	s := argv.Schema{Type: argv.Integer}
	if r.Int == nil {
		return s
	}
	s.Sensitive = r.Int.Sensitive
	switch {
	case len(r.Int.Enum) > 0:
		s.Minimum = new(slices.Min(r.Int.Enum))
	case r.Int.Has&wire.Min != 0:
		s.Minimum = new(r.Int.Min)
	}
	return s
}

// element finds the members that an element reads.
func element(in *Type, e argv.Element, literal string) *Element {
	switch {
	case e.Text != nil:
		return argument(in, e.Text)
	case e.Arg != "":
		return argument(in, []argv.Part{{Member: e.Arg}})
	case e.Each != "":
		return &Element{Each: in.member(e.Each)}
	case e.When != "":
		return &Element{When: in.member(e.When), Add: e.Add}
	}
	return &Element{Literal: literal}
}

// argument is one argument: a literal where no part of it is read.
func argument(in *Type, parts []argv.Part) *Element {
	x := &Element{}
	fixed, text := true, ""
	for _, p := range parts {
		piece := pieceOf(in, p)
		fixed, text = fixed && piece.Field == nil, text+piece.Literal
		x.Parts = append(x.Parts, piece)
	}
	if fixed {
		return &Element{Literal: text}
	}
	return x
}

// pieceOf is a part of an argument. A member that has one value, and no field, is a literal.
func pieceOf(in *Type, p argv.Part) Part {
	if p.Member == "" {
		return Part{Literal: p.Literal}
	}
	f := in.member(p.Member)
	if f.Type.Kind == KindFixed {
		return Part{Literal: f.Type.Rule.String.Enum[0]}
	}
	return Part{Field: f}
}

// member returns the field of a member.
func (t *Type) member(name string) *Field {
	for _, f := range t.Fields {
		if f.Name == name {
			return f
		}
	}
	return nil
}
