package importer

import (
	"net/url"
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/internal/importer/jsontree"
	"github.com/ambit-tools/ambit/internal/importer/normalize"
)

// behind is the member behind which an output stands that may be no object.
const behind = "result"

// output writes what a source says of an output, and reports whether a declaration can say it; nil where the source says
// nothing. An object stays open: a server may answer with more tomorrow. What may be an array, a text or another
// value stands behind a member, since an output is an object here.
func (r *run) output(t sourceTool) (*jsontree.Value, bool) {
	at := t.at.Get("outputSchema")
	if at == nil || at.Is(jsontree.Null) || at.IsTrue() {
		return nil, true
	}
	s := at.Clone()
	o := normalize.Options{Open: true, Value: at.Is(jsontree.Object) && !onlyObjects(at, at, 0)}
	if !r.schema(t, s, o) {
		return nil, false
	}
	if !o.Value {
		return s, true
	}
	r.note(t, at, OutputBehind, "the output may be no object: it stands behind the member %s", behind)
	if mentions(s, "$dynamicRef") {
		s = jsontree.NewObject(at)
		r.note(t, at, Output, "what $dynamicRef leads to is not known behind a member: any value")
	}
	out := jsontree.NewObject(at)
	out.Set("type", jsontree.NewString("object", at))
	defs := s.Get("$defs")
	s.Delete("$defs")
	if !s.Has("description") {
		text := jsontree.NewString(behind, at)
		text.Comment = normalize.Filled
		s.Members = slices.Insert(s.Members, min(1, len(s.Members)), &jsontree.Member{Name: "description", Value: text})
	}
	members := jsontree.NewObject(at)
	members.Set(behind, s)
	out.Set("properties", members)
	out.Set("required", jsontree.NewArray(at, jsontree.NewString(behind, at)))
	out.Set("additionalProperties", jsontree.NewBool(true, at))
	if defs != nil {
		out.Set("$defs", defs)
	}
	return out, true
}

func mentions(v *jsontree.Value, keyword string) bool {
	return v.Has(keyword) || slices.ContainsFunc(v.Items, func(v *jsontree.Value) bool { return mentions(v, keyword) }) ||
		slices.ContainsFunc(v.Members, func(m *jsontree.Member) bool { return mentions(m.Value, keyword) })
}

// maxReferences bounds how many schemas lead to one that is looked at.
const maxReferences = 50

// onlyObjects reports whether the values of a schema of an output are objects, or null. A schema that says nothing, or names
// members without a type, was meant so by those who wrote it, before outputs could be anything else.
func onlyObjects(root, s *jsontree.Value, depth int) bool {
	if !s.Is(jsontree.Object) || depth > maxReferences {
		return true
	}
	below := func(v *jsontree.Value) bool { return onlyObjects(root, v, depth+1) }
	if t := s.Get("type"); t != nil {
		types := t.Items
		if t.Is(jsontree.String) {
			types = []*jsontree.Value{t}
		}
		return !slices.ContainsFunc(types, func(t *jsontree.Value) bool { return !t.IsText("object") && !t.IsText("null") })
	}
	values := s.Get("enum")
	if c := s.Get("const"); c != nil {
		values = jsontree.NewArray(c, c)
	}
	if values.Is(jsontree.Array) {
		return !slices.ContainsFunc(values.Items, func(v *jsontree.Value) bool { return !v.Is(jsontree.Object) && !v.Is(jsontree.Null) })
	}
	for _, name := range []string{"properties", "required", "additionalProperties", "patternProperties", "unevaluatedProperties", "minProperties", "maxProperties"} {
		if s.Has(name) {
			return true
		}
	}
	says := false
	if ref := s.Get("$ref"); ref.Is(jsontree.String) {
		says = true
		pointer, local := strings.CutPrefix(ref.Text, "#")
		path, err := url.PathUnescape(pointer)
		if !local || err != nil || pointer != "" && pointer[0] != '/' || below(root.At(path)) {
			return true
		}
	}
	if all := s.Get("allOf"); all.Is(jsontree.Array) && len(all.Items) > 0 {
		says = true
		if slices.ContainsFunc(all.Items, below) {
			return true
		}
	}
	for _, name := range []string{"anyOf", "oneOf"} {
		if list := s.Get(name); list.Is(jsontree.Array) && len(list.Items) > 0 {
			says = true
			if !slices.ContainsFunc(list.Items, func(v *jsontree.Value) bool { return !below(v) }) {
				return true
			}
		}
	}
	return !says && !slices.ContainsFunc([]string{"items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems", "pattern", "format", "minLength", "maxLength",
		"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}, s.Has)
}
