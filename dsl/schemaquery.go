package dsl

import "slices"

// The methods of this file accept nil, which stands for a schema that was refused.

// base follows references to the schema that says what the value is; nil when
// one of them leads nowhere.
func (s *Schema) base() *Schema {
	for s != nil && s.Ref != "" {
		if s.Target == nil {
			return nil
		}
		s = s.Target.Schema
	}
	return s
}

// property returns the named member, or nil.
func (s *Schema) property(name string) *Property {
	if s == nil {
		return nil
	}
	for _, prop := range s.Properties {
		if prop.Name == name {
			return prop
		}
	}
	return nil
}

func (s *Schema) propertyNames() []string {
	var out []string
	if s != nil {
		for _, prop := range s.Properties {
			out = append(out, prop.Name)
		}
	}
	return out
}

func (s *Schema) requires(name string) bool { return slices.Contains(s.Required, name) }

// sensitive reports whether the schema or what it refers to is x-sensitive.
func (s *Schema) sensitive() bool {
	for s != nil {
		if s.Sensitive {
			return true
		}
		if s.Target == nil {
			return false
		}
		s = s.Target.Schema
	}
	return false
}

// describedBy returns the description of the schema or of what it refers to.
func (s *Schema) describedBy() string {
	for s != nil {
		if s.Description != "" || s.Target == nil {
			return s.Description
		}
		s = s.Target.Schema
	}
	return ""
}
