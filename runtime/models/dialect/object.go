package dialect

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ambit-tools/ambit/internal/jsonschema"
)

// members rewrites what s says of the members of an object, and returns the keywords of which the
// dialect cannot say all.
func (w *rewriter) members(s, out *value) (left []string) {
	props := s.ObjectOf("properties")
	if props == nil {
		props = made()
	}
	if w.d == Gemini {
		left = w.open(s, out)
	} else {
		w.closed(s, out, len(props.Members) > 0)
	}
	required := map[string]bool{}
	for _, name := range s.TextsOf("required") {
		required[name] = true
		if v := props.Get(name); v == nil || v.IsFalse() {
			w.refuse(s, "required", "the member %.40q is required and not declared", name)
			left = append(left, "required")
		}
	}
	rewritten, order := made(), []string{}
	for _, m := range props.Members {
		if m.Value.IsFalse() { // never allowed, as a closed object says too
			if w.d == Gemini && !out.Get("additionalProperties").IsFalse() {
				w.note(s, "properties", Dropped, "the member %.40q is never allowed, which the schema does not say", m.Name)
			}
			continue
		}
		at := place(props, m.Name)
		node := w.node(m.Value, at)
		switch {
		case required[m.Name] || w.d == Gemini:
		case w.d == OpenAIStrict:
			node = w.leaveOut(node, out, at, m.Name)
		default:
			w.optional++
		}
		if required[m.Name] || w.d == OpenAIStrict {
			order = append(order, m.Name)
		}
		rewritten.Members = append(rewritten.Members, &member{Name: m.Name, Value: node})
	}
	out.Set("properties", rewritten)
	if len(order) > 0 || w.d == OpenAIStrict {
		set(out, "required", order)
	}
	if w.d != Gemini {
		set(out, "additionalProperties", false)
	}
	return slices.Compact(left)
}

// closed notes where the object is open: strict modes close all objects.
func (w *rewriter) closed(s, out *value, declares bool) {
	keyword := "additionalProperties"
	if !s.Has(keyword) {
		keyword = "unevaluatedProperties"
	}
	more := s.Get(keyword)
	switch {
	case s.Has("patternProperties"):
		w.refuse(s, "patternProperties", "the object takes members that are not declared by name")
	case more != nil && !more.IsFalse():
		w.refuse(s, keyword, "the object takes members that are not declared")
	case more == nil && !declares && s.Pointer != "": // the root is closed
		w.refuse(s, "properties", "the object declares no member and is not closed: any object is allowed")
	case more == nil:
		w.note(s, "additionalProperties", Changed, "the object is closed, where the schema takes members that are not declared")
	}
}

// open rewrites what s says of members that are not declared, for Gemini, which has open objects. It returns
// the keywords that it left out.
func (w *rewriter) open(s, out *value) (left []string) {
	keyword := "additionalProperties"
	if !s.Has(keyword) {
		keyword = "unevaluatedProperties"
	}
	more := s.Get(keyword)
	switch {
	case s.Has("patternProperties"): // without them the others would forbid more
		return []string{"patternProperties", keyword}
	case more == nil:
	case keyword == "unevaluatedProperties" && slices.ContainsFunc(applicators, s.Has):
		return []string{keyword}
	case more.Is(jsonschema.Object):
		out.Set("additionalProperties", w.node(more, more.Pointer))
	default:
		out.Set("additionalProperties", more)
	}
	return nil
}

// elements rewrites what s says of the elements of an array, and returns the keywords that it left out, and what the
// description has to say of the elements.
func (w *rewriter) elements(s, out *value) (left []string, said string) {
	if tuple := s.ListOf("prefixItems"); len(tuple) > 0 {
		return w.tuple(s, out, "prefixItems", "items")
	}
	if len(s.ListOf("items")) > 0 { // as older drafts write tuples
		return w.tuple(s, out, "items", "additionalItems")
	}
	items := s.Get("items")
	switch {
	case items.Is(jsonschema.Object) && len(items.Members) > 0:
		out.Set("items", w.node(items, items.Pointer))
	case items.IsFalse():
		w.refuse(s, "items", "the array is always empty")
		out.Set("maxItems", number(0))
	case w.d == OpenAIStrict:
		w.refuse(s, "items", "the elements of the array may be any value: say which")
	}
	return nil, ""
}

// tuple rewrites an array whose elements have a schema each, by a keyword, and those after them another
// one. Gemini has tuples; for strict modes each element may be what any of them may be, and the description says
// their order.
func (w *rewriter) tuple(s, out *value, keyword, after string) (left []string, said string) {
	var nodes, all []*value
	tuple := s.ListOf(keyword)
	for i, item := range tuple {
		same := slices.IndexFunc(tuple[:i], func(other *value) bool { return jsonschema.Equal(item, other) })
		if w.d != Gemini && same >= 0 {
			all = append(all, all[same])
			continue
		}
		node := w.node(item, place(s, keyword)+"/"+strconv.Itoa(i))
		all, nodes = append(all, node), append(nodes, node)
	}
	most := number(len(tuple))
	if n, ok := count(s.Get("maxItems")); ok && n < len(tuple) {
		most = number(n)
	}
	more := s.Get(after)
	if w.d == Gemini {
		set(out, "prefixItems", nodes)
		switch {
		case more.IsFalse():
			out.Set("maxItems", most)
		case more != nil && !more.IsTrue():
			left = append(left, after)
		}
		return left, ""
	}
	if !more.IsFalse() {
		w.refuse(s, keyword, "the array takes elements after those that are declared")
	}
	w.note(s, keyword, Changed, "each element may be what any of the %d may be: the description says their order", len(tuple))
	out.Set("items", w.unite(made(), keyword, nodes))
	w.tuples[out] = all
	if w.d == AnthropicStrict {
		w.note(s, after, Described, "the description says that there are at most %s elements, the schema does not", most.Text)
	}
	if w.d == OpenAIStrict {
		least := s.Get("minItems")
		if least == nil {
			w.note(s, "minItems", Changed, "each element has to be there")
			least = most
		}
		out.Set("minItems", least)
		out.Set("maxItems", most)
	}
	return nil, w.order(tuple, most.Text)
}

// order returns what a description says of the elements of a tuple: each by its title or description and what it is.
func (w *rewriter) order(tuple []*value, most string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "At most %s elements, in this order:", most)
	for i, s := range tuple {
		if target, _ := w.target(s); target != nil && s.TextOf("title") == "" && s.TextOf("description") == "" {
			s = target
		}
		about := cmp.Or(s.TextOf("title"), s.TextOf("description"))
		line := cut(strings.TrimSuffix(strings.Join(strings.Fields(about), " "), "."), maxShown)
		if is := w.shown(s); is != "" && line != "" {
			line += " (" + is + ")"
		} else {
			line = cmp.Or(line, is, "any value")
		}
		if b.Len()+len(line) > maxSpread {
			line = w.kind(s)
		}
		fmt.Fprintf(&b, " %d. %s", i+1, line)
	}
	return b.String()
}

// shown returns what a description says of the values of a schema, short: those that it lists, its keywords or its types.
func (w *rewriter) shown(s *value) string {
	if !s.Is(jsonschema.Object) {
		return ""
	}
	if values, ok := w.lists(s); ok {
		return cut(shownValues(values), maxShown)
	}
	if target, _ := w.target(s); target != nil {
		s = target
	}
	rest := &value{Kind: jsonschema.Object}
	for _, m := range s.Members {
		if !annotates(m.Name) {
			rest.Members = append(rest.Members, m)
		}
	}
	if len(rest.Members) > 1 || !rest.Has("type") {
		if text := jsonschema.JSON(rest); len(text) <= maxShown && len(rest.Members) > 0 {
			return string(text)
		}
	}
	return w.kind(s)
}

// kind returns the types of a schema, for a description.
func (w *rewriter) kind(s *value) string {
	if !s.Is(jsonschema.Object) {
		return ""
	}
	all, null := types(s)
	if null {
		all = append(all, "null")
	}
	return strings.Join(all, " or ")
}
