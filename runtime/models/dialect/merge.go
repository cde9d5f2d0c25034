package dialect

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// refTo returns the reference to the schema called name in $defs.
func refTo(name string) string { return "#/$defs/" + url.PathEscape(escape(name)) }

// reference rewrites a schema that only refers to another one. It returns nil when more has to be
// said here than that: then flatten replaces the reference.
func (w *rewriter) reference(s *object, ref any) *object {
	text, _ := ref.(string)
	target := w.source.resolve(text)
	if target == nil {
		w.refuse(s.at, "$ref", "it leads out of the schema, or nowhere")
		return w.titled(s, made())
	}
	for _, m := range s.members {
		if m.name != "$ref" && (!annotates(m.name) || slices.Contains([]string{"title", "description", "default", "examples"}, m.name)) {
			return nil
		}
	}
	return w.bare(s)
}

// bare returns the reference of s alone. It defines what it refers to.
func (w *rewriter) bare(s *object) *object {
	target := w.source.resolve(s.text("$ref"))
	if target == nil {
		return made()
	}
	name, ok := w.defined[target]
	if !ok {
		name = w.define(target, s.text("$ref"))
	} else if slices.Contains(w.defining, target) && w.d == AnthropicStrict {
		w.refuse(target.at, "$ref", "the schema refers to itself, which the grammar of a strict tool cannot")
	}
	return made("$ref", refTo(name))
}

// define rewrites a schema into $defs and returns its name there.
func (w *rewriter) define(target *object, ref string) string {
	base, err := url.PathUnescape(ref[strings.LastIndexByte(ref, '/')+1:])
	if base = unescape(base); err != nil || base == "#" {
		base = "Root"
	}
	name := base
	for i := 2; w.names[name]; i++ {
		name = base + strconv.Itoa(i)
	}
	w.names[name], w.defined[target] = true, name
	i := len(w.defs)
	w.defs = append(w.defs, member{name: name})
	w.defining = append(w.defining, target)
	inlining := w.inlining
	w.inlining = nil
	w.defs[i].value = w.node(target.without("$defs", "definitions"), target.at)
	w.inlining = inlining
	w.defining = w.defining[:len(w.defining)-1]
	return name
}

// flatten returns s with its allOf and, where it says more than a reference, its reference merged
// into it. A reference that leads back to itself stays, alone.
func (w *rewriter) flatten(s *object, root bool) *object {
	for range maxDepth {
		if ref, ok := s.get("$ref"); ok {
			text, _ := ref.(string)
			target := w.source.resolve(text)
			if target == nil {
				w.refuse(s.at, "$ref", "it leads out of the schema, or nowhere")
				return s.without("$ref")
			}
			if slices.Contains(w.inlining, target) || root && target == w.source {
				w.note(s.at, "$ref", Dropped, "what stands beside a reference of a schema to itself is left out")
				return s
			}
			w.inlining = append(w.inlining, target)
			own := s.without("$ref", "$defs", "definitions")
			merged, ok := w.merge(own, target.without("$defs", "definitions"))
			if !ok {
				w.note(s.at, "$ref", Dropped, "what stands beside it contradicts it, or cannot be merged with it")
				merged = target.without("$defs", "definitions")
			}
			merged.at = target.at
			if root {
				merged.at = ""
			}
			s = merged
			continue
		}
		all := s.list("allOf")
		if len(all) == 0 {
			return s.without("allOf")
		}
		merged, ok := s.without("allOf"), true
		for _, branch := range all {
			b, isObject := branch.(*object)
			if branch == true {
				continue
			}
			if isObject && b.has("$ref") {
				b = w.flatten(b, false)
			}
			if !isObject || b.has("$ref") {
				ok = false
			} else if merged, ok = w.merge(merged, b); !ok {
				merged = s.without("allOf")
			}
			if !ok {
				w.refuse(s.at, "allOf", "its branches cannot be merged into one schema")
				return s.without("allOf")
			}
		}
		merged.at = s.at
		s = merged
	}
	w.refuse(s.at, "$ref", "the references do not end")
	return s.without("$ref", "allOf")
}

// merge returns the schema of the values that both a and b allow. The annotations of a win. It
// reports false for what it cannot merge.
func (w *rewriter) merge(a, b *object) (*object, bool) {
	if shuts(a, b) || shuts(b, a) {
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
			out.set("type", types)
		case m.name == "required":
			all := slices.Clone(a.list("required"))
			for _, name := range b.list("required") {
				if !slices.Contains(all, name) {
					all = append(all, name)
				}
			}
			out.set("required", all)
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
// are that only b declares: merged, it would not.
func shuts(a, b *object) bool {
	if v, ok := a.get("additionalProperties"); (!ok || v == true) && !a.has("patternProperties") {
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
