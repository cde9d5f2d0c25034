package dialect

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// members rewrites what s says of the members of an object, and returns the keywords of which the
// dialect cannot say all.
func (w *rewriter) members(s, out *object) (left []string) {
	props := s.object("properties")
	if props == nil {
		props = made()
	}
	if w.d == Gemini {
		left = w.open(s, out)
	} else {
		w.closed(s, out, len(props.members) > 0)
	}
	required := map[string]bool{}
	for _, name := range s.strings("required") {
		required[name] = true
		if v, ok := props.get(name); !ok || v == false {
			w.refuse(s, "required", "the member %.40q is required and not declared", name)
			left = append(left, "required")
		}
	}
	rewritten, order := made(), []any{}
	for _, m := range props.members {
		if m.value == false { // never allowed, as a closed object says too
			if more, _ := out.get("additionalProperties"); w.d == Gemini && more != false {
				w.note(s, "properties", Dropped, "the member %.40q is never allowed, which the schema does not say", m.name)
			}
			continue
		}
		at := props.place(m.name)
		node := w.node(m.value, at)
		switch {
		case required[m.name] || w.d == Gemini:
		case w.d == OpenAIStrict:
			node = w.leaveOut(node, out, at, m.name)
		default:
			w.optional++
		}
		if required[m.name] || w.d == OpenAIStrict {
			order = append(order, m.name)
		}
		rewritten.members = append(rewritten.members, member{name: m.name, value: node})
	}
	out.set("properties", rewritten)
	if len(order) > 0 || w.d == OpenAIStrict {
		out.set("required", order)
	}
	if w.d != Gemini {
		out.set("additionalProperties", false)
	}
	return slices.Compact(left)
}

// closed notes where the object is open: strict modes close all objects.
func (w *rewriter) closed(s, out *object, declares bool) {
	keyword := "additionalProperties"
	if !s.has(keyword) {
		keyword = "unevaluatedProperties"
	}
	more, ok := s.get(keyword)
	switch {
	case s.has("patternProperties"):
		w.refuse(s, "patternProperties", "the object takes members that are not declared by name")
	case ok && more != false:
		w.refuse(s, keyword, "the object takes members that are not declared")
	case !ok && !declares && s.at != "": // the root is closed
		w.refuse(s, "properties", "the object declares no member and is not closed: any object is allowed")
	case !ok:
		w.note(s, "additionalProperties", Changed, "the object is closed, where the schema takes members that are not declared")
	}
}

// open rewrites what s says of members that are not declared, for Gemini, which has open objects. It returns
// the keywords that it left out.
func (w *rewriter) open(s, out *object) (left []string) {
	keyword := "additionalProperties"
	if !s.has(keyword) {
		keyword = "unevaluatedProperties"
	}
	more, ok := s.get(keyword)
	switch schema, isSchema := more.(*object); {
	case s.has("patternProperties"): // without them the others would forbid more
		return []string{"patternProperties", keyword}
	case !ok:
	case keyword == "unevaluatedProperties" && slices.ContainsFunc(applicators, s.has):
		return []string{keyword}
	case isSchema:
		out.set("additionalProperties", w.node(schema, schema.at))
	default:
		out.set("additionalProperties", more)
	}
	return nil
}

// elements rewrites what s says of the elements of an array, and returns the keywords that it left out, and what the
// description has to say of the elements.
func (w *rewriter) elements(s, out *object) (left []string, said string) {
	if tuple := s.list("prefixItems"); len(tuple) > 0 {
		return w.tuple(s, out, "prefixItems", "items")
	}
	items, ok := s.get("items")
	if list, isList := items.([]any); isList && len(list) > 0 { // as older drafts write tuples
		return w.tuple(s, out, "items", "additionalItems")
	}
	schema, _ := items.(*object)
	switch {
	case schema != nil && len(schema.members) > 0:
		out.set("items", w.node(schema, schema.at))
	case ok && items == false:
		w.refuse(s, "items", "the array is always empty")
		out.set("maxItems", number(0))
	case w.d == OpenAIStrict:
		w.refuse(s, "items", "the elements of the array may be any value: say which")
	}
	return nil, ""
}

// tuple rewrites an array whose elements have a schema each, by a keyword, and those after them another
// one. Gemini has tuples; for strict modes each element may be what any of them may be, and the description says
// their order.
func (w *rewriter) tuple(s, out *object, keyword, after string) (left []string, said string) {
	var nodes []any
	var all []*object
	tuple := s.list(keyword)
	for i, item := range tuple {
		same := slices.IndexFunc(tuple[:i], func(other any) bool { return equal(item, other) })
		if w.d != Gemini && same >= 0 {
			all = append(all, all[same])
			continue
		}
		node := w.node(item, s.place(keyword)+"/"+strconv.Itoa(i))
		all, nodes = append(all, node), append(nodes, node)
	}
	most := number(len(tuple))
	if n, ok := count(s.value("maxItems")); ok && n < len(tuple) {
		most = number(n)
	}
	more, ok := s.get(after)
	if w.d == Gemini {
		out.set("prefixItems", nodes)
		switch {
		case ok && more == false:
			out.set("maxItems", most)
		case ok && more != true:
			left = append(left, after)
		}
		return left, ""
	}
	if !ok || more != false {
		w.refuse(s, keyword, "the array takes elements after those that are declared")
	}
	w.note(s, keyword, Changed, "each element may be what any of the %d may be: the description says their order", len(tuple))
	out.set("items", w.unite(made(), keyword, nodes))
	w.tuples[out] = all
	if w.d == AnthropicStrict {
		w.note(s, after, Described, "the description says that there are at most %s elements, the schema does not", most)
	}
	if w.d == OpenAIStrict {
		least, ok := s.get("minItems")
		if !ok {
			w.note(s, "minItems", Changed, "each element has to be there")
			least = most
		}
		out.set("minItems", least)
		out.set("maxItems", most)
	}
	return nil, w.order(tuple, most.String())
}

// order returns what a description says of the elements of a tuple: each by its title or description and what it is.
func (w *rewriter) order(tuple []any, most string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "At most %s elements, in this order:", most)
	for i, v := range tuple {
		s, _ := v.(*object)
		if target, _ := w.target(s); target != nil && s.text("title") == "" && s.text("description") == "" {
			s = target
		}
		about := cmp.Or(s.text("title"), s.text("description"))
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
func (w *rewriter) shown(s *object) string {
	if s == nil {
		return ""
	}
	if values, ok := w.lists(s); ok {
		return cut(shownValues(values), maxShown)
	}
	if target, _ := w.target(s); target != nil {
		s = target
	}
	rest := &object{}
	for _, m := range s.members {
		if !annotates(m.name) {
			rest.members = append(rest.members, m)
		}
	}
	if len(rest.members) > 1 || !rest.has("type") {
		if text, err := encode(rest); err == nil && len(text) <= maxShown && len(rest.members) > 0 {
			return string(text)
		}
	}
	return w.kind(s)
}

// kind returns the types of a schema, for a description.
func (w *rewriter) kind(s *object) string {
	if s == nil {
		return ""
	}
	types, null := s.types()
	if null {
		types = append(types, "null")
	}
	return strings.Join(types, " or ")
}
