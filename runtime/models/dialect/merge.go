package dialect

import (
	"cmp"
	"slices"

	"github.com/ambit-tools/ambit/internal/jsonschema"
)

// flatten returns s with its allOf and, where it says more than a reference, its reference merged
// into it. A reference that leads back to itself stays, alone. What cannot be merged, and a reference that
// cannot be followed, stay too: strict mode refuses them.
func (w *rewriter) flatten(s *value, root bool) *value {
	for range maxDepth {
		target, why := w.target(s)
		if target == nil {
			if why != "" {
				w.refuse(s, "$ref", "%s", why)
			}
			return w.conjoin(s)
		}
		own := s.Without("$ref", "$defs", "definitions")
		if slices.Contains(w.inlining, target) || root && target == w.source {
			w.leave(own, "it stands beside a reference of the schema to itself, which stays alone")
			return s
		}
		w.inlining = append(w.inlining, target)
		inner, settled := settle(target.Without("$defs", "definitions"))
		merged, ok := w.apply(own, inner, own)
		ok = ok && (settled || !slices.ContainsFunc(own.Members, func(m *member) bool { return !annotates(m.Name) }))
		if !ok {
			w.leave(own, "it contradicts what it stands beside, or cannot be merged with it")
			merged = inner
		}
		merged.Pointer = target.Pointer
		if root {
			merged.Pointer = ""
		}
		s = merged
	}
	w.note(s, "$ref", w.atWorst(Dropped), "the references do not end")
	return s.Without("$ref", "allOf")
}

// leave notes that what s says of values is left out.
func (w *rewriter) leave(s *value, why string) {
	for _, m := range s.Members {
		if !annotates(m.Name) {
			w.note(s, m.Name, Dropped, "%s", why)
		}
	}
}

// conjoin returns s with its allOf merged into it. Branches that cannot be merged stay there.
func (w *rewriter) conjoin(s *value) *value {
	if !s.Has("allOf") {
		return s
	}
	merged := s.Without("allOf")
	var left []*value
	for _, branch := range s.ListOf("allOf") {
		if branch.IsTrue() {
			continue
		}
		if !branch.Is(jsonschema.Object) {
			left = append(left, branch)
			continue
		}
		b := branch
		if b.Has("$ref") || b.Has("allOf") {
			b = w.flatten(b, false)
			left = append(left, b.ListOf("allOf")...)
			b = b.Without("allOf")
		}
		b, settled := settle(b)
		both, ok := w.apply(merged, b, merged)
		if !ok || !settled || b.Has("$ref") {
			left = append(left, branch)
			continue
		}
		merged = both
	}
	merged.Pointer = s.Pointer
	if len(left) > 0 {
		w.refuse(s, "allOf", "its branches cannot be merged into one schema")
		merged.Members = append(merged.Members, &member{Name: "allOf", Value: &value{Kind: jsonschema.Array, Items: left}, From: []*value{origin(s, "allOf")}})
	}
	return merged
}

// apply returns the schema of the values that both outer and inner allow, where inner is a part of outer:
// the unevaluated keywords of outer see what inner declares. The annotations of first win.
func (w *rewriter) apply(outer, inner, first *value) (*value, bool) {
	own := outer.Without("unevaluatedProperties", "unevaluatedItems")
	a, b := own, inner
	if first == inner {
		a, b = inner, own
	}
	merged, ok := w.merge(a, b)
	if !ok {
		return nil, false
	}
	for _, m := range outer.Members {
		if m.Name != "unevaluatedProperties" && m.Name != "unevaluatedItems" {
			continue
		}
		if have := merged.Get(m.Name); have == nil {
			merged.Members = append(merged.Members, m)
		} else if !jsonschema.Equal(have, m.Value) {
			return nil, false
		}
	}
	return merged, true
}

// applicators are the keywords besides those of members and elements that the unevaluated keywords see into.
var applicators = []string{"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "$ref", "$dynamicRef", "$recursiveRef", "contains"}

// settle returns s with its unevaluated keywords as those that mean the same where s is merged into
// another schema, in whose place they would see more. It reports false where there are none.
func settle(s *value) (*value, bool) {
	for _, keywords := range [][2]string{{"unevaluatedProperties", "additionalProperties"}, {"unevaluatedItems", "items"}} {
		m := s.Member(keywords[0])
		if m == nil {
			continue
		}
		rest := s.Without(keywords[0])
		switch {
		case s.Has(keywords[1]) || m.Value.IsTrue(): // nothing is left that was not evaluated
		case slices.ContainsFunc(applicators, s.Has):
			return s, false
		default:
			rest.Members = append(rest.Members, &member{Name: keywords[1], Value: m.Value, From: m.From})
		}
		s = rest
	}
	return s, true
}

// together are keywords that say one thing: those of two schemas are not merged.
var together = [][]string{{"if", "then", "else"}, {"contains", "minContains", "maxContains"}, {"prefixItems", "items", "additionalItems"}}

// mixes reports whether a and b have different ones of some that say one thing together.
func mixes(a, b *value) bool {
	for _, keywords := range together {
		if !slices.ContainsFunc(keywords, a.Has) || !slices.ContainsFunc(keywords, b.Has) {
			continue
		}
		for _, keyword := range keywords {
			if !jsonschema.Equal(a.Get(keyword), b.Get(keyword)) {
				return true
			}
		}
	}
	return false
}

// merge returns the schema of the values that both a and b allow. The annotations of a win. It
// reports false for what it cannot merge.
func (w *rewriter) merge(a, b *value) (*value, bool) {
	if shuts(a, b) || shuts(b, a) || mixes(a, b) {
		return nil, false
	}
	out := &value{Kind: jsonschema.Object, Pointer: a.Pointer, Members: slices.Clone(a.Members)}
	for _, m := range b.Members {
		have := out.Get(m.Name)
		switch {
		case have == nil:
			out.Members = append(out.Members, m)
		case annotates(m.Name) || jsonschema.Equal(have, m.Value):
		case m.Name == "type":
			types, ok := common(a, b)
			if !ok {
				return nil, false
			}
			combine(out, "type", types, b)
		case m.Name == "required":
			all := slices.Clone(a.ListOf("required"))
			for _, name := range b.ListOf("required") {
				if !holds(all, name) {
					all = append(all, name)
				}
			}
			combine(out, "required", &value{Kind: jsonschema.Array, Items: all}, b)
		case m.Name == "properties":
			props, ok := w.mergeProperties(a.ObjectOf("properties"), b.ObjectOf("properties"))
			if !ok {
				return nil, false
			}
			out.Set("properties", props)
		default:
			return nil, false
		}
	}
	return out, true
}

func (w *rewriter) mergeProperties(a, b *value) (*value, bool) {
	if a == nil || b == nil {
		return nil, false
	}
	out := &value{Kind: jsonschema.Object, Pointer: a.Pointer, Members: slices.Clone(a.Members)}
	for _, m := range b.Members {
		have := out.Get(m.Name)
		switch {
		case have == nil:
			out.Members = append(out.Members, m)
		case jsonschema.Equal(have, m.Value):
		case have.Is(jsonschema.Object) && m.Value.Is(jsonschema.Object):
			both, ok := w.merge(have, m.Value)
			if !ok {
				return nil, false
			}
			out.Set(m.Name, both)
		default:
			return nil, false
		}
	}
	return out, true
}

// common returns the types that both a and b name.
func common(a, b *value) (*value, bool) {
	var all []string
	ta, nullA := types(a)
	tb, nullB := types(b)
	for _, t := range ta {
		switch {
		case slices.Contains(tb, t), t == "integer" && slices.Contains(tb, "number"):
			all = append(all, t)
		case t == "number" && slices.Contains(tb, "integer"):
			all = append(all, "integer")
		}
	}
	if nullA && nullB {
		all = append(all, "null")
	}
	out := made()
	if len(all) == 1 {
		set(out, "type", all[0])
	} else {
		set(out, "type", all)
	}
	return out.Get("type"), len(all) > 0
}

// shuts reports whether a closes the object for members that only b declares, or says what members
// are that only b declares: merged, it would not. So for the elements of an array.
func shuts(a, b *value) bool {
	if v := a.Get("unevaluatedItems"); v != nil && !v.IsTrue() && slices.ContainsFunc([]string{"prefixItems", "items", "contains"}, b.Has) {
		return true
	}
	v := cmp.Or(a.Get("additionalProperties"), a.Get("unevaluatedProperties"))
	if (v == nil || v.IsTrue()) && !a.Has("patternProperties") {
		return false
	}
	props := a.ObjectOf("properties")
	more := b.ObjectOf("properties")
	if more == nil {
		return false
	}
	for _, m := range more.Members {
		if props == nil || !props.Has(m.Name) {
			return true
		}
	}
	return false
}
