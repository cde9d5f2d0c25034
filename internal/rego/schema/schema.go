// Package schema answers questions about decoded JSON Schemas: which members a value
// has, of which kinds it is, and how a constant violates the schema at a place.
//
// It is a leaf, so that the reader of policy directories, the checks of policies/lint and
// the loader of runtime/opa share one view of the generated schemas.
package schema

import (
	"slices"

	"github.com/ambit-tools/ambit/internal/jsonschema"
)

// maxReferences bounds a chain of references, which may be a loop.
const maxReferences = 16

// A Schema is a part of a decoded JSON Schema: Node, whose references Root resolves.
type Schema struct {
	Root, Node map[string]any
}

// New returns a decoded JSON Schema as a whole.
func New(root map[string]any) Schema { return Schema{root, root} }

// Member returns the schema of a member, and whether a valid value always has
// it, as far as the schema tells. ok is false when the schema does not declare
// the member; closed says that it rules it out.
func (s Schema) Member(name string) (m Schema, required, ok, closed bool) {
	s = s.Resolve()
	properties, _ := s.Node["properties"].(map[string]any)
	node, found := properties[name].(map[string]any)
	if !found {
		return Schema{}, false, false, s.Node["additionalProperties"] == false && !s.composed()
	}
	list, told := s.Node["required"].([]any)
	return Schema{s.Root, node}, !told || slices.Contains(list, any(name)), true, false
}

// Element returns the schema of what an array or a map holds at any place.
func (s Schema) Element() (Schema, bool) {
	s = s.Resolve()
	if node, ok := s.Node["items"].(map[string]any); ok {
		return Schema{s.Root, node}, true
	}
	node, ok := s.Node["additionalProperties"].(map[string]any)
	return Schema{s.Root, node}, ok && s.Node["properties"] == nil
}

// Names returns the members that the schema declares.
func (s Schema) Names() []string {
	properties, _ := s.Resolve().Node["properties"].(map[string]any)
	names := make([]string, 0, len(properties))
	for name := range properties {
		names = append(names, name)
	}
	return names
}

// composed says that other keywords may declare members too.
func (s Schema) composed() bool {
	for _, keyword := range []string{"oneOf", "anyOf", "allOf", "if", "patternProperties"} {
		if _, ok := s.Node[keyword]; ok {
			return true
		}
	}
	return false
}

// Resolve follows references inside the document.
func (s Schema) Resolve() Schema {
	for range maxReferences {
		ref, ok := s.Node["$ref"].(string)
		if !ok {
			return s
		}
		keys, ok := jsonschema.Pointer(ref)
		if !ok {
			return Schema{}
		}
		node := s.Root
		for _, key := range keys {
			node, _ = node[key].(map[string]any)
		}
		s.Node = node
	}
	return Schema{}
}

// At follows a ground path of member names; optional says that one of them may be absent.
func (s Schema) At(names []string) (m Schema, optional, ok bool) {
	m = s
	for _, name := range names {
		next, required, found, _ := m.Member(name)
		if !found {
			return Schema{}, false, false
		}
		m, optional = next, optional || !required
	}
	return m.Resolve(), optional, m.Node != nil
}

// Values returns the closed set of values that the schema allows, or nil.
func (s Schema) Values() []any {
	if value, ok := s.Node["const"]; ok {
		return []any{value}
	}
	values, _ := s.Node["enum"].([]any)
	return values
}

// Requires says that a valid value always has a member.
func (s Schema) Requires(name string) bool {
	list, _ := s.Resolve().Node["required"].([]any)
	return slices.Contains(list, any(name))
}

// NamesAt returns the members that the schema declares at a pointer.
func (s Schema) NamesAt(names []string) (all []string) {
	if len(names) > 0 {
		for _, b := range s.Below(names[0]) {
			all = append(all, b.NamesAt(names[1:])...)
		}
		return all
	}
	s = s.Resolve()
	for _, b := range s.Branches() {
		all = append(all, b.Names()...)
	}
	return append(all, s.Names()...)
}

// AnyIndex stands for the index of an element in a path.
const AnyIndex = "[]"
