package dialect

import "slices"

// members rewrites what s says of the members of an object.
func (w *rewriter) members(s, out *object) {
	props := s.object("properties")
	if props == nil {
		props = made()
	}
	if w.d == Gemini {
		w.open(s, out)
	} else {
		w.closed(s, out, len(props.members) > 0)
	}
	required := map[string]bool{}
	for _, name := range s.strings("required") {
		required[name] = true
		if !props.has(name) && w.d != Gemini {
			w.refuse(s.at, "required", "the member %.40q is required and not declared", name)
		}
	}
	rewritten, order := made(), []any{}
	for _, m := range props.members {
		if m.value == false { // never allowed, as a closed object says too
			continue
		}
		w.size.members++
		w.size.names += len(m.name)
		node := w.node(m.value, props.at+"/"+escape(m.name))
		switch {
		case required[m.name] || w.d == Gemini:
		case w.d == OpenAIStrict:
			node = w.leaveOut(node, out, props.at, m.name)
		default:
			w.optional++
		}
		if required[m.name] || w.d == OpenAIStrict {
			order = append(order, m.name)
		}
		rewritten.members = append(rewritten.members, member{m.name, node})
	}
	out.set("properties", rewritten)
	if len(order) > 0 || w.d == OpenAIStrict {
		out.set("required", order)
	}
	if w.d != Gemini {
		out.set("additionalProperties", false)
	}
}

// closed notes where the object is open: strict modes close all objects.
func (w *rewriter) closed(s, out *object, declares bool) {
	more, ok := s.get("additionalProperties")
	if !ok {
		more, ok = s.get("unevaluatedProperties")
	}
	switch {
	case s.has("patternProperties"):
		w.refuse(s.at, "patternProperties", "the object takes members that are not declared by name")
	case ok && more != false:
		w.refuse(s.at, "additionalProperties", "the object takes members that are not declared")
	case !ok && !declares && s.at != "": // the root is closed
		w.refuse(s.at, "properties", "the object declares no member and is not closed: any object is allowed")
	}
}

// open rewrites additionalProperties for Gemini, which has open objects.
func (w *rewriter) open(s, out *object) {
	more, ok := s.get("additionalProperties")
	if !ok {
		return
	}
	if schema, isSchema := more.(*object); isSchema {
		out.set("additionalProperties", w.node(schema, schema.at))
		return
	}
	out.set("additionalProperties", more)
}

// leaveOut returns the schema of a member that may be left out: nullable, since a strict schema of
// OpenAI has all its members. in is the object that has the member, properties the place where it
// is declared.
func (w *rewriter) leaveOut(node, in *object, properties, name string) *object {
	at := properties + "/" + escape(name)
	if w.admitsNull(node, nil) {
		w.note(at, "required", Changed, "the member cannot be left out: null is null, as the schema says")
		return node
	}
	if w.made[in] == nil {
		w.made[in] = map[string]bool{}
	}
	w.made[in][name] = true
	if !slices.Contains(w.nullable, at) {
		w.nullable = append(w.nullable, at)
	}
	_, literal := node.literals()
	if t := node.text("type"); t != "" && t != "object" && t != "array" && !literal {
		node.set("type", []any{t, "null"})
		return node
	}
	null := made("type", "null")
	if list := node.list("anyOf"); list != nil {
		node.set("anyOf", append(slices.Clone(list), null))
		return node
	}
	w.unions++
	out := made()
	for _, keyword := range []string{"title", "description"} {
		if text := node.text(keyword); text != "" {
			out.set(keyword, text)
		}
	}
	inner := *node.without("title", "description")
	*node = inner // the object keeps its identity: made refers to it
	out.set("anyOf", []any{node, null})
	return out
}

// admitsNull reports whether a rewritten schema allows null.
func (w *rewriter) admitsNull(node *object, seen []string) bool {
	if ref := node.text("$ref"); ref != "" {
		if slices.Contains(seen, ref) {
			return false
		}
		if def := w.definition(ref); def != nil {
			return w.admitsNull(def, append(seen, ref))
		}
		for target, name := range w.defined { // it is being rewritten: its source says
			if refTo(name) == ref {
				return w.sourceAdmitsNull(target, 0)
			}
		}
		return false
	}
	if node.text("type") == "null" || slices.Contains(node.strings("type"), "null") {
		return true
	}
	for _, branch := range node.list("anyOf") {
		if w.admitsNull(branch.(*object), seen) {
			return true
		}
	}
	return false
}

// elements rewrites what s says of the elements of an array.
func (w *rewriter) elements(s, out *object) {
	if tuple := s.list("prefixItems"); len(tuple) > 0 {
		w.tuple(s, out, tuple)
		return
	}
	items, ok := s.get("items")
	if list, isList := items.([]any); isList { // as older drafts write tuples
		w.tuple(s, out, list)
		return
	}
	schema, _ := items.(*object)
	switch {
	case schema != nil && len(schema.members) > 0:
		out.set("items", w.node(schema, schema.at))
	case ok && items == false:
		w.refuse(s.at, "items", "the array is always empty")
		out.set("maxItems", number(0))
	case w.d == OpenAIStrict:
		w.refuse(s.at, "items", "the elements of the array may be any value: say which")
	}
}

// tuple rewrites an array whose elements have a schema each. Gemini has tuples; for strict modes
// each element may be what any of them may be.
func (w *rewriter) tuple(s, out *object, tuple []any) {
	nodes := make([]any, 0, len(tuple))
	for i, item := range tuple {
		if w.d != Gemini && slices.ContainsFunc(tuple[:i], func(other any) bool { return equal(item, other) }) {
			continue
		}
		nodes = append(nodes, w.node(item, s.at))
	}
	if w.d == Gemini {
		out.set("prefixItems", nodes)
		return
	}
	if items, ok := s.get("items"); !ok || items != false {
		w.refuse(s.at, "prefixItems", "the array takes elements after those that are declared")
	}
	w.note(s.at, "prefixItems", Changed, "each element may be what any of the %d may be", len(tuple))
	out.set("items", w.unite(made(), nodes))
	if w.d == AnthropicStrict {
		w.note(s.at, "items", Dropped, "there may be more than %d elements", len(tuple))
	}
	if w.d == OpenAIStrict {
		least, ok := s.get("minItems")
		if !ok {
			w.note(s.at, "minItems", Changed, "each element has to be there")
			least = number(len(tuple))
		}
		out.set("minItems", least)
		out.set("maxItems", number(len(tuple)))
	}
}
