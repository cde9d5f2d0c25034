package normalize

import (
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/internal/importer/jsontree"
)

// A draft of JSON Schema, in the order of their publication.
type draft int

const (
	draft04 draft = iota + 1
	draft06
	draft07
	draft2019
	draft2020
)

var drafts = map[string]draft{
	"json-schema.org/draft-04/schema":      draft04,
	"json-schema.org/draft-06/schema":      draft06,
	"json-schema.org/draft-07/schema":      draft07,
	"json-schema.org/draft/2019-09/schema": draft2019,
	"json-schema.org/draft/2020-12/schema": draft2020,
}

// dialect reads and removes $schema. Without it a schema is of draft 2020-12, as the
// Model Context Protocol says.
func (w *work) dialect() *Fault {
	w.draft = draft2020
	said := w.root.Get("$schema")
	if said == nil {
		return nil
	}
	_, name, _ := strings.Cut(strings.TrimSuffix(said.Text, "#"), "://")
	d, ok := drafts[name]
	if !ok {
		return &Fault{said, "$schema names a draft that is not known: " + shown(said.Text), "write the schema in draft 2020-12, and remove $schema"}
	}
	w.draft = d
	w.root.Delete("$schema")
	w.note(Dialect, said, "$schema removed: %s", name)
	return nil
}

// translate writes what older drafts spell in another way. A schema without $schema may
// have such keywords as well, since most servers do not say which draft they mean.
func (w *work) translate(s *jsontree.Value) {
	for _, sub := range subschemas(s) {
		w.translate(sub)
	}
	w.translateNames(s)
	w.translateItems(s)
	w.translateBounds(s)
	w.translateRequired(s)
	if w.draft <= draft07 && s.Get("$ref").Is(jsontree.String) {
		w.refAlone(s)
	}
}

func (w *work) translateNames(s *jsontree.Value) {
	if id := s.Get("id"); w.draft == draft04 && id.Is(jsontree.String) && !s.Has("$id") {
		s.Rename("id", "$id")
		w.note(Draft, s, "id became $id")
	}
	if nested := s.Get("$schema"); nested.Is(jsontree.String) && s != w.root {
		if _, name, _ := strings.Cut(strings.TrimSuffix(nested.Text, "#"), "://"); drafts[name] == w.draft {
			s.Delete("$schema")
			w.note(Dialect, nested, "$schema removed: it says what the root says")
		}
	}
	if ref := s.Get("$recursiveRef"); ref.IsText("#") && !s.Has("$ref") {
		// One schema without resources of its own: the reference leads to its root.
		s.Rename("$recursiveRef", "$ref")
		w.note(Draft, ref, "$recursiveRef became $ref")
	}
	if s.Has("$recursiveAnchor") {
		s.Delete("$recursiveAnchor")
		w.note(Draft, s, "$recursiveAnchor removed: the schema has one root")
	}
	w.translateDependencies(s)
}

func (w *work) translateDependencies(s *jsontree.Value) {
	deps := s.Get("dependencies")
	if !deps.Is(jsontree.Object) {
		return
	}
	required, schemas := jsontree.NewObject(deps), jsontree.NewObject(deps)
	for _, m := range deps.Members {
		if m.Value.Is(jsontree.Array) {
			required.Members = append(required.Members, m)
		} else {
			schemas.Members = append(schemas.Members, m)
		}
	}
	if s.Has("dependentRequired") || s.Has("dependentSchemas") {
		return
	}
	s.Delete("dependencies")
	if len(required.Members) > 0 {
		s.Set("dependentRequired", required)
	}
	if len(schemas.Members) > 0 {
		s.Set("dependentSchemas", schemas)
	}
	w.note(Draft, deps, "dependencies became dependentRequired and dependentSchemas")
}

func (w *work) translateItems(s *jsontree.Value) {
	items, rest := s.Get("items"), s.Get("additionalItems")
	switch {
	case items.Is(jsontree.Array) && !s.Has("prefixItems"):
		s.Rename("items", "prefixItems")
		if rest != nil {
			s.Rename("additionalItems", "items")
		}
		if len(items.Items) == 0 {
			s.Delete("prefixItems")
		}
		w.note(Draft, items, "items with a list became prefixItems")
	case rest != nil && w.draft < draft2020:
		s.Delete("additionalItems")
		w.note(Draft, rest, "additionalItems removed: it has no effect without a list of items")
	}
}

func (w *work) translateBounds(s *jsontree.Value) {
	for _, b := range [][2]string{{"exclusiveMinimum", "minimum"}, {"exclusiveMaximum", "maximum"}} {
		flag := s.Get(b[0])
		if !flag.Is(jsontree.Bool) {
			continue
		}
		s.Delete(b[0])
		if flag.Bool && s.Has(b[1]) {
			s.Rename(b[1], b[0])
		}
		w.note(Draft, flag, "%s with a boolean translated", b[0])
	}
}

// translateRequired moves required: true of a member, as draft 3 writes it, to the object.
func (w *work) translateRequired(s *jsontree.Value) {
	for _, m := range members(s, "properties") {
		flag := m.Value.Get("required")
		if !flag.Is(jsontree.Bool) {
			continue
		}
		m.Value.Delete("required")
		w.note(Draft, flag, "required with a boolean moved to the object")
		if !flag.Bool {
			continue
		}
		list := s.Get("required")
		if list == nil {
			list = jsontree.NewArray(s)
			s.Set("required", list)
		}
		if list.Is(jsontree.Array) && !slices.ContainsFunc(list.Items, func(v *jsontree.Value) bool { return v.IsText(m.Name) }) {
			list.Items = append(list.Items, jsontree.NewString(m.Name, flag))
		}
	}
}

// refAlone removes what stands beside a reference: drafts before 2019-09 ignore it.
func (w *work) refAlone(s *jsontree.Value) {
	for _, name := range s.Names() {
		switch name {
		case "$ref", "title", "description", "definitions", "$defs":
			continue
		}
		at := s.Get(name)
		s.Delete(name)
		w.note(Reference, at, "%s beside $ref removed: the draft ignores it", name)
	}
}
