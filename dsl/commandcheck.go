package dsl

import (
	"slices"
)

// parseIsolation reads the tier of a tool.
func (p *parser) parseIsolation(n *node, t *Tool) {
	t.Isolation = p.choice(n, "isolation", tiers...)
	p.later(func() {
		if t.Command == nil {
			p.report(t.Keys["isolation"], "remove it, or declare command: a handler runs in the process of the agent",
				"isolation: tool %s has a handler, and isolation of handlers is not supported yet", quote(t.Name))
		}
	})
}

// tierOf resolves the tier of a command once the file is known.
func (p *parser) tierOf(t *Tool) {
	c, at := t.Command, t.Keys["isolation"]
	switch {
	case t.Isolation != "":
		c.Tier = t.Isolation
	case p.file.Isolation != "":
		c.Tier, at = p.file.Isolation, p.places["isolation"]
	default:
		c.Tier = defaultTier
	}
	if c.Tier == "process" && !p.file.Unboxed {
		p.report(at, "write unboxed: true at the top of the file, if commands may run without a box",
			"isolation: tool %s would run without a box, and the file does not say unboxed: true", quote(t.Name))
	}
}

// checkCommand checks what a command says together with its tool.
func (p *parser) checkCommand(t *Tool) {
	c := t.Command
	p.tierOf(t)
	p.checkStdin(t)
	for _, need := range []struct {
		key, capability string
		used            bool
	}{
		{"reads", "filesystem.read", len(c.Reads) > 0}, {"caches", "filesystem.cache", len(c.Caches) > 0}, {"network", "network.loopback", c.Network == "loopback"},
	} {
		if need.used && !slices.Contains(t.Capabilities, need.capability) {
			p.report(c.Keys[need.key], "add "+need.capability+" to capabilities", "command.%s: tool %s does not declare the capability %s", need.key, quote(t.Name), need.capability)
		}
	}
	if c.Tier == "process" {
		for _, key := range []string{"reads", "network"} {
			if at, said := c.Keys[key]; said {
				p.report(at, "remove it, or the tier", "command.%s: the tier process has no box that would hold it", key)
			}
		}
	}
	for _, v := range c.Caches {
		if slices.ContainsFunc(c.Env, func(e *Variable) bool { return e.Name == v.Name }) {
			p.report(v.Pos, "remove one of them", "command.caches: %s is set in env, too", v.Name)
		}
	}
	for _, key := range []string{"undo", "transactional", "reconcile"} {
		if at, said := t.Keys[key]; said {
			p.report(at, "remove it", "%s: on a command it is not supported yet", key)
		}
	}
	if t.Consent != nil && t.Consent.Preview {
		p.report(t.Consent.Pos, "remove preview", "consent.preview: on a command it is not supported yet")
	}
}

// checkStdin wants a member that is a string.
func (p *parser) checkStdin(t *Tool) {
	in := t.Input.base()
	if in == nil || t.Command.Stdin == "" {
		return
	}
	at := t.Command.Keys["stdin"]
	member := in.property(t.Command.Stdin)
	if member == nil {
		p.report(at, p.didYouMean(t.Command.Stdin, in.propertyNames()), "command.stdin: the input has no member %s", quote(t.Command.Stdin))
		return
	}
	if b := member.Schema.base(); b != nil && b.Type != TypeString {
		p.report(at, "name a member that is a string", "command.stdin: member %s is no string", quote(t.Command.Stdin))
	}
}

// commandOutput makes the output of a tool from the form of its command. Of json the declared output
// is all, of json_lines it is that of a line.
func (p *parser) commandOutput(t *Tool) {
	c := t.Command
	declared, said := t.Keys["output"]
	form := c.Pos
	if at, ok := c.Keys["output"]; ok {
		form = at
	}
	switch c.Output {
	case "json":
		if !said {
			p.report(form, "declare output, the schema of what the command writes", "command.output: json has no schema: tool %s declares no output", quote(t.Name))
		}
		return
	case "text", "lines":
		if said {
			p.report(declared, "remove it, or write command.output: json", "output: a command whose output is %s has one of its own", c.Output)
		}
	}
	p.later(func() { t.Output = formSchema(c.Output, form, t.Output) })
}

// formSchema is the output of a command of a form other than json, at the place where the form stands.
func formSchema(form string, at Pos, item *Schema) *Schema {
	one := func(name string, s *Schema, doc string) *Property {
		s.Pos, s.Description = at, doc
		return &Property{Name: name, Pos: at, Schema: s}
	}
	s := &Schema{Pos: at, Keys: map[string]Pos{}, Type: TypeObject, Closed: true}
	dropped := one("dropped", &Schema{Type: TypeInteger}, "How many lines were left out.")
	switch form {
	case "text":
		s.Properties = []*Property{
			one("stdout", &Schema{Type: TypeString}, "What the command wrote."),
			one("stderr", &Schema{Type: TypeString}, "What the command wrote to its standard error."),
			one("exit_code", &Schema{Type: TypeInteger}, "The exit code; -1 where a signal ended the command."),
			one("truncated", &Schema{Type: TypeBoolean}, "Whether a part in the middle was left out."),
			one("binary", &Schema{Type: TypeBoolean}, "Whether bytes that are no UTF-8 were replaced."),
		}
	case "lines":
		s.Properties = []*Property{one("lines", &Schema{Type: TypeArray, Items: &Schema{Pos: at, Type: TypeString}}, "The lines that the command wrote."), dropped}
	default:
		if item == nil {
			item = &Schema{Pos: at, Any: true}
		}
		s.Properties = []*Property{one("lines", &Schema{Type: TypeArray, Items: item}, "The values that the command wrote, one on each line."), dropped}
	}
	for _, prop := range s.Properties {
		s.Required = append(s.Required, prop.Name)
	}
	return s
}
