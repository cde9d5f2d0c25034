package schema

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/ambit-tools/ambit/runtime/wire"
)

// child returns a part of the schema.
func (s Schema) child(node any) Schema {
	object, _ := node.(map[string]any)
	return Schema{s.Root, object}
}

// Branches returns the branches of a union.
func (s Schema) Branches() []Schema {
	list, _ := s.Node["oneOf"].([]any)
	branches := make([]Schema, len(list))
	for i, node := range list {
		branches[i] = s.child(node).Resolve()
	}
	return branches
}

// tag returns the member by which the branches of a union are told apart, and
// its values.
func (s Schema) tag() (name string, values []string) {
	branches := s.Branches()
	if len(branches) == 0 {
		return "", nil
	}
	for _, name := range slices.Sorted(slices.Values(branches[0].Names())) {
		values = nil
		for _, b := range branches {
			properties, _ := b.Node["properties"].(map[string]any)
			value, ok := b.child(properties[name]).Resolve().Node["const"].(string)
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

// Is says that a value of the schema may be of a type.
func (s Schema) Is(name string) bool {
	switch t := s.Node["type"].(type) {
	case string:
		return t == name
	case []any:
		return slices.Contains(t, any(name))
	}
	return true
}

// Below returns the schemas of the values at one part of a pointer; none when no value
// has it.
func (s Schema) Below(name string) []Schema {
	s = s.Resolve()
	var all []Schema
	branches := s.Branches()
	for _, b := range branches {
		all = append(all, b.Below(name)...)
	}
	if len(branches) > 0 {
		return all
	}
	if properties, ok := s.Node["properties"].(map[string]any); ok && properties[name] != nil && s.Is("object") {
		return []Schema{s.child(properties[name])}
	}
	if s.Is("object") && s.Node["additionalProperties"] != false {
		all = append(all, s.child(s.Node["additionalProperties"]))
	}
	if name == AnyIndex && s.Is("array") {
		prefix, _ := s.Node["prefixItems"].([]any)
		for _, node := range append(prefix[:len(prefix):len(prefix)], s.Node["items"]) {
			if node != false {
				all = append(all, s.child(node))
			}
		}
	}
	i, err := strconv.Atoi(name)
	if err == nil && i >= 0 && strconv.Itoa(i) == name && s.Is("array") {
		prefix, _ := s.Node["prefixItems"].([]any)
		switch {
		case i < len(prefix):
			all = append(all, s.child(prefix[i]))
		case s.Node["items"] != false:
			all = append(all, s.child(s.Node["items"]))
		}
	}
	return all
}

// Leads says that a value of the schema may have something at a pointer.
func (s Schema) Leads(names []string) bool {
	if s.Node == nil || len(names) == 0 {
		return true
	}
	return slices.ContainsFunc(s.Below(names[0]), func(b Schema) bool { return b.Resolve().Leads(names[1:]) })
}

// maxIndex bounds the index of an element of which embed makes an array.
const maxIndex = 64

// embed returns values that have a value at a pointer and nothing else but what
// tells the branches of unions apart. There is one for each choice of branches.
func (s Schema) embed(names []string, value any) []any {
	if len(names) == 0 {
		return []any{value}
	}
	s = s.Resolve()
	if branches := s.Branches(); len(branches) > 0 {
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
	for _, b := range s.Below(names[0]) {
		for _, v := range b.embed(names[1:], value) {
			if i, err := strconv.Atoi(names[0]); err == nil && !s.Is("object") {
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

// Misfit returns how a value violates the schema at a pointer, nil when some value may
// have it there.
func (s Schema) Misfit(pointer string, names []string, value any) []wire.Violation {
	var found []wire.Violation
	for _, v := range s.embed(names, value) {
		text, err := json.Marshal(v)
		if err != nil {
			return nil
		}
		bad := slices.DeleteFunc(s.Violations(text), func(v wire.Violation) bool {
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
