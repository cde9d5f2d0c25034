package redact

import (
	"encoding/json"
	"errors"
	"strconv"

	"github.com/ambit-tools/ambit/internal/jsonschema"
	"github.com/ambit-tools/ambit/runtime/internal/jsonedit"
)

// A Place is what a schema says of a place in a value.
type Place int

// The places, from the one about which a schema says least.
const (
	PlaceNone     Place = iota // nothing is ever there
	PlaceOpen                  // something may be there under this name, or under others
	PlaceDeclared              // it is declared; when it is not there it is absent
)

// A Schema is what matters of a JSON Schema to find out which places a value has.
type Schema struct {
	Ref        string             `json:"$ref"`
	Defs       map[string]*Schema `json:"$defs"`
	Type       any                `json:"type"`
	Properties map[string]*Schema `json:"properties"`
	Additional *Schema            `json:"additionalProperties"`
	Items      *Schema            `json:"items"`
	Prefix     []*Schema          `json:"prefixItems"`
	OneOf      []*Schema          `json:"oneOf"`
	AnyOf      []*Schema          `json:"anyOf"`
	AllOf      []*Schema          `json:"allOf"`
	Patterns   map[string]*Schema `json:"patternProperties"`

	none bool // the schema false
}

var errSchema = errors.New("a schema is an object or a boolean")

// UnmarshalJSON reads a schema, which may be a boolean.
func (s *Schema) UnmarshalJSON(text []byte) error {
	type plain Schema
	switch {
	case string(text) == "true":
		return nil
	case string(text) == "false":
		s.none = true
		return nil
	case text[0] != '{':
		return errSchema
	}
	return json.Unmarshal(text, (*plain)(s))
}

// ParseSchema parses a JSON Schema; nil when the text is none.
func ParseSchema(text string) *Schema {
	s := &Schema{}
	if err := json.Unmarshal([]byte(text), s); err != nil {
		return nil
	}
	return s
}

// Place says what s says of the place to which p leads.
func (s *Schema) Place(p jsonedit.Pointer) Place { return s.place(s, p, maxSteps) }

// maxSteps bounds the schemas on the way to a place, as refs may form a circle.
const maxSteps = 128

// place says what s, a part of root, says of a place. Refs are followed for some
// steps only, as they may lead back.
func (s *Schema) place(root *Schema, p jsonedit.Pointer, steps int) (best Place) {
	switch {
	case s == nil:
		return PlaceOpen
	case s.none || steps == 0:
		return PlaceNone
	case len(p) == 0:
		return PlaceDeclared
	case s.Ref != "":
		switch to, ok := jsonschema.Pointer(s.Ref); {
		case ok && len(to) == 0:
			return root.place(root, p, steps-1)
		case len(to) == 2 && to[0] == "$defs" && root.Defs[to[1]] != nil:
			return root.Defs[to[1]].place(root, p, steps-1)
		}
		return PlaceOpen
	}
	branches := append(append(append([]*Schema(nil), s.OneOf...), s.AnyOf...), s.AllOf...)
	for _, branch := range branches {
		best = max(best, branch.place(root, p, steps-1))
	}
	if len(branches) > 0 && s.Type == nil {
		return best
	}
	if s.is("object") {
		best = max(best, s.member(root, p, steps-1))
	}
	if s.is("array") {
		best = max(best, s.element(root, p, steps-1))
	}
	return best
}

// is reports whether a value may have a type.
func (s *Schema) is(name string) bool {
	switch t := s.Type.(type) {
	case string:
		return t == name
	case []any:
		for _, one := range t {
			if one == name {
				return true
			}
		}
		return false
	}
	return true
}

// member is place for what is in an object.
func (s *Schema) member(root *Schema, p jsonedit.Pointer, steps int) Place {
	if m, ok := s.Properties[p[0]]; ok {
		return m.place(root, p[1:], steps)
	}
	if len(s.Patterns) > 0 {
		return PlaceOpen
	}
	return min(s.Additional.place(root, p[1:], steps), PlaceOpen)
}

// element is place for what is in an array. An element that is not there is
// nowhere else.
func (s *Schema) element(root *Schema, p jsonedit.Pointer, steps int) Place {
	i, err := strconv.Atoi(p[0])
	if err != nil || i < 0 || strconv.Itoa(i) != p[0] {
		return PlaceNone
	}
	if i < len(s.Prefix) {
		return s.Prefix[i].place(root, p[1:], steps)
	}
	return s.Items.place(root, p[1:], steps)
}
