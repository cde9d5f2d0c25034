package ir

import (
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/runtime"
)

// The input document of a policy is described to OPA's type checker, which
// knows less than 2020-12 and is wrong about some of it (OPA 1.22):
//   - oneOf makes a value of any type, so a union is an object with the
//     members of all its branches;
//   - a type array is known by its first entry: ["string", "null"] is a plain
//     string to it, so a policy finds out about null by is_null;
//   - a union of which the branches have no tag is anyOf, and what no type says is any value;
//   - $ref is resolved at the root of the document, so $defs stand there;
//   - prefixItems is unknown, so a tuple is written as draft 7 did;
//   - the members of a map are not looked at.

// object7 is an object whose members are all required, as the checker is told.
func object7(members ...member) object {
	names := make([]string, len(members))
	for i, m := range members {
		names[i] = m.name
	}
	return object{{"type", "object"}, {"properties", object(members)}, {"required", list(names)}, {"additionalProperties", false}}
}

func typed(name string) object { return object{{"type", name}} }

func listOf(elem object) object { return object{{"type", "array"}, {"items", elem}} }

func mapOf(elem object) object { return object{{"type", "object"}, {"additionalProperties", elem}} }

// setNames are the names that all tools of a file use together.
type setNames struct{ modes, capabilities []string }

func namesOf(f *dsl.File) setNames {
	var n setNames
	for _, t := range f.Tools {
		n.capabilities = append(n.capabilities, t.Capabilities...)
		for _, m := range t.Modes {
			n.modes = append(n.modes, m.Name)
		}
	}
	slices.Sort(n.modes)
	slices.Sort(n.capabilities)
	n.modes, n.capabilities = slices.Compact(n.modes), slices.Compact(n.capabilities)
	return n
}

// commandSchema is the part of the input document that only tools with a command have.
func commandSchema() object {
	text := typed("string")
	return object7(
		member{"program", text}, member{"argv", listOf(text)}, member{"dir", text}, member{"env", listOf(text)},
		member{"network", object{{"type", "string"}, {"enum", list(commandNetworks)}}},
		member{"tier", object{{"type", "string"}, {"enum", list(commandTiers)}}},
		member{"script", text},
	)
}

var (
	commandNetworks = []string{runtime.NetworkNone.String(), runtime.NetworkLoopback.String()}
	commandTiers    = []string{runtime.TierSandbox.String(), runtime.TierProcess.String()}
)

// envelopeSchema is the input document of policies about all tools.
func envelopeSchema(n setNames) object {
	return inputSchema(n, object{}).optional("command", commandSchema())
}

// inputSchema is the input document; args is its part for the arguments.
func inputSchema(n setNames, args object) object {
	text, flag, count := typed("string"), typed("boolean"), typed("integer")
	members := func(names []string, value object) object {
		var o object
		for _, name := range names {
			o.set(name, value)
		}
		if o == nil {
			return mapOf(value) // the checker takes an object without properties for one with any
		}
		return object7(o...)
	}
	input := object7(
		member{"tool", object7(
			member{"name", text}, member{"version", text},
			member{"effect", object{{"type", "string"}, {"enum", list([]string{"read", "write", "destructive"})}}},
			member{"idempotent", flag}, member{"deterministic", flag},
			member{"capabilities", listOf(text)}, member{"behaviors", listOf(text)},
		)},
		member{"args", args},
		member{"behavior", text},
		member{"modes", members(n.modes, text)},
		member{"principal", object7(member{"id", text}, member{"capabilities", members(n.capabilities, flag)})},
		member{"session", object7(member{"id", text})},
		member{"run", object7(member{"id", text}, member{"counts", mapOf(count)}, member{"succeeded", mapOf(flag)})},
		member{"call", object7(member{"id", text})},
		member{"now_ns", count},
	)
	by := object7(member{"id", text}, member{"groups", listOf(text)}, member{"method", text})
	return input.optional("undo", object7(member{"by", by}))
}

// optional returns o, the schema of an object, with one more property, which may be absent.
func (o object) optional(name string, schema object) object {
	for i, m := range o {
		if properties, ok := m.value.(object); ok && m.name == "properties" {
			o[i].value = append(properties, member{name, schema})
		}
	}
	return o
}

// require returns o, the schema of an object, in which one more property is required.
func (o object) require(name string) object {
	for i, m := range o {
		if names, ok := m.value.([]any); ok && m.name == "required" {
			o[i].value = append(names, name)
		}
	}
	return o
}

// policySchema describes the input document of one tool's policies.
func policySchema(f *dsl.File, n setNames, t *dsl.Tool) []byte {
	input := t.Input
	d := newDocument(f, input, (*document).visible)
	if input == nil {
		input = &dsl.Schema{Type: dsl.TypeObject, Closed: true}
	}
	root := inputSchema(n, d.visible(input))
	if t.Command != nil {
		root = root.optional("command", commandSchema()).require("command")
	}
	root.setIf(len(d.defs) > 0, "$defs", d.defs)
	return pretty(root)
}

// visible renders one node as the checker sees it.
func (d *document) visible(s *dsl.Schema) object {
	if s.Ref != "" {
		return object{{"$ref", "#/$defs/" + escapePointer(d.define(s.Target))}}
	}
	switch {
	case s.Any:
		return object{}
	case s.OrNull != nil:
		return object{{"anyOf", withNull(s, d.visible(s.OrNull))}}
	case s.Checked:
		return roughly(s.Source)
	case s.ByType:
		branches := make([]object, len(s.OneOf))
		for i, branch := range s.OneOf {
			branches[i] = d.visible(branch)
		}
		return object{{"anyOf", withNullAt(s, branches)}}
	case len(s.OneOf) > 0 && !s.Composed:
		return d.merged(s)
	}
	var o object
	if s.Nullable {
		o.set("type", []any{string(s.Type), "null"})
	} else {
		o.set("type", string(s.Type))
	}
	switch s.Type {
	case dsl.TypeObject:
		var properties object
		for _, p := range s.Properties {
			properties.set(p.Name, d.visible(p.Schema))
		}
		o.setIf(len(properties) > 0, "properties", properties)
		o.set("required", list(present(s))) // for the lints of runtime/opa: the checker passes over it
		o.setIf(s.Closed && !opens(s), "additionalProperties", false)
		if s.Additional != nil && len(properties) == 0 {
			o.set("additionalProperties", d.visible(s.Additional))
		}
	case dsl.TypeArray:
		switch {
		case len(s.PrefixItems) > 0:
			items := make([]any, len(s.PrefixItems))
			for i, item := range s.PrefixItems {
				items[i] = d.visible(item)
			}
			o.set("items", items)
		case s.Items != nil:
			o.set("items", d.visible(s.Items))
		}
	default:
		o.setIf(s.Enum != nil, "enum", enumValues(s))
		if s.Const != nil {
			o.set("enum", []any{s.Const})
		}
	}
	return o
}

// present names the members that a decoded object always has.
func present(s *dsl.Schema) []string {
	names := slices.Clone(s.Required)
	for _, p := range s.Properties {
		if (&Field{Schema: p.Schema}).Default() != nil && !slices.Contains(names, p.Name) {
			names = append(names, p.Name)
		}
	}
	return names
}

// merged is a union as one object. Its tag lists the values of all branches; any
// other member that they describe differently may have any value.
func (d *document) merged(s *dsl.Schema) object {
	var properties object
	var tags []any
	var required []string // by every branch
	closed := true        // every branch
	for i, branch := range s.OneOf {
		for branch.Ref != "" {
			branch = branch.Target.Schema
		}
		closed = closed && branch.Closed
		always := present(branch)
		if i == 0 {
			required = always
		}
		required = slices.DeleteFunc(slices.Clone(required), func(name string) bool { return !slices.Contains(always, name) })
		for _, p := range branch.Properties {
			seen := slices.IndexFunc(properties, func(m member) bool { return m.name == p.Name })
			if p.Name == s.Tag {
				tags = append(tags, p.Schema.Const)
			}
			switch schema := d.visible(p.Schema); {
			case seen < 0:
				properties.set(p.Name, schema)
			case p.Name == s.Tag:
			case string(compact(properties[seen].value)) != string(compact(schema)):
				properties[seen].value = object{}
			}
		}
	}
	if i := slices.IndexFunc(properties, func(m member) bool { return m.name == s.Tag }); i >= 0 {
		properties[i].value = object{{"type", "string"}, {"enum", tags}}
	}
	o := object{{"type", "object"}, {"properties", properties}, {"required", list(required)}}
	o.setIf(closed, "additionalProperties", false)
	return o
}

// declaredData is what policies read as data.ambit.declared.
func declaredData(p *Package, f *dsl.File, n setNames) []byte {
	var tools, reasons object
	for _, t := range p.Tools {
		tools.set(t.Decl.Name, declaredTool(t))
	}
	for _, r := range f.Reasons {
		reasons.set(r.Code, strings.TrimSpace(r.Description))
	}
	return pretty(object{
		{"set", f.Package},
		{"modes", list(n.modes)},
		{"capabilities", list(n.capabilities)},
		{"reasons", reasons},
		{"tools", tools},
	})
}

func declaredTool(t *Tool) object {
	d := t.Decl
	o := object{{"effect", d.Effect}, {"capabilities", list(d.Capabilities)}}
	if len(d.Behaviors) > 0 {
		o.set("behaviors", flags(d.Behaviors))
	}
	var modes object
	for _, m := range d.Modes {
		modes.set(m.Name, flags(m.Values))
	}
	o.set("modes", modes)
	if d.Consent != nil {
		o.set("consent", consentObject(d.Consent))
	}
	if d.Alias != "" {
		o.set("alias", d.Alias)
	}
	if len(d.RenamedFrom) > 0 {
		o.set("renamed_from", list(d.RenamedFrom))
	}
	o.set("pin", t.Pin)
	return o
}

// publishedSchemas are the schemas of all tools with every constraint. The checks of
// policies hold constants against them: what OPA's type checker is told is simpler.
func publishedSchemas(p *Package, f *dsl.File) []byte {
	rough := func(s *dsl.Schema) object {
		d := newDocument(f, s, (*document).schema)
		d.rough = true
		return publishedObject(d, false)
	}
	var tools object
	for _, t := range p.Tools {
		tools.set(t.Decl.Name, object{{"input", rough(t.Decl.Input)}, {"output", rough(t.Decl.Output)}})
	}
	return pretty(tools)
}

// flags is a set as Rego looks things up in: a member per name, true.
func flags(names []string) object {
	var o object
	for _, name := range names {
		o.set(name, true)
	}
	return o
}

func consentObject(c *dsl.Consent) object {
	return object{
		{"ask", c.Ask}, {"message", c.Message}, {"approvers", list(c.Approvers)}, {"timeout", c.Timeout.String()},
		{"quorum", int64(c.Quorum)}, {"max_cover", c.MaxCover}, {"preview", c.Preview},
		{"allow_edit", c.AllowEdit}, {"allow_self", c.AllowSelf}, {"reveal", list(c.Reveal)},
	}
}
