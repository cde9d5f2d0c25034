package dialect

import (
	"net/url"
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/internal/jsonschema"
)

// plainRoot returns a schema for a provider that does not hold a model to it. Such a provider takes
// any JSON Schema of an object, without a union, a reference or a list of values at the root.
func plainRoot(source *value, d Dialect) (*value, []Note) {
	w := newRewriter(source, d)
	s := w.spread(w.flatten(source, true)).Without("$schema", "$id")
	var r remark
	for _, keyword := range []string{"$ref", "$dynamicRef", "$recursiveRef", "anyOf", "oneOf", "allOf", "enum", "const", "not", "if", "then", "else"} {
		v := s.Get(keyword)
		if v == nil {
			continue
		}
		if r.add(keyword, v) {
			w.note(s, keyword, Described, "the description says it: no provider takes it at the root of a schema")
		} else {
			w.note(s, keyword, Dropped, "no provider takes it at the root of a schema, and it is too long for a description")
		}
		s = s.Without(keyword)
	}
	w.never(s)
	if len(r.said) > 0 {
		s = &value{Kind: jsonschema.Object, Pointer: s.Pointer, Members: slices.Clone(s.Members)}
		r.on(s)
	}
	head := made("type", "object")
	if !s.Has("properties") {
		head.Set("properties", made())
	}
	for _, keyword := range []string{"$defs", "definitions"} {
		if defs := source.Get(keyword); defs != nil && !s.Has(keyword) {
			head.Set(keyword, defs)
		}
	}
	s = s.Without("type")
	head.Members = append(head.Members[:1:1], append(s.Members, head.Members[1:]...)...)
	w.checkNames(s)
	if (len(w.index.Resources) > 1 || source.Has("$id")) && !isDynamic(source) {
		head = w.pointed(head)
	}
	if d == OpenAI {
		head = w.withItems(head, true)
	}
	return head, w.notes
}

// isDynamic reports whether a schema has references whose targets depend on its resources.
func isDynamic(s *value) bool {
	for _, sub := range jsonschema.Subschemas(jsonschema.Values{}, s) {
		if isDynamic(sub) {
			return true
		}
	}
	return s.Has("$dynamicRef")
}

// pointed returns a schema, and all in it, with pointers from the root as references, and without the $id and anchors that
// others start from: the root is published without its $id, to which they are relative, and may have parts of theirs.
func (w *rewriter) pointed(s *value) *value {
	root := w.index.Resources[0]
	out := jsonschema.Rewritten(s, func(_ string, sub *value) *value {
		if !sub.Is(jsonschema.Object) {
			return sub
		}
		return w.pointed(sub)
	}).Without("$id")
	if s.Has("$anchor") && w.index.Resource(origin(s, "$anchor")) != root {
		out = out.Without("$anchor")
	}
	local := strings.HasPrefix(s.TextOf("$ref"), "#") && w.index.Resource(origin(s, "$ref")) == root
	if target, _ := w.target(s); target != nil && !local {
		set(out, "$ref", "#"+(&url.URL{Path: target.Pointer}).EscapedPath())
	}
	return out
}

// withItems returns a schema, and all in it, with items for each array: OpenAI refuses a request, with all its tools, in
// which an array has none. unevaluatedItems, which items beside it would make void, is described. root says that the
// schema is an object.
func (w *rewriter) withItems(s *value, root bool) *value {
	out := jsonschema.Rewritten(s, func(keyword string, sub *value) *value {
		if keyword == "contentSchema" || !sub.Is(jsonschema.Object) {
			return sub
		}
		return w.withItems(sub, false)
	})
	if more := out.Get("unevaluatedItems"); more != nil {
		switch {
		case out.Has("items"): // each element is evaluated
			out = out.Without("unevaluatedItems")
		case !slices.ContainsFunc(applicators, out.Has):
			out = renamed(out, "unevaluatedItems", "items")
		default:
			out = out.Without("unevaluatedItems")
			var r remark
			effect, why := Dropped, "each array needs items for the provider, beside which it says nothing; it is too long for a description"
			if r.add("unevaluatedItems", more) {
				effect, why = Described, "the description says it: each array needs items for the provider, beside which it says nothing"
				r.on(out)
			}
			w.note(s, "unevaluatedItems", effect, "%s", why)
		}
	}
	if types, _ := types(out); !root && !out.Has("items") && slices.Contains(types, "array") {
		out.Set("items", made())
	}
	return out
}
