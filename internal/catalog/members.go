package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A Member is a place in the input or the output of a tool.
type Member struct {
	Path     string // such as address.street, lines[] for the items of lines, and labels.* for members of any name
	Type     string
	Required bool
	Text     string   // the description
	Bounds   []string // such as "at least 1"
}

// What is told of a schema: types that contain themselves, or each other many times, would not end.
const (
	maxDepth   = 8
	maxMembers = 500
)

// Members lists what a published JSON Schema says of the members of an object, in its order. More says that
// there are more than are listed.
func Members(schema string) (list []Member, more bool, err error) {
	root, err := parse(json.RawMessage(schema))
	if err != nil {
		return nil, false, err
	}
	w := walk{defs: map[string]json.RawMessage{}}
	if defs, ok := root["$defs"]; ok {
		if err := json.Unmarshal(defs, &w.defs); err != nil {
			return nil, false, err
		}
	}
	w.below("", root, nil)
	return w.list, w.more, w.err
}

// A node is the keywords of one schema.
type node map[string]json.RawMessage

func parse(schema json.RawMessage) (n node, err error) {
	if string(schema) == "true" {
		return nil, nil
	}
	err = json.Unmarshal(schema, &n)
	return n, err
}

// A walk goes through a schema, and collects what it comes by.
type walk struct {
	defs map[string]json.RawMessage
	list []Member
	more bool
	err  error // the first
}

// add lists a member, and what is below it. The names are those of the types that it is in.
func (w *walk) add(path string, required bool, schema json.RawMessage, in []string) {
	n, err := parse(schema)
	if err != nil {
		w.err = err
	}
	if w.err != nil {
		return
	}
	if len(w.list) == maxMembers {
		w.more = true
		return
	}
	n, name := w.resolve(n)
	m := Member{Path: path, Type: typeOf(n, name), Required: required, Text: text(n["description"]), Bounds: bounds(n)}
	w.list = append(w.list, m)
	switch {
	case slices.Contains(in, name) && name != "":
		return // told above
	case len(in) == maxDepth:
		w.more = w.more || len(n["properties"]) > 0 || len(n["items"]) > 0
		return
	}
	w.below(path, n, append(slices.Clone(in), name))
}

// below lists the members and items of a schema.
func (w *walk) below(path string, n node, in []string) {
	var required []string
	if r, ok := n["required"]; ok {
		if err := json.Unmarshal(r, &required); err != nil {
			w.err = err
			return
		}
	}
	prefix := path
	if prefix != "" {
		prefix += "."
	}
	names, members, err := ordered(n["properties"])
	if err != nil {
		w.err = err
		return
	}
	for _, name := range names {
		w.add(prefix+name, slices.Contains(required, name), members[name], in)
	}
	if items := n["items"]; isSchema(items) {
		w.add(path+"[]", false, items, in)
	}
	if other := n["additionalProperties"]; isSchema(other) {
		w.add(prefix+"*", false, other, in)
	}
}

// isSchema reports whether the value of a keyword is more than yes or no.
func isSchema(v json.RawMessage) bool { return bytes.HasPrefix(bytes.TrimSpace(v), []byte("{")) }

// resolve returns the schema that n refers to, under what it says beside the reference, and the type's name.
func (w *walk) resolve(n node) (node, string) {
	name, ok := strings.CutPrefix(text(n["$ref"]), "#/$defs/")
	if !ok {
		return n, ""
	}
	target, err := parse(w.defs[name])
	if err != nil {
		w.err = fmt.Errorf("type %s: %w", name, err)
		return n, name
	}
	out := node{}
	for _, from := range []node{target, n} {
		for keyword, v := range from {
			if keyword != "$ref" {
				out[keyword] = v
			}
		}
	}
	return out, name
}

// ordered returns the members of a JSON object in their order.
func ordered(object json.RawMessage) (names []string, members map[string]json.RawMessage, err error) {
	if object == nil {
		return nil, nil, nil
	}
	if err := json.Unmarshal(object, &members); err != nil {
		return nil, nil, err
	}
	d := json.NewDecoder(bytes.NewReader(object))
	d.Token() //nolint:errcheck // it is an object, as was found above
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, nil, err
		}
		names = append(names, name.(string))
		var skip json.RawMessage
		if err := d.Decode(&skip); err != nil {
			return nil, nil, err
		}
	}
	return names, members, nil
}

func text(v json.RawMessage) (s string) {
	json.Unmarshal(v, &s) //nolint:errcheck // what is no text is shown as none
	return s
}

// typeOf is the type of a schema, with its name when it has one.
func typeOf(n node, name string) string {
	var types []string
	if one := text(n["type"]); one != "" {
		types = []string{one}
	} else {
		json.Unmarshal(n["type"], &types) //nolint:errcheck // a schema without types takes any value
	}
	words := strings.Join(types, " or ")
	if words == "" {
		words = "any value"
		for _, keyword := range []string{"oneOf", "anyOf", "enum", "const"} {
			if _, ok := n[keyword]; ok {
				words = "one of several"
			}
		}
	}
	if name != "" {
		words += " (" + name + ")"
	}
	return words
}
