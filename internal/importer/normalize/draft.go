package normalize

import (
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/internal/jsonschema"
)

// dialect reads and removes $schema. Without it a schema is of draft 2020-12, as the
// Model Context Protocol says.
func (w *work) dialect() *Fault {
	w.draft = dsl.Draft2020
	said := w.root.Get("$schema")
	if said == nil {
		return nil
	}
	d, ok := dsl.DraftOf(said.Text)
	if !ok {
		return &Fault{said, "$schema names a draft that is not known: " + shown(said.Text), "write the schema in draft 2020-12, and remove $schema"}
	}
	w.draft, w.says = d, true
	w.root.Delete("$schema")
	w.note(Dialect, said, "$schema removed: %s", strings.TrimSuffix(said.Text, "#"))
	return nil
}

// translate writes what older drafts spell in another way. A schema without $schema may
// have such keywords as well, since most servers do not say which draft they mean.
func (w *work) translate(s *jsonschema.Value) {
	w.ignored(s)
	for _, sub := range subschemas(s) {
		w.translate(sub)
	}
	w.translateNames(s)
	w.translateDependencies(s)
	w.translateItems(s)
	w.translateBounds(s)
	w.translateRequired(s)
	w.translateContains(s)
}

// ignored removes the keywords that the draft that the schema names does not have, or ignores
// beside a reference.
func (w *work) ignored(s *jsonschema.Value) {
	ref := s.Get("$ref").Is(jsonschema.String)
	for _, name := range s.Names() {
		at := s.Get(name)
		switch {
		case name == "contentSchema":
			s.Delete(name)
			w.note(KeywordDropped, at, "contentSchema removed: it says nothing about values")
		case w.says && !w.draft.Has(name):
			s.Delete(name)
			w.note(DraftUnknown, at, "%s removed: the draft that $schema names does not have it", name)
		case ref && !w.draft.BesideRef(name):
			s.Delete(name)
			w.note(Reference, at, "%s beside $ref removed: the draft ignores it", name)
		}
	}
}

func (w *work) translateNames(s *jsonschema.Value) {
	if id := s.Get("id"); w.draft == dsl.Draft04 && id.Is(jsonschema.String) && !s.Has("$id") {
		s.Rename("id", "$id")
		w.note(Draft, s, "id became $id")
	}
	if nested := s.Get("$schema"); nested.Is(jsonschema.String) && s != w.root {
		if d, _ := dsl.DraftOf(nested.Text); d == w.draft {
			s.Delete("$schema")
			w.note(Dialect, nested, "$schema removed: it says what the root says")
		}
	}
}

// older notes a keyword that is read as the last draft reads it that has it: a later one reads less
// in it, or nothing.
func (w *work) older(at *jsonschema.Value, last dsl.Draft, text string) {
	kind := Draft
	if w.draft > last {
		kind = OlderKeyword
	}
	w.note(kind, at, "%s", text)
}

// translateContains keeps what contains describes from counting for unevaluatedItems, where it did
// not before draft 2020-12.
func (w *work) translateContains(s *jsonschema.Value) {
	c := s.Get("contains")
	if c == nil || w.draft != dsl.Draft2019 || !mentions(w.root, "unevaluatedItems") {
		return
	}
	own := jsonschema.NewObject(c)
	for _, name := range []string{"contains", "minContains", "maxContains"} {
		if at := s.Get(name); at != nil {
			own.Set(name, at)
			s.Delete(name)
		}
	}
	twice := jsonschema.NewObject(c)
	twice.Set("not", jsonschema.NewObject(c))
	twice.Get("not").Set("not", own)
	and(s, twice)
	w.note(Draft, c, "contains stands below not twice: for unevaluatedItems it does not count in 2019-09")
}

// and adds a schema that has to fit as well.
func and(s, o *jsonschema.Value) {
	if all := s.Get("allOf"); all.Is(jsonschema.Array) {
		s.Set("allOf", jsonschema.NewArray(all, append(slices.Clone(all.Items), o)...))
		return
	}
	s.Set("allOf", jsonschema.NewArray(o, o))
}

func (w *work) translateDependencies(s *jsonschema.Value) {
	deps := s.Get("dependencies")
	if !deps.Is(jsonschema.Object) {
		return
	}
	required, schemas := jsonschema.NewObject(deps), jsonschema.NewObject(deps)
	for _, m := range deps.Members {
		if m.Value.Is(jsonschema.Array) {
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
	w.older(deps, dsl.Draft07, "dependencies became dependentRequired and dependentSchemas")
}

func (w *work) translateItems(s *jsonschema.Value) {
	items, rest := s.Get("items"), s.Get("additionalItems")
	switch {
	case items.Is(jsonschema.Array) && !s.Has("prefixItems"):
		s.Rename("items", "prefixItems")
		if rest != nil {
			s.Rename("additionalItems", "items")
		}
		if len(items.Items) == 0 {
			s.Delete("prefixItems")
		}
		w.note(Draft, items, "items with a list became prefixItems")
	case rest != nil && w.draft < dsl.Draft2020:
		s.Delete("additionalItems")
		w.note(Draft, rest, "additionalItems removed: it has no effect without a list of items")
	}
}

func (w *work) translateBounds(s *jsonschema.Value) {
	for _, b := range [][2]string{{"exclusiveMinimum", "minimum"}, {"exclusiveMaximum", "maximum"}} {
		flag := s.Get(b[0])
		if !flag.Is(jsonschema.Bool) {
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
func (w *work) translateRequired(s *jsonschema.Value) {
	for _, m := range members(s, "properties") {
		flag := m.Value.Get("required")
		if !flag.Is(jsonschema.Bool) {
			continue
		}
		m.Value.Delete("required")
		w.note(Draft, flag, "required with a boolean moved to the object")
		if !flag.Bool {
			continue
		}
		list := s.Get("required")
		if list == nil {
			list = jsonschema.NewArray(s)
			s.Set("required", list)
		}
		if list.Is(jsonschema.Array) && !slices.ContainsFunc(list.Items, func(v *jsonschema.Value) bool { return v.IsText(m.Name) }) {
			list.Items = append(list.Items, jsonschema.NewString(m.Name, flag))
		}
	}
}
