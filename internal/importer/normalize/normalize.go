// Package normalize writes a JSON Schema as a declaration takes it. A change keeps the set
// of accepted values or narrows it, and is named: [Schema] guesses nothing.
package normalize

import (
	"fmt"
	"slices"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/internal/jsonschema"
)

// Options say how far a schema may be changed.
type Options struct {
	// Open keeps objects open that say nothing about other members.
	Open bool
	// Arguments: the schema is of the input of a tool.
	Arguments bool
	// Value: the schema is of any value, not of an object.
	Value bool
}

// A Change is one change of a schema.
type Change struct {
	Kind    Kind
	At      *jsonschema.Value // the node of the source
	Text    string
	Narrows bool
}

// A Fault is why a schema cannot be taken.
type Fault struct {
	At            *jsonschema.Value
	Message, Hint string
}

// Schema rewrites the schema root in place and returns what it changed, in the order of
// the source. The fault is nil unless the schema refers to what is not in it, or is of a
// draft that is not known.
func Schema(root *jsonschema.Value, o Options) ([]Change, *Fault) {
	w := &work{Options: o, root: root, exact: map[*jsonschema.Value]bool{}, part: map[*jsonschema.Value]bool{}, closing: map[*jsonschema.Value]closing{}}
	if !root.Is(jsonschema.Object) {
		return nil, &Fault{root, "the schema of a tool must be an object", "write {\"type\": \"object\"}"}
	}
	if f := w.dialect(); f != nil {
		return nil, f
	}
	w.translate(root)
	if f := w.recursion(); f != nil {
		return nil, f
	}
	if f := w.references(); f != nil {
		return nil, f
	}
	if o.Arguments || root.Has("properties") && !o.Value {
		w.rootType()
	}
	if w.dynamic && isObject(root) && mentions(root, "unevaluatedProperties") {
		return nil, &Fault{root, "unevaluatedProperties may count what the root says, which $dynamicRef leads to", "say additionalProperties or unevaluatedProperties at the root"}
	}
	w.onlyObject()
	w.seen(root)
	w.places(root, w.dynamic)
	for _, def := range members(root, "$defs") {
		w.node(def.Value)
	}
	w.node(root)
	w.onlyObject()
	w.describe(root)
	return ordered(w.changes), nil
}

type work struct {
	Options
	root    *jsonschema.Value
	draft   dsl.Draft
	says    bool                          // the schema names its draft
	dynamic bool                          // it has $dynamicRef
	exact   map[*jsonschema.Value]bool    // see places
	part    map[*jsonschema.Value]bool    // see partOf: whether a reference leads there
	closing map[*jsonschema.Value]closing // see close
	changes []Change
}

func (w *work) note(kind Kind, at *jsonschema.Value, format string, args ...any) {
	narrows := slices.ContainsFunc(Kinds(), func(k KindInfo) bool { return k.Kind == kind && k.Narrows })
	w.changes = append(w.changes, Change{Kind: kind, At: at, Text: fmt.Sprintf(format, args...), Narrows: narrows})
}

// ordered are changes by their place, those of one place as they were made. What changed in
// a copy of a schema as well is named once.
func ordered(changes []Change) []Change {
	type said struct {
		kind          Kind
		pointer, text string
	}
	seen := map[said]bool{}
	changes = slices.DeleteFunc(changes, func(c Change) bool {
		key := said{c.Kind, c.At.Pointer, c.Text}
		twice := seen[key]
		seen[key] = true
		return twice
	})
	slices.SortStableFunc(changes, func(a, b Change) int {
		if d := a.At.Pos.Line - b.At.Pos.Line; d != 0 {
			return d
		}
		return a.At.Pos.Col - b.At.Pos.Col
	})
	return changes
}

// members are the members of an object inside of s; none when s has no such object.
func members(s *jsonschema.Value, key string) []*jsonschema.Member {
	if v := s.Get(key); v.Is(jsonschema.Object) {
		return v.Members
	}
	return nil
}

// rootType writes the type of arguments, which are always an object.
func (w *work) rootType() {
	for _, key := range []string{"type", "$ref", "anyOf", "oneOf", "allOf", "enum", "const"} {
		if w.root.Has(key) {
			return
		}
	}
	w.root.Members = slices.Insert(w.root.Members, 0, &jsonschema.Member{Name: "type", Value: jsonschema.NewString("object", w.root)})
	w.note(TypeAdded, w.root, "type: object: arguments are an object")
}

// onlyObject leaves object of a list of types at the root: what tools take and return is one. Beside
// values that are listed a declaration has no type of objects.
func (w *work) onlyObject() {
	if w.Value {
		return
	}
	t := w.root.Get("type")
	if t.IsText("object") && (w.root.Has("enum") || w.root.Has("const")) {
		w.root.Delete("type")
		w.note(NoEffect, t, "type removed: what a tool takes and returns is an object")
	}
	if !t.Is(jsonschema.Array) {
		return
	}
	if i := slices.IndexFunc(t.Items, func(v *jsonschema.Value) bool { return v.IsText("object") }); i >= 0 {
		w.root.Set("type", t.Items[i])
		w.note(TypeAdded, t, "type: object: what a tool takes and returns is an object")
	}
}

// node rewrites a schema after those inside of it, but for the $defs.
func (w *work) node(s *jsonschema.Value) {
	if !s.Is(jsonschema.Object) {
		return
	}
	for key, sub := range subschemas(s) {
		if key != "$defs" {
			w.node(sub)
		}
	}
	w.annotations(s)
	for w.spelling(s) {
	}
	w.values(s)
	w.arrays(s)
	w.bounds(s)
	w.object(s)
	w.tags(s)
}
