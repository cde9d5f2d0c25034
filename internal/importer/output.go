package importer

import (
	"slices"

	"github.com/ambit-tools/ambit/internal/importer/normalize"
	"github.com/ambit-tools/ambit/internal/jsonschema"
)

// behind is the member behind which an output stands that may be no object.
const behind = "result"

// output writes what a source says of an output, and reports whether a declaration can say it; nil where the source says
// nothing. An object stays open: a server may answer with more tomorrow. What may be an array, a text or another
// value stands behind a member, since an output is an object here.
func (r *run) output(t sourceTool) (*jsonschema.Value, bool) {
	at := t.at.Get("outputSchema")
	if at == nil || at.Is(jsonschema.Null) || at.IsTrue() {
		return nil, true
	}
	s := at.Clone()
	kinds := newOutputs(at)
	o := normalize.Options{Open: true, Value: at.Is(jsonschema.Object) && (!kinds.onlyObjects(at) || kinds.onlyNull(at))}
	if !r.schema(t, s, o) {
		return nil, false
	}
	if !o.Value {
		return s, true
	}
	r.note(t, at, OutputBehind, "the output may be no object: it stands behind the member %s", behind)
	if mentions(s, "$dynamicRef") {
		s = jsonschema.NewObject(at)
		r.note(t, at, Output, "what $dynamicRef leads to is not known behind a member: any value")
	}
	out := jsonschema.NewObject(at)
	out.Set("type", jsonschema.NewString("object", at))
	defs := s.Get("$defs")
	s.Delete("$defs")
	if !s.Has("description") {
		text := jsonschema.NewString(behind, at)
		text.Comment = normalize.Filled
		s.Members = slices.Insert(s.Members, min(1, len(s.Members)), &jsonschema.Member{Name: "description", Value: text})
	}
	members := jsonschema.NewObject(at)
	members.Set(behind, s)
	out.Set("properties", members)
	out.Set("required", jsonschema.NewArray(at, jsonschema.NewString(behind, at)))
	out.Set("additionalProperties", jsonschema.NewBool(true, at))
	if defs != nil {
		out.Set("$defs", defs)
	}
	return out, true
}

func mentions(v *jsonschema.Value, keyword string) bool {
	return v.Has(keyword) || slices.ContainsFunc(v.Items, func(v *jsonschema.Value) bool { return mentions(v, keyword) }) ||
		slices.ContainsFunc(v.Members, func(m *jsonschema.Member) bool { return mentions(m.Value, keyword) })
}

// outputs finds out what kind of values the schemas of an output take. It remembers each schema: references lead to one on many
// ways, and in circles.
type outputs struct {
	index         *jsonschema.Index[*jsonschema.Value]
	objects, null map[*jsonschema.Value]bool
}

func newOutputs(root *jsonschema.Value) *outputs {
	return &outputs{jsonschema.NewIndex(jsonschema.Values{}, root), map[*jsonschema.Value]bool{}, map[*jsonschema.Value]bool{}}
}

// onlyObjects reports whether the values of a schema of an output are objects, or null. A schema that says nothing, or names
// members without a type, was meant so by those who wrote it, before outputs could be anything else.
func (o *outputs) onlyObjects(s *jsonschema.Value) bool {
	return remembered(o.objects, s, true, o.findOnlyObjects)
}

// remembered returns the answer about a schema, which find finds once. otherwise is the answer about a schema that is no
// object, or that leads back to itself.
func remembered(known map[*jsonschema.Value]bool, s *jsonschema.Value, otherwise bool, find func(*jsonschema.Value) bool) bool {
	if !s.Is(jsonschema.Object) {
		return otherwise
	}
	answer, found := known[s]
	if !found {
		known[s] = otherwise
		answer = find(s)
		known[s] = answer
	}
	return answer
}

func (o *outputs) findOnlyObjects(s *jsonschema.Value) bool {
	below := o.onlyObjects
	if t := s.Get("type"); t != nil {
		types := t.Items
		if t.Is(jsonschema.String) {
			types = []*jsonschema.Value{t}
		}
		return !slices.ContainsFunc(types, func(t *jsonschema.Value) bool { return !t.IsText("object") && !t.IsText("null") })
	}
	values := s.Get("enum")
	if c := s.Get("const"); c != nil {
		values = jsonschema.NewArray(c, c)
	}
	if values.Is(jsonschema.Array) {
		return !slices.ContainsFunc(values.Items, func(v *jsonschema.Value) bool { return !v.Is(jsonschema.Object) && !v.Is(jsonschema.Null) })
	}
	for _, name := range []string{"properties", "required", "additionalProperties", "patternProperties", "unevaluatedProperties", "minProperties", "maxProperties"} {
		if s.Has(name) {
			return true
		}
	}
	says := false
	if ref := s.Get("$ref"); ref.Is(jsonschema.String) {
		says = true
		if to, err := o.index.Find(s, ref.Text); err != nil || below(to) {
			return true
		}
	}
	if all := s.Get("allOf"); all.Is(jsonschema.Array) && len(all.Items) > 0 {
		says = true
		if slices.ContainsFunc(all.Items, below) {
			return true
		}
	}
	for _, name := range []string{"anyOf", "oneOf"} {
		if list := s.Get(name); list.Is(jsonschema.Array) && len(list.Items) > 0 {
			says = true
			if !slices.ContainsFunc(list.Items, func(v *jsonschema.Value) bool { return !below(v) }) {
				return true
			}
		}
	}
	return !says && !slices.ContainsFunc([]string{"items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems", "pattern", "format", "minLength", "maxLength",
		"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}, s.Has)
}

// onlyNull reports whether null is the only value of a schema of an output.
func (o *outputs) onlyNull(s *jsonschema.Value) bool {
	return remembered(o.null, s, false, o.findOnlyNull)
}

func (o *outputs) findOnlyNull(s *jsonschema.Value) bool {
	below := o.onlyNull
	other := func(v *jsonschema.Value) bool { return !v.Is(jsonschema.Null) }
	list := func(name string) []*jsonschema.Value {
		if v := s.Get(name); v.Is(jsonschema.Array) {
			return v.Items
		}
		return nil
	}
	if t := s.Get("type"); t.IsText("null") || len(list("type")) == 1 && list("type")[0].IsText("null") || s.Get("const").Is(jsonschema.Null) {
		return true
	}
	if values := list("enum"); len(values) > 0 && !slices.ContainsFunc(values, other) || slices.ContainsFunc(list("allOf"), below) {
		return true
	}
	if ref := s.Get("$ref"); ref.Is(jsonschema.String) {
		if to, err := o.index.Find(s, ref.Text); err == nil && below(to) {
			return true
		}
	}
	for _, name := range []string{"anyOf", "oneOf"} {
		if branches := list(name); len(branches) > 0 && !slices.ContainsFunc(branches, func(v *jsonschema.Value) bool { return !below(v) }) {
			return true
		}
	}
	return false
}
