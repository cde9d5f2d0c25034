package dsl

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/internal/jsonschema"
)

// resolveRefs gives every $ref its target.
func (p *parser) resolveRefs() {
	for _, ref := range p.refs {
		kind, name, ok := strings.Cut(strings.TrimPrefix(ref.schema.Ref, "#/"), "/")
		var from map[string]*NamedSchema
		switch {
		case !strings.HasPrefix(ref.schema.Ref, "#/") || !ok || kind != "types" && kind != "$defs":
			p.report(ref.at, `write "#/types/NAME" or "#/$defs/NAME"`, "$ref: %s is not supported yet", quote(ref.schema.Ref))
			continue
		case kind == "types":
			from = p.types
		default:
			from = ref.root.defs
		}
		if ref.schema.Target = from[name]; ref.schema.Target == nil {
			hint := guess(p, name, from)
			if kind == "$defs" && p.types[name] != nil {
				hint = "write #/types/" + name
			} else if kind == "types" && ref.root.defs[name] != nil {
				hint = "write #/$defs/" + name
			} else if hint == "" {
				hint = "declare it under " + kind
			}
			p.report(ref.at, hint, "$ref: %s is not declared", quote(ref.schema.Ref))
		}
	}
}

// resolveChecked reports references of checked schemas to types that are not declared, and checks the form of what a
// pointer leads to that no keyword holds, such as a default. For all else package gen resolves them.
func (p *parser) resolveChecked() {
	indexes := make(map[*node]*jsonschema.Index[*node])
	index := func(root *node) *jsonschema.Index[*node] {
		if indexes[root] == nil {
			indexes[root] = jsonschema.NewIndex(nodes{}, root)
		}
		return indexes[root]
	}
	seen := make(map[*node]bool)
	var visit func(n *node, x *jsonschema.Index[*node])
	visit = func(n *node, x *jsonschema.Index[*node]) {
		if n.kind != nodeMap || seen[n] {
			return
		}
		seen[n] = true
		if ref := n.get("$ref"); ref != nil && ref.kind == nodeString {
			in, from, text := x, n, ref.text
			if rest, ok := strings.CutPrefix(text, "#/types/"); ok && x.Resource(n) == x.Resources[0] {
				name, rest, _ := strings.Cut(rest, "/")
				named := p.root.get("types").get(name)
				if named != nil {
					in, from, text = index(named), named, "#/"+rest
				} else if m := refText.FindStringSubmatch(ref.text); m != nil && x.Resources[0].Root.get("$id") == nil {
					p.report(ref.pos, cmp.Or(guess(p, name, p.types), "declare it under types"), "$ref: %s is not declared", quote(ref.text))
				}
			}
			if to, err := in.Find(from, text); err == nil && (to.kind == nodeMap || to.kind == nodeBool) && !in.IsSchema(to) && !seen[to] {
				p.checkedPart(to, "the schema of "+quote(ref.text))
				visit(to, in)
			}
		}
		for _, part := range schemasIn(n) {
			visit(part, x)
		}
	}
	for _, w := range p.checked {
		visit(w.node, index(w.root.node))
	}
}

// cutLoops refuses references that lead back to themselves without a value in
// between, and cuts them so that nothing later runs in circles.
func (p *parser) cutLoops() {
	done := make(map[*Schema]bool)
	for _, ref := range p.refs {
		onPath := make(map[*Schema]bool)
		for s := ref.schema; s.Target != nil && !done[s]; s = s.Target.Schema {
			if onPath[s] {
				p.report(s.Keys["$ref"], "say what the value is: an object, an array, ...",
					"$ref: %s leads back to itself", quote(s.Ref))
				s.Target = nil
				break
			}
			onPath[s] = true
		}
		for s := range onPath {
			done[s] = true
		}
	}
}

// findTag finds the member that tells the branches of a oneOf apart: required in
// each, with a const string that no other branch has.
func (p *parser) findTag(s *Schema) {
	if len(s.OneOf) == 0 {
		return
	}
	for _, branch := range s.OneOf {
		if b := branch.base(); b == nil || b.Type != TypeObject {
			return // refused already
		}
	}
	for _, candidate := range s.OneOf[0].base().Properties {
		if tells(s, candidate.Name) {
			s.Tag = candidate.Name
			return
		}
	}
	p.report(s.Keys["oneOf"], "give every branch a required member of type string with a const of its own", "oneOf: no member tells the branches apart")
}

// fixedText is the const string of a member, or nil.
func fixedText(m *Property) *Value {
	if m == nil {
		return nil
	}
	if t := m.Schema.base(); t != nil && t.Const != nil && t.Const.Kind == ValueString {
		return t.Const
	}
	return nil
}

// tells reports whether the member has a different required const in every branch.
func tells(s *Schema, name string) bool {
	seen := make(map[string]bool)
	for _, branch := range s.OneOf {
		value := branch.tagValue(name)
		if value == nil || value.Text == "" || seen[value.Text] {
			return false
		}
		seen[value.Text] = true
	}
	return true
}

// tagValue returns the required const string of a member, or nil.
func (s *Schema) tagValue(name string) *Value {
	b := s.base()
	if !b.requires(name) {
		return nil
	}
	return fixedText(b.property(name))
}

// checkFinite refuses types of which no finite value exists, because their
// required members lead back to them.
func (p *parser) checkFinite() {
	finite := make(map[*NamedSchema]bool)
	all := p.allNamed()
	for changed := true; changed; {
		changed = false
		slices.Reverse(all) // a long chain is short from its other end
		for _, t := range all {
			if !finite[t] && t.Schema.finite(finite) {
				finite[t], changed = true, true
			}
		}
	}
	for _, t := range all {
		if !finite[t] && t.Schema.needs(t, finite, make(map[*NamedSchema]bool)) {
			p.report(t.Pos, `make the member that leads back optional, let it be null, or put it into an array`,
				"type %s has no finite value: its required members lead back to it", quote(t.Name))
		}
	}
}

// allNamed lists every type that a reference leads to.
func (p *parser) allNamed() []*NamedSchema {
	var out []*NamedSchema
	seen := make(map[*NamedSchema]bool)
	for _, ref := range p.refs {
		if t := ref.schema.Target; t != nil && !seen[t] {
			seen[t] = true
			out = append(out, t)
		}
	}
	return out
}

// finite reports whether a finite value exists, given what is known of named types.
func (s *Schema) finite(known map[*NamedSchema]bool) bool {
	if s.Ref != "" {
		return s.Target == nil || known[s.Target]
	}
	if s.Nullable {
		return true
	}
	if s.OneOf != nil {
		for _, branch := range s.OneOf {
			if branch.finite(known) {
				return true
			}
		}
		return false
	}
	for _, part := range s.parts() {
		if !part.finite(known) {
			return false
		}
	}
	return true
}

// needs reports whether every value of s contains a value of t.
func (s *Schema) needs(t *NamedSchema, known, seen map[*NamedSchema]bool) bool {
	if s.Ref != "" {
		if s.Target == nil || s.Target == t {
			return s.Target != nil
		}
		if known[s.Target] || seen[s.Target] {
			return false
		}
		seen[s.Target] = true
		return s.Target.Schema.needs(t, known, seen)
	}
	if s.Nullable {
		return false
	}
	for _, part := range append(s.parts(), s.OneOf...) {
		if part.needs(t, known, seen) {
			return true
		}
	}
	return false
}

// parts are the schemas of the values that every value of s contains.
func (s *Schema) parts() []*Schema {
	out := append([]*Schema(nil), s.PrefixItems...)
	if s.Items != nil && s.MinItems != nil && *s.MinItems > 0 {
		out = append(out, s.Items)
	}
	for _, prop := range s.Properties {
		if s.requires(prop.Name) {
			out = append(out, prop.Schema)
		}
	}
	return out
}
