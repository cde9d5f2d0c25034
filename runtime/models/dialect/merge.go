package dialect

import "slices"

// flatten returns s with its allOf and, where it says more than a reference, its reference merged
// into it. A reference that leads back to itself stays, alone. What cannot be merged, and a reference that
// cannot be followed, stay too: strict mode refuses them.
func (w *rewriter) flatten(s *object, root bool) *object {
	for range maxDepth {
		target, why := w.target(s)
		if target == nil {
			if why != "" {
				w.refuse(s, "$ref", "%s", why)
			}
			return w.conjoin(s)
		}
		own := s.without("$ref", "$defs", "definitions")
		if slices.Contains(w.inlining, target) || root && target == w.source {
			w.leave(own, "it stands beside a reference of the schema to itself, which stays alone")
			return s
		}
		w.inlining = append(w.inlining, target)
		inner, settled := settle(target.without("$defs", "definitions"))
		merged, ok := w.apply(own, inner, own)
		ok = ok && (settled || !slices.ContainsFunc(own.members, func(m member) bool { return !annotates(m.name) }))
		if !ok {
			w.leave(own, "it contradicts what it stands beside, or cannot be merged with it")
			merged = inner
		}
		merged.at = target.at
		if root {
			merged.at = ""
		}
		s = merged
	}
	w.note(s, "$ref", w.atWorst(Dropped), "the references do not end")
	return s.without("$ref", "allOf")
}

// leave notes that what s says of values is left out.
func (w *rewriter) leave(s *object, why string) {
	for _, m := range s.members {
		if !annotates(m.name) {
			w.note(s, m.name, Dropped, "%s", why)
		}
	}
}

// conjoin returns s with its allOf merged into it. Branches that cannot be merged stay there.
func (w *rewriter) conjoin(s *object) *object {
	all, ok := s.get("allOf")
	if !ok {
		return s
	}
	branches, _ := all.([]any)
	merged := s.without("allOf")
	var left []any
	for _, branch := range branches {
		if branch == true {
			continue
		}
		b, isObject := branch.(*object)
		if !isObject {
			left = append(left, branch)
			continue
		}
		if b.has("$ref") || b.has("allOf") {
			b = w.flatten(b, false)
			left = append(left, b.list("allOf")...)
			b = b.without("allOf")
		}
		b, settled := settle(b)
		both, ok := w.apply(merged, b, merged)
		if !ok || !settled || b.has("$ref") {
			left = append(left, branch)
			continue
		}
		merged = both
	}
	merged.at = s.at
	if len(left) > 0 {
		w.refuse(s, "allOf", "its branches cannot be merged into one schema")
		merged.members = append(merged.members, member{name: "allOf", value: left, in: s.origin("allOf")})
	}
	return merged
}

// apply returns the schema of the values that both outer and inner allow, where inner is a part of outer:
// the unevaluated keywords of outer see what inner declares. The annotations of first win.
func (w *rewriter) apply(outer, inner, first *object) (*object, bool) {
	own := outer.without("unevaluatedProperties", "unevaluatedItems")
	a, b := own, inner
	if first == inner {
		a, b = inner, own
	}
	merged, ok := w.merge(a, b)
	if !ok {
		return nil, false
	}
	for _, m := range outer.members {
		if m.name != "unevaluatedProperties" && m.name != "unevaluatedItems" {
			continue
		}
		if have, twice := merged.get(m.name); !twice {
			merged.members = append(merged.members, m)
		} else if !equal(have, m.value) {
			return nil, false
		}
	}
	return merged, true
}

// applicators are the keywords besides those of members and elements that the unevaluated keywords see into.
var applicators = []string{"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "$ref", "$dynamicRef", "$recursiveRef", "contains"}

// settle returns s with its unevaluated keywords as those that mean the same where s is merged into
// another schema, in whose place they would see more. It reports false where there are none.
func settle(s *object) (*object, bool) {
	for _, keywords := range [][2]string{{"unevaluatedProperties", "additionalProperties"}, {"unevaluatedItems", "items"}} {
		i := slices.IndexFunc(s.members, func(m member) bool { return m.name == keywords[0] })
		if i < 0 {
			continue
		}
		m := s.members[i]
		m.name = keywords[1]
		rest := s.without(keywords[0])
		switch {
		case s.has(keywords[1]) || m.value == true: // nothing is left that was not evaluated
		case slices.ContainsFunc(applicators, s.has):
			return s, false
		default:
			rest.members = append(rest.members, m)
		}
		s = rest
	}
	return s, true
}

// together are keywords that say one thing: those of two schemas are not merged.
var together = [][]string{{"if", "then", "else"}, {"contains", "minContains", "maxContains"}, {"prefixItems", "items", "additionalItems"}}

// mixes reports whether a and b have different ones of some that say one thing together.
func mixes(a, b *object) bool {
	for _, keywords := range together {
		if !slices.ContainsFunc(keywords, a.has) || !slices.ContainsFunc(keywords, b.has) {
			continue
		}
		for _, keyword := range keywords {
			x, inA := a.get(keyword)
			y, inB := b.get(keyword)
			if inA != inB || !equal(x, y) {
				return true
			}
		}
	}
	return false
}

// merge returns the schema of the values that both a and b allow. The annotations of a win. It
// reports false for what it cannot merge.
func (w *rewriter) merge(a, b *object) (*object, bool) {
	if shuts(a, b) || shuts(b, a) || mixes(a, b) {
		return nil, false
	}
	out := &object{at: a.at, members: slices.Clone(a.members)}
	for _, m := range b.members {
		have, ok := out.get(m.name)
		switch {
		case !ok:
			out.members = append(out.members, m)
		case annotates(m.name) || equal(have, m.value):
		case m.name == "type":
			types, ok := common(a, b)
			if !ok {
				return nil, false
			}
			out.combine("type", types, b)
		case m.name == "required":
			all := slices.Clone(a.list("required"))
			for _, name := range b.list("required") {
				if !slices.Contains(all, name) {
					all = append(all, name)
				}
			}
			out.combine("required", all, b)
		case m.name == "properties":
			props, ok := w.mergeProperties(a.object("properties"), b.object("properties"))
			if !ok {
				return nil, false
			}
			out.set("properties", props)
		default:
			return nil, false
		}
	}
	return out, true
}

func (w *rewriter) mergeProperties(a, b *object) (*object, bool) {
	if a == nil || b == nil {
		return nil, false
	}
	out := &object{at: a.at, members: slices.Clone(a.members)}
	for _, m := range b.members {
		have, ok := out.get(m.name)
		x, isX := have.(*object)
		y, isY := m.value.(*object)
		switch {
		case !ok:
			out.members = append(out.members, m)
		case equal(have, m.value):
		case isX && isY:
			both, ok := w.merge(x, y)
			if !ok {
				return nil, false
			}
			out.set(m.name, both)
		default:
			return nil, false
		}
	}
	return out, true
}

// common returns the types that both a and b name.
func common(a, b *object) (any, bool) {
	var types []any
	ta, nullA := a.types()
	tb, nullB := b.types()
	for _, t := range ta {
		switch {
		case slices.Contains(tb, t), t == "integer" && slices.Contains(tb, "number"):
			types = append(types, t)
		case t == "number" && slices.Contains(tb, "integer"):
			types = append(types, "integer")
		}
	}
	if nullA && nullB {
		types = append(types, "null")
	}
	if len(types) == 1 {
		return types[0], true
	}
	return types, len(types) > 0
}

// shuts reports whether a closes the object for members that only b declares, or says what members
// are that only b declares: merged, it would not. So for the elements of an array.
func shuts(a, b *object) bool {
	if v, ok := a.get("unevaluatedItems"); ok && v != true && slices.ContainsFunc([]string{"prefixItems", "items", "contains"}, b.has) {
		return true
	}
	v, closes := a.get("additionalProperties")
	if !closes {
		v, closes = a.get("unevaluatedProperties")
	}
	if (!closes || v == true) && !a.has("patternProperties") {
		return false
	}
	props := a.object("properties")
	more := b.object("properties")
	if more == nil {
		return false
	}
	for _, m := range more.members {
		if props == nil || !props.has(m.name) {
			return true
		}
	}
	return false
}
