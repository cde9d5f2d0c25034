package opa

import (
	"net/url"
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/runtime/wire"
)

// maxReferences bounds a chain of references, which may be a loop.
const maxReferences = 16

// A schema is a decoded JSON Schema, or a part of one that root resolves.
type schema struct {
	root, node map[string]any
}

// member returns the schema of a member, and whether a valid value always has
// it, as far as the schema tells. ok is false when the schema does not declare
// the member; closed says that it rules it out.
func (s schema) member(name string) (m schema, required, ok, closed bool) {
	s = s.resolve()
	properties, _ := s.node["properties"].(map[string]any)
	node, found := properties[name].(map[string]any)
	if !found {
		return schema{}, false, false, s.node["additionalProperties"] == false && !s.composed()
	}
	list, told := s.node["required"].([]any)
	return schema{s.root, node}, !told || slices.Contains(list, any(name)), true, false
}

// element returns the schema of what an array or a map holds at any place.
func (s schema) element() (schema, bool) {
	s = s.resolve()
	if node, ok := s.node["items"].(map[string]any); ok {
		return schema{s.root, node}, true
	}
	node, ok := s.node["additionalProperties"].(map[string]any)
	return schema{s.root, node}, ok && s.node["properties"] == nil
}

// names returns the members that the schema declares.
func (s schema) names() []string {
	properties, _ := s.resolve().node["properties"].(map[string]any)
	names := make([]string, 0, len(properties))
	for name := range properties {
		names = append(names, name)
	}
	return names
}

// composed says that other keywords may declare members too.
func (s schema) composed() bool {
	for _, keyword := range []string{"oneOf", "anyOf", "allOf", "if", "patternProperties"} {
		if _, ok := s.node[keyword]; ok {
			return true
		}
	}
	return false
}

// resolve follows references inside the document.
func (s schema) resolve() schema {
	for range maxReferences {
		ref, ok := s.node["$ref"].(string)
		if !ok {
			return s
		}
		text, err := url.PathUnescape(strings.TrimPrefix(ref, "#"))
		if err != nil {
			return schema{}
		}
		keys, err := wire.ParsePointer(text)
		if err != nil {
			return schema{}
		}
		node := s.root
		for _, key := range keys {
			node, _ = node[key].(map[string]any)
		}
		s.node = node
	}
	return schema{}
}

// at follows a ground path of member names; optional says that one of them may be absent.
func (s schema) at(names []string) (m schema, optional, ok bool) {
	m = s
	for _, name := range names {
		next, required, found, _ := m.member(name)
		if !found {
			return schema{}, false, false
		}
		m, optional = next, optional || !required
	}
	return m.resolve(), optional, m.node != nil
}

// values returns the closed set of values that the schema allows, or nil.
func (s schema) values() []any {
	if value, ok := s.node["const"]; ok {
		return []any{value}
	}
	values, _ := s.node["enum"].([]any)
	return values
}

// requires says that a valid value always has a member.
func (s schema) requires(name string) bool {
	list, _ := s.resolve().node["required"].([]any)
	return slices.Contains(list, any(name))
}

// namesAt returns the members that the schema declares at a pointer.
func (s schema) namesAt(names []string) (all []string) {
	if len(names) > 0 {
		for _, b := range s.below(names[0]) {
			all = append(all, b.namesAt(names[1:])...)
		}
		return all
	}
	s = s.resolve()
	for _, b := range s.branches() {
		all = append(all, b.names()...)
	}
	return append(all, s.names()...)
}

// anyIndex stands for the index of an element in a path.
const anyIndex = "[]"
