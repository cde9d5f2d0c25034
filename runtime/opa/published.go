package opa

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/ambit-tools/ambit/runtime/wire"
)

// child returns a part of the schema.
func (s schema) child(node any) schema {
	object, _ := node.(map[string]any)
	return schema{s.root, object}
}

// branches returns the branches of a union.
func (s schema) branches() []schema {
	list, _ := s.node["oneOf"].([]any)
	branches := make([]schema, len(list))
	for i, node := range list {
		branches[i] = s.child(node).resolve()
	}
	return branches
}

// tag returns the member by which the branches of a union are told apart, and
// its values.
func (s schema) tag() (name string, values []string) {
	branches := s.branches()
	if len(branches) == 0 {
		return "", nil
	}
	for _, name := range slices.Sorted(slices.Values(branches[0].names())) {
		values = nil
		for _, b := range branches {
			properties, _ := b.node["properties"].(map[string]any)
			value, ok := b.child(properties[name]).resolve().node["const"].(string)
			if !ok || slices.Contains(values, value) {
				break
			}
			values = append(values, value)
		}
		if len(values) == len(branches) {
			return name, values
		}
	}
	return "", nil
}

// is says that a value of the schema may be of a type.
func (s schema) is(name string) bool {
	switch t := s.node["type"].(type) {
	case string:
		return t == name
	case []any:
		return slices.Contains(t, any(name))
	}
	return true
}

// below returns the schemas of the values at one part of a pointer; none when no value
// has it.
func (s schema) below(name string) []schema {
	s = s.resolve()
	var all []schema
	branches := s.branches()
	for _, b := range branches {
		all = append(all, b.below(name)...)
	}
	if len(branches) > 0 {
		return all
	}
	if properties, ok := s.node["properties"].(map[string]any); ok && properties[name] != nil && s.is("object") {
		return []schema{s.child(properties[name])}
	}
	if s.is("object") && s.node["additionalProperties"] != false {
		all = append(all, s.child(s.node["additionalProperties"]))
	}
	if name == anyIndex && s.is("array") {
		prefix, _ := s.node["prefixItems"].([]any)
		for _, node := range append(prefix[:len(prefix):len(prefix)], s.node["items"]) {
			if node != false {
				all = append(all, s.child(node))
			}
		}
	}
	i, err := strconv.Atoi(name)
	if err == nil && i >= 0 && strconv.Itoa(i) == name && s.is("array") {
		prefix, _ := s.node["prefixItems"].([]any)
		switch {
		case i < len(prefix):
			all = append(all, s.child(prefix[i]))
		case s.node["items"] != false:
			all = append(all, s.child(s.node["items"]))
		}
	}
	return all
}

// leads says that a value of the schema may have something at a pointer.
func (s schema) leads(names []string) bool {
	if s.node == nil || len(names) == 0 {
		return true
	}
	return slices.ContainsFunc(s.below(names[0]), func(b schema) bool { return b.resolve().leads(names[1:]) })
}

// maxIndex bounds the index of an element of which embed makes an array.
const maxIndex = 64

// embed returns values that have a value at a pointer and nothing else but what
// tells the branches of unions apart. There is one for each choice of branches.
func (s schema) embed(names []string, value any) []any {
	if len(names) == 0 {
		return []any{value}
	}
	s = s.resolve()
	if branches := s.branches(); len(branches) > 0 {
		var all []any
		tag, values := s.tag()
		for i, b := range branches {
			for _, v := range b.embed(names, value) {
				if object, ok := v.(map[string]any); ok && tag != "" && object[tag] == nil {
					object[tag] = values[i]
				}
				all = append(all, v)
			}
		}
		return all
	}
	var all []any
	for _, b := range s.below(names[0]) {
		for _, v := range b.embed(names[1:], value) {
			if i, err := strconv.Atoi(names[0]); err == nil && !s.is("object") {
				if i > maxIndex {
					return nil
				}
				list := make([]any, i+1)
				list[i] = v
				all = append(all, list)
			} else {
				all = append(all, map[string]any{names[0]: v})
			}
		}
	}
	return all
}

// misfit returns how a value violates the schema at a pointer, nil when some value may
// have it there.
func (s schema) misfit(pointer string, names []string, value any) []wire.Violation {
	var found []wire.Violation
	for _, v := range s.embed(names, value) {
		text, err := json.Marshal(v)
		if err != nil {
			return nil
		}
		bad := slices.DeleteFunc(s.violations(text), func(v wire.Violation) bool {
			return v.Pointer != pointer && !strings.HasPrefix(v.Pointer, pointer+"/")
		})
		if len(bad) == 0 {
			return nil
		}
		if found == nil {
			found = bad
		}
	}
	return found
}
