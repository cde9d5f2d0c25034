package ir

import (
	"slices"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A compiler makes the table of one schema.
type compiler struct {
	b     *builder
	lib   *library
	at    site
	out   *wire.Schema
	nodes map[*dsl.Value]int
	// resources are those that nodes belong to, in the order of their ids.
	resources []*resource
	// same are the nodes of the same value that a node leads to: a loop of them has no end.
	same map[int][]int
	from map[int]*dsl.Value
	// anchors are the names of dynamic references.
	anchors   []string
	sensitive bool
	conflicts int          // that were looked for
	twin      map[int]bool // whether each branch of the oneOf of a node is there twice
}

// table is the table of a checked schema, or of what a composed one says besides its
// properties. Sensitive says that a part of the schema is x-sensitive.
func (b *builder) table(s *dsl.Schema, at site) (table *wire.Schema, sensitive bool) {
	if b.library == nil {
		b.library = newLibrary(b)
	}
	c := &compiler{b: b, lib: b.library, at: at, out: &wire.Schema{}, nodes: map[*dsl.Value]int{}, same: map[int][]int{}, from: map[int]*dsl.Value{}, twin: map[int]bool{}}
	if s.Composed {
		c.composed(s)
	} else {
		c.node(s.Document, s.Source)
	}
	c.bindAnchors()
	if c.refuseLoops() {
		c.refuseNever(s)
	}
	return c.out, c.sensitive
}

// node returns the number of the node of a schema.
func (c *compiler) node(d *dsl.Document, v *dsl.Value) int {
	if id, ok := c.nodes[v]; ok {
		return id
	}
	id := c.add(v)
	c.nodes[v] = id
	if v.Kind == dsl.ValueBool {
		c.out.Nodes[id-1].Never = !v.Bool
		return id
	}
	if c.b.inTables > maxInTables {
		return id // refused already
	}
	c.fill(id, d, v, v.Members)
	return id
}

// add appends an empty node.
func (c *compiler) add(v *dsl.Value) int {
	c.out.Nodes = append(c.out.Nodes, wire.Node{})
	id := len(c.out.Nodes)
	c.from[id] = v
	if c.b.inTables++; c.b.inTables == maxInTables+1 {
		c.b.errorf(v.Pos, "refer to fewer schemas from each, or let members and elements have types in Go between them",
			"checked schemas, each with all that it refers to, have more than %d parts", maxInTables)
	}
	return id
}

// maxInTables is how many nodes the tables of a declaration have in all. Each table holds what its schema
// refers to, so that a short file could fill the memory.
const maxInTables = 100_000

// composed makes the first node: what a type in Go does not say of an object. Its
// members have been checked by their types.
func (c *compiler) composed(s *dsl.Schema) {
	id := c.add(s.Source)
	var rest []*dsl.ValueMember
	open := get(s.Source, "patternProperties") != nil || get(s.Source, "unevaluatedProperties") != nil
	for _, m := range s.Source.Members {
		switch m.Name {
		case "properties":
			if open { // another keyword asks which members there are
				c.checked(id, m.Value)
			}
		case "additionalProperties":
			if open {
				rest = append(rest, m)
			}
		case "type", "minProperties", "maxProperties":
		default:
			rest = append(rest, m)
		}
	}
	c.fill(id, s.Document, s.Source, rest)
}

// checked enters members that their types have checked.
func (c *compiler) checked(id int, properties *dsl.Value) {
	if len(properties.Members) == 0 {
		return
	}
	any := c.add(properties)
	var parts []wire.Part
	for _, p := range properties.Members {
		parts = append(parts, wire.Part{Name: p.Name, Node: any})
	}
	c.out.Nodes[id-1].Properties = parts
}

// fill completes a node from keywords of the schema v.
func (c *compiler) fill(id int, d *dsl.Document, v *dsl.Value, keywords []*dsl.ValueMember) {
	s := c.lib.shelf(d)
	in := s.Resource(v)
	c.out.Nodes[id-1].Resource = c.resource(in)
	for _, m := range keywords {
		if m.Name == "x-sensitive" && m.Value.Bool {
			c.sensitive = true
		}
		if s.plain[in] && limits(m.Name) || s.annotates[in] && m.Name == "format" {
			continue
		}
		c.keyword(id, d, v, m)
	}
}

// limits reports whether a keyword is of the vocabulary that limits values.
func limits(keyword string) bool {
	switch keyword {
	case "type", "const", "enum", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength", "minLength", "pattern",
		"maxItems", "minItems", "uniqueItems", "maxContains", "minContains", "maxProperties", "minProperties", "required", "dependentRequired":
		return true
	}
	return false
}

// resource returns the id of a resource.
func (c *compiler) resource(r *resource) int {
	if i := slices.Index(c.resources, r); i >= 0 {
		return i + 1
	}
	c.resources = append(c.resources, r)
	return len(c.resources)
}

// keyword enters one keyword that holds no schema, or asks parts to.
func (c *compiler) keyword(id int, d *dsl.Document, v *dsl.Value, m *dsl.ValueMember) {
	if c.parts(id, d, v, m) {
		return
	}
	n := &c.out.Nodes[id-1]
	switch w := m.Value; m.Name {
	case "$schema":
		if !c.lib.knows(d, v, w.Text) {
			c.b.errorf(w.Pos, "write https://json-schema.org/draft/2020-12/schema, or the $id of a meta-schema in $defs", "$schema: dialect %q is not known", w.Text)
		}
	case "type":
		n.Types = typesOf(w)
	case "enum":
		n.Enum = c.texts(w.Items)
	case "const":
		n.Enum, n.Const = c.texts([]*dsl.Value{w}), true
	case "minimum":
		n.Minimum = c.number(w)
	case "maximum":
		n.Maximum = c.number(w)
	case "exclusiveMinimum":
		n.ExclusiveMinimum = c.number(w)
	case "exclusiveMaximum":
		n.ExclusiveMaximum = c.number(w)
	case "multipleOf":
		n.MultipleOf = c.number(w)
	case "minLength", "maxLength":
		c.count(&n.Length, m)
	case "minItems", "maxItems":
		c.count(&n.Items, m)
	case "minContains", "maxContains":
		c.count(&n.Contain, m)
	case "minProperties", "maxProperties":
		c.count(&n.Members, m)
	case "pattern":
		n.Pattern = c.pattern(w.Text, w.Pos)
	case "format":
		n.Format, _ = wire.ParseFormat(w.Text)
	case "uniqueItems":
		n.Unique = w.Bool
	case "required":
		n.Required = names(w)
	case "dependentRequired":
		for _, need := range w.Members {
			n.Needs = append(n.Needs, wire.Need{Name: need.Name, Required: names(need.Value)})
		}
	}
}

// parts enters a keyword that holds schemas; it reports false for another. A node is
// looked up again after each schema: the table may have moved.
func (c *compiler) parts(id int, d *dsl.Document, v *dsl.Value, m *dsl.ValueMember) bool {
	one := map[string]func(n *wire.Node) *int{
		"items": func(n *wire.Node) *int { return &n.Rest }, "contains": func(n *wire.Node) *int { return &n.Contains },
		"additionalProperties": func(n *wire.Node) *int { return &n.Additional }, "propertyNames": func(n *wire.Node) *int { return &n.Names },
		"not": func(n *wire.Node) *int { return &n.Not }, "if": func(n *wire.Node) *int { return &n.If },
		"then": func(n *wire.Node) *int { return &n.Then }, "else": func(n *wire.Node) *int { return &n.Else },
		"unevaluatedProperties": func(n *wire.Node) *int { return &n.UnevaluatedMembers },
		"unevaluatedItems":      func(n *wire.Node) *int { return &n.UnevaluatedItems },
	}
	if field := one[m.Name]; field != nil {
		if (m.Name == "then" || m.Name == "else") && get(v, "if") == nil {
			return true // says nothing
		}
		part := c.node(d, m.Value)
		*field(&c.out.Nodes[id-1]) = part
		switch m.Name {
		case "not", "if", "then", "else":
			c.same[id] = append(c.same[id], part)
		}
		return true
	}
	switch m.Name {
	case "allOf", "anyOf", "oneOf", "prefixItems":
		c.list(id, d, m)
	case "properties", "patternProperties", "dependentSchemas", "dependencies":
		c.byName(id, d, m)
	case "$ref", "$dynamicRef":
		c.reference(id, d, v, m)
	default:
		return false
	}
	return true
}

// list enters a keyword that holds a list of schemas.
func (c *compiler) list(id int, d *dsl.Document, m *dsl.ValueMember) {
	var all []int
	for _, item := range m.Value.Items {
		all = append(all, c.node(d, item))
	}
	n := &c.out.Nodes[id-1]
	switch m.Name {
	case "allOf":
		n.All = append(n.All, all...)
	case "anyOf":
		n.Any = all
	case "oneOf":
		n.One = all
	default:
		n.Prefix = all
		return
	}
	c.same[id] = append(c.same[id], all...)
}

// byName enters a keyword that holds a schema for each name.
func (c *compiler) byName(id int, d *dsl.Document, m *dsl.ValueMember) {
	var all []wire.Part
	for _, p := range m.Value.Members {
		if p.Value.Kind == dsl.ValueArray { // of dependencies
			n := &c.out.Nodes[id-1]
			n.Needs = append(n.Needs, wire.Need{Name: p.Name, Required: names(p.Value)})
			continue
		}
		all = append(all, wire.Part{Name: p.Name, Node: c.node(d, p.Value)})
	}
	switch m.Name {
	case "properties":
		c.out.Nodes[id-1].Properties = all
	case "dependentSchemas", "dependencies":
		n := &c.out.Nodes[id-1]
		n.Dependencies = append(n.Dependencies, all...)
		for _, p := range all {
			c.same[id] = append(c.same[id], p.Node)
		}
	default:
		for _, p := range all {
			pattern := c.pattern(p.Name, m.Value.Pos)
			if pattern != nil {
				n := &c.out.Nodes[id-1]
				n.Patterns = append(n.Patterns, wire.PatternPart{Pattern: pattern, Node: p.Node})
			}
		}
	}
}

// reference enters $ref or $dynamicRef. A node has one reference: of two, the second is
// another schema that has to fit.
func (c *compiler) reference(id int, d *dsl.Document, v *dsl.Value, m *dsl.ValueMember) {
	doc, to := c.lib.find(d, v, m.Value)
	if to == nil {
		return
	}
	target := c.node(doc, to)
	anchor := ""
	if name := get(to, "$dynamicAnchor"); m.Name == "$dynamicRef" && name != nil && isFragment(m.Value.Text, name.Text) {
		anchor = name.Text
		c.anchors = append(c.anchors, anchor)
	}
	own := id
	if c.out.Nodes[id-1].Ref > 0 {
		own = c.add(v)
		c.out.Nodes[own-1].Resource = c.out.Nodes[id-1].Resource
		n := &c.out.Nodes[id-1]
		n.All = append(n.All, own)
		c.same[id] = append(c.same[id], own)
	}
	c.out.Nodes[own-1].Ref, c.out.Nodes[own-1].Anchor = target, anchor
	c.same[own] = append(c.same[own], target)
}
