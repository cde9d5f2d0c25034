package dsl

import (
	"path"
	"strings"
)

func elementLevel() level[Element] {
	return level[Element]{def: "element", what: "an entry of command.run", keys: keys[Element]{
		{name: "literal", is: wordText, doc: "One argument, as it stands.",
			read: func(p *parser, n *node, e *Element) { e.Literal, _ = p.text(n, "literal") }},
		{name: "terminator", is: wordFlag, doc: "The program takes no argument after the literal for an option, as most do after --.", without: "false",
			read: func(p *parser, n *node, e *Element) { e.Terminator = p.flag(n, "terminator") }},
		{name: "arg", is: wordText, doc: "A member of the input, as one argument; none where it is absent.",
			read: func(p *parser, n *node, e *Element) { e.Arg, _ = p.text(n, "arg") }},
		{name: "each", is: wordText, doc: "A member of the input that is an array: one argument for each of its elements.",
			read: func(p *parser, n *node, e *Element) { e.Each, _ = p.text(n, "each") }},
		{name: "when", is: wordText, doc: "A boolean member of the input that adds `add` where it is true.",
			read: func(p *parser, n *node, e *Element) { e.When, _ = p.text(n, "when") }},
		{name: "add", is: wordText, doc: "The argument of `when`.",
			read: func(p *parser, n *node, e *Element) { e.Add, _ = p.text(n, "add") }},
	}}
}

// parseRun reads an argv template. Package gen checks it against the input.
func (p *parser) parseRun(n *node, c *Command) {
	for i, item := range p.entries(n, "command.run") {
		e := &Element{Pos: item.pos}
		switch {
		case item.kind == nodeString:
			e.Text = item.text
			if item.text == "" {
				e.Literal, e.Text = p.emptyArgument(item), ""
			}
		case item.kind == nodeNumber && isInteger(item.text):
			e.Literal = item.text
		case item.kind == nodeMap:
			p.element(item, e)
		case item.kind != nodeBad:
			p.report(item.pos, "write a text; for a member of the input {arg: member}, {each: member} or {when: member, add: --option}",
				"command.run: %s is no argument", item.shown())
		}
		if i == 0 {
			p.checkProgram(item)
		}
		if strings.ContainsRune(e.Text+e.Literal+e.Add, 0) {
			p.report(item.pos, "remove it", "command.run: an argument holds a NUL")
		}
		c.Run = append(c.Run, e)
	}
}

// emptyArgument refuses an argument without a text.
func (p *parser) emptyArgument(n *node) string {
	p.report(n.pos, "remove it, or write the text", "command.run: an argument is empty")
	return ""
}

// element reads an entry that is a mapping.
func (p *parser) element(n *node, e *Element) {
	places := walk(p, n, p.levels.element, "an entry of command.run", n.pos, e)
	kinds := 0
	for _, key := range []string{"literal", "arg", "each", "when"} {
		if _, said := places[key]; said {
			kinds++
		}
	}
	_, when := places["when"]
	at, add := places["add"]
	switch {
	case kinds != 1:
		p.report(n.pos, "give it exactly one of literal, arg, each and when", "an entry of command.run has %d of literal, arg, each and when", kinds)
	case when && !add:
		p.report(n.pos, "write {when: member, add: --option}", "an entry of command.run has when and no add")
	case add && !when:
		p.report(at, "write {when: member, add: --option}", "an entry of command.run has add and no when")
	}
	if at, said := places["terminator"]; said && e.Literal == "" {
		p.report(at, "write {literal: --, terminator: true}", "terminator belongs to a literal")
	}
}

// checkProgram refuses what is no name of a program and no absolute path.
func (p *parser) checkProgram(n *node) {
	switch {
	case n.kind == nodeBad:
	case n.kind != nodeString:
		p.report(n.pos, "begin with the name of the program", "command.run begins with %s, which is no program", n.shown())
	case strings.ContainsAny(n.text, "{}"):
		p.report(n.pos, "name the program: an input does not choose it", "command.run: the program %s is no literal", quote(n.text))
	case strings.ContainsAny(n.text, `/\`) && (!path.IsAbs(n.text) || path.Clean(n.text) != n.text):
		p.report(n.pos, "install it elsewhere, and give its name, which is looked up in PATH, or its absolute path",
			"command.run: the program %s is a path inside the workspace, which may change it", quote(n.text))
	}
}

func shellLevel() level[Shell] {
	return level[Shell]{def: "shell", what: "command.shell", keys: keys[Shell]{
		{name: "script", required: true, is: wordText, doc: "The member of the input, a string, that is the script.",
			read: func(p *parser, n *node, s *Shell) { s.Script, _ = p.text(n, "command.shell.script") }},
		{name: "with", is: wordText, doc: "The shell, which takes -c -- SCRIPT.", without: defaultShell,
			read: func(p *parser, n *node, s *Shell) {
				p.checkProgram(n)
				s.With, _ = p.text(n, "command.shell.with")
			}},
	}}
}

func (p *parser) parseShell(n *node, c *Command) {
	c.Shell = &Shell{With: defaultShell}
	walk(p, n, p.levels.shell, "command.shell", n.pos, c.Shell)
}
