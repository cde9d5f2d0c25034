package runtime

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ambit-tools/ambit/runtime/wire"
)

// obligationRedact is the obligation that the executor meets itself.
const obligationRedact = "redact_output"

// A redaction is the args of a redact_output obligation.
type redaction struct{ pointers []string }

// redactionRule returns what such args must be.
func redactionRule() *wire.ObjectRule {
	return &wire.ObjectRule{Names: []string{"pointers"}, Required: 1}
}

// ReadMember reads the member that there is.
func (v *redaction) ReadMember(r *wire.Reader, _ string) {
	wire.ReadArray(r, &v.pointers, &wire.ArrayRule{Has: wire.Min, Min: 1}, wire.ReadString, &wire.StringRule{})
}

// redactions returns the places that a redact_output obligation masks.
func redactions(o Obligation) ([]pointer, error) {
	args, violations := wire.Decode[redaction](o.Args, wire.Limits{}, redactionRule())
	if violations != nil {
		return nil, fmt.Errorf("its args are not {\"pointers\": [...]}: %s", violationList(violations))
	}
	places := make([]pointer, 0, len(args.pointers))
	for _, text := range args.pointers {
		p, err := parsePointer(text)
		if err != nil {
			return nil, err
		}
		places = append(places, p)
	}
	return places, nil
}

// redactable says why the output of the call cannot be redacted as o wants it.
func (c *call) redactable(o Obligation) error {
	places, err := redactions(o)
	if err != nil {
		return err
	}
	for _, p := range places {
		if c.tool.place(p) == placeNone {
			return fmt.Errorf("the output of %q has nothing at %q: use pointers that its schema declares", c.record.tool, p)
		}
	}
	return nil
}

// redact masks the members of the output that the policy wants masked. When one
// of them is not there, and the schema does not say that it may be absent, it may
// be there under another name: then the output is withheld.
func (c *call) redact(out wire.Raw) (wire.Raw, error) {
	masked := out
	for _, o := range c.obligations {
		if o.Code != obligationRedact {
			continue
		}
		places, err := redactions(o)
		if err != nil { // bound has refused the call for this
			return pointer{}.mask(out), err
		}
		for _, p := range places {
			if s, err := p.find(out); (err != nil || s.start == s.end) && c.tool.place(p) != placeDeclared {
				return pointer{}.mask(out), fmt.Errorf(
					"obligation redact_output %s: there is nothing at %q in the output, which is withheld therefore", at(o.At), p)
			}
			masked = p.mask(masked)
		}
	}
	return masked, nil
}

// What a schema says of a place in a value.
const (
	placeNone     = iota // nothing is ever there
	placeOpen            // something may be there under this name, or under others
	placeDeclared        // it is declared; when it is not there it is absent
)

// place says what the schema of the tool's output says of a place.
func (t *Tool) place(p pointer) int {
	if s := t.spec.OutputSchema; s == nil || *s == "" { // only the handler knows
		return placeOpen
	}
	root := t.outputs()
	if root == nil {
		return placeNone
	}
	return root.place(root, p, maxDepth)
}

// A schema is what matters of a JSON Schema to find out which places a value has.
type schema struct {
	Ref        string             `json:"$ref"`
	Defs       map[string]*schema `json:"$defs"`
	Type       any                `json:"type"`
	Properties map[string]*schema `json:"properties"`
	Additional *schema            `json:"additionalProperties"`
	Items      *schema            `json:"items"`
	Prefix     []*schema          `json:"prefixItems"`
	OneOf      []*schema          `json:"oneOf"`
	AnyOf      []*schema          `json:"anyOf"`
	AllOf      []*schema          `json:"allOf"`

	none bool // the schema false
}

var errSchema = errors.New("a schema is an object or a boolean")

// UnmarshalJSON reads a schema, which may be a boolean.
func (s *schema) UnmarshalJSON(text []byte) error {
	type plain schema
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

// parseSchema parses a schema, nil when it is none.
func parseSchema(text string) *schema {
	s := &schema{}
	if err := json.Unmarshal([]byte(text), s); err != nil {
		return nil
	}
	return s
}

// place says what s, a part of root, says of a place. Refs are followed for some
// steps only, as they may lead back.
func (s *schema) place(root *schema, p pointer, steps int) (best int) {
	switch {
	case s == nil:
		return placeOpen
	case s.none || steps == 0:
		return placeNone
	case len(p) == 0:
		return placeDeclared
	case s.Ref != "":
		name := strings.NewReplacer("~1", "/", "~0", "~").Replace(strings.TrimPrefix(s.Ref, "#/$defs/"))
		if s.Ref == "#" {
			return root.place(root, p, steps-1)
		}
		if def := root.Defs[name]; def != nil {
			return def.place(root, p, steps-1)
		}
		return placeNone
	}
	branches := append(append(append([]*schema(nil), s.OneOf...), s.AnyOf...), s.AllOf...)
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
func (s *schema) is(name string) bool {
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
func (s *schema) member(root *schema, p pointer, steps int) int {
	if m, ok := s.Properties[p[0]]; ok {
		return m.place(root, p[1:], steps)
	}
	return min(s.Additional.place(root, p[1:], steps), placeOpen)
}

// element is place for what is in an array. An element that is not there is
// nowhere else.
func (s *schema) element(root *schema, p pointer, steps int) int {
	i, err := strconv.Atoi(p[0])
	if err != nil || i < 0 || strconv.Itoa(i) != p[0] {
		return placeNone
	}
	if i < len(s.Prefix) {
		return s.Prefix[i].place(root, p[1:], steps)
	}
	return s.Items.place(root, p[1:], steps)
}
