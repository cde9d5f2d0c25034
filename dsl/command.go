package dsl

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

func commandLevel() level[Command] {
	return level[Command]{def: "command", what: "command", unknown: notYet, conditions: commandConditions, keys: keys[Command]{
		{name: "run", is: wordRun, doc: "The program and its arguments; no shell sees them. {member} is replaced in a text; `arg`, `each` and `when` add arguments of their own.", without: "`shell` is declared", rules: "7.5",
			read: (*parser).parseRun},
		{name: "shell", is: mapping("shell"), doc: "A member of the input that a shell runs.", without: "`run` is declared",
			read: (*parser).parseShell},
		{name: "env", is: wordEnv, doc: "All variables of the process: none is inherited. $NAME takes the host's value at start.", without: "`PATH`, `LANG`, `TZ`, `TERM`, `NO_COLOR`, `HOME` and `TMPDIR` of the runner",
			read: (*parser).parseEnv},
		{name: "dir", is: wordText, doc: "The folder in which it runs, below the workspace.", without: "the workspace, or a private folder where there is none",
			read: (*parser).parseDir},
		{name: "stdin", is: wordText, doc: "The member of the input, a string, that the process reads as its input.", without: "none",
			read: func(p *parser, n *node, c *Command) { c.Stdin, _ = p.text(n, "command.stdin") }},
		{name: "reads", is: wordReads, doc: "Folders and files of the host that it may read beside its workspace: absolute, or $NAME of the host.", without: "none",
			read: (*parser).parseReads},
		{name: "caches", is: wordCaches, doc: "Variables, each with the name of a folder that it may write and that is kept between calls.", without: "none",
			read: (*parser).parseCaches},
		{name: "network", is: wordNetwork, doc: "What it may connect to.", without: "none",
			read: (*parser).parseNetwork},
		{name: "output", is: wordOutputForm, doc: "What becomes of its output: one text, its lines, one JSON value, or one on each line.", without: "text",
			read: func(p *parser, n *node, c *Command) { c.Output = p.choice(n, "command.output", outputForms...) }},
		{name: "exits", is: wordExits, doc: "What exit codes mean.", without: "0 is ok, and every other code a system_error",
			read: (*parser).parseExits},
	}}
}

// notYet explains the keys of a command that are planned.
func notYet(key string) (message, hint string) {
	if slices.Contains([]string{"writes", "preview", "undo", "secrets", "hosts"}, key) {
		return quote(key) + " of a command is not supported yet", "remove it: a command in a sandbox writes to its private folder and its caches only"
	}
	return "", ""
}

// parseCommand reads what a tool runs in place of a handler.
func (p *parser) parseCommand(n *node, t *Tool) {
	c := &Command{Pos: n.pos, Network: networks[0], Output: outputForms[0]}
	t.Command = c
	c.Keys = walk(p, n, p.levels.command, "command", n.pos, c)
	if n.kind != nodeMap {
		return
	}
	_, run := c.Keys["run"]
	_, shell := c.Keys["shell"]
	switch {
	case run && shell:
		p.report(c.Keys["shell"], "declare one of them", "command: shell stands beside run")
	case !run && !shell:
		p.report(n.pos, "declare run, the program and its arguments", "command has neither run nor shell")
	}
	p.later(func() { p.checkCommand(t) })
}

func (p *parser) parseDir(n *node, c *Command) {
	text, ok := p.text(n, "command.dir")
	if ok && (path.IsAbs(text) || path.Clean(text) != text || text == ".." || strings.HasPrefix(text, "../") || strings.ContainsFunc(text, isControl)) {
		p.report(n.pos, "write a path below the workspace, such as cmd/server", "command.dir: %s is no clean path below the workspace", quote(text))
		return
	}
	c.Dir = text
}

func (p *parser) parseEnv(n *node, c *Command) {
	c.Env = p.variables(n, "command.env", func(v *Variable, at Pos) {
		if strings.HasPrefix(v.Value, "$") && !hostVariable.MatchString(v.Value) {
			p.report(at, "write $NAME alone: its value is the host's", "command.env: %s is no name of a variable of the host", quote(v.Value))
		}
	})
}

func (p *parser) parseCaches(n *node, c *Command) {
	taken := map[string]string{}
	c.Caches = p.variables(n, "command.caches", func(v *Variable, at Pos) {
		switch other, used := taken[v.Value]; {
		case !folderName.MatchString(v.Value):
			p.report(at, "write a name such as go-build: the host has a folder for the caches of each tool", "command.caches: %s is no name of a folder", quote(v.Value))
		case used:
			p.report(at, "choose another one", "command.caches: %s is the folder of %s already", quote(v.Value), other)
		}
		taken[v.Value] = v.Name
	})
}

// ownVariables are set by the runner.
var ownVariables = []string{"HOME", "TMPDIR", "AMBIT_CALL"}

// variables reads names with texts.
func (p *parser) variables(n *node, key string, check func(v *Variable, at Pos)) (all []*Variable) {
	if !p.isMap(n, key) {
		return nil
	}
	for _, e := range n.pairs {
		v := &Variable{Name: e.name, Pos: e.key}
		switch {
		case !variableName.MatchString(e.name):
			p.report(e.key, "use letters, digits and underscores, no digit first", "%s: %s is no name of a variable", key, quote(e.name))
		case slices.Contains(ownVariables, e.name):
			p.report(e.key, "remove it: it is the private folder of the call, or names the call", "%s: %s is set by the runner", key, e.name)
		}
		if e.val.kind == nodeString {
			v.Value = e.val.text // it may be empty
			if strings.ContainsRune(v.Value, 0) {
				p.report(e.val.pos, "remove it", "%s: the value of %s holds a NUL", key, e.name)
			}
			check(v, e.val.pos)
		} else {
			p.wrong(e.val, key+"."+e.name, "a text")
		}
		all = append(all, v)
	}
	return all
}

func (p *parser) parseReads(n *node, c *Command) {
	c.Reads = p.filled(n, "command.reads", nil)
	for _, item := range n.items {
		if text := item.text; item.kind == nodeString && text != "" && !hostVariable.MatchString(text) && (!path.IsAbs(text) || path.Clean(text) != text) {
			p.report(item.pos, "write an absolute path, or $NAME for the value of a variable of the host", "command.reads: %s is no clean absolute path", quote(text))
		}
	}
}

func (p *parser) parseNetwork(n *node, c *Command) {
	if n.kind == nodeList || n.kind == nodeMap {
		p.report(n.pos, "write none or loopback", "command.network: a list of hosts is not supported yet")
		return
	}
	c.Network = p.choice(n, "command.network", networks...)
}

func exitLevel() level[Exit] {
	return level[Exit]{def: "exit", what: "an exit code", keys: keys[Exit]{
		{name: "category", required: true, is: wordCategory, doc: "What kind of failure it is.",
			read: func(p *parser, n *node, x *Exit) { x.Category = p.choice(n, "category", categories...) }},
		{name: "retryable", is: wordFlag, doc: "Whether a call that ended so is tried again, where the tool declares retry.", without: "true for resource_exhausted and timeout, false for the others",
			read: func(p *parser, n *node, x *Exit) { x.Retryable = p.flag(n, "retryable") }},
	}}
}

func (p *parser) parseExits(n *node, c *Command) {
	if !p.isMap(n, "command.exits") {
		return
	}
	for _, e := range n.pairs {
		x := &Exit{Pos: e.key}
		if x.Code, _ = strconv.Atoi(e.name); !exitCode.MatchString(e.name) {
			p.report(e.key, "write a whole number from 0 to 255", "command.exits: %s is no exit code", quote(e.name))
		}
		owner := "command.exits." + e.name
		var places map[string]Pos
		if e.val.kind == nodeMap {
			places = walk(p, e.val, p.levels.exit, owner, e.val.pos, x)
		} else {
			x.Category = p.choice(e.val, owner, categories...)
		}
		may := x.Category == "resource_exhausted" || x.Category == "timeout"
		if at, said := places["retryable"]; !said {
			x.Retryable = may
		} else if x.Retryable && !may && x.Category != "" {
			p.report(at, "remove it: only resource_exhausted and timeout may pass when the call is made again", "%s: %s cannot be retryable", owner, x.Category)
		}
		c.Exits = append(c.Exits, x)
	}
}
