package dialect

import (
	"fmt"
	"slices"
)

// maxNodes bounds a rewritten schema: references are replaced by what they lead to in some places,
// and a hostile schema could double with each.
const maxNodes = 50_000

// A rewriter rewrites one schema into a strict dialect or that of Gemini.
type rewriter struct {
	d      Dialect
	source *object
	notes  []Note
	noted  map[string]bool // notes by place and keyword: a schema that several places refer to is rewritten for each

	defs     []member
	defined  map[*object]string // the names of schemas in defs
	defining []*object          // those that are being rewritten
	names    map[string]bool    // in defs
	inlining []*object          // references that are being replaced by what they lead to

	made     map[*object]map[string]bool
	nullable []string
	nodes    int
	optional int
	unions   int
	size     limits
}

func newRewriter(source *object, d Dialect) *rewriter {
	return &rewriter{d: d, source: source, noted: map[string]bool{}, defined: map[*object]string{}, names: map[string]bool{}, made: map[*object]map[string]bool{}}
}

func (w *rewriter) note(at, keyword string, e Effect, format string, args ...any) {
	key := at + "\x00" + keyword
	if w.noted[key] {
		return
	}
	w.noted[key] = true
	w.notes = append(w.notes, Note{at, keyword, e, fmt.Sprintf(format, args...)})
}

// atWorst returns Refused in a strict mode, else e.
func (w *rewriter) atWorst(e Effect) Effect {
	if w.d.strict() {
		return Refused
	}
	return e
}

// refuse notes that strict mode does not take the schema. Gemini has no strict mode.
func (w *rewriter) refuse(at, keyword, format string, args ...any) {
	if w.d.strict() {
		w.note(at, keyword, Refused, format, args...)
	}
}

func (w *rewriter) refused() bool {
	return slices.ContainsFunc(w.notes, func(n Note) bool { return n.Effect == Refused })
}

// root rewrites the whole schema.
func (w *rewriter) root() *object {
	s := w.flatten(w.source, true)
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if s.has(keyword) {
			if !s.has("properties") {
				w.refuse(s.at, keyword, "the arguments of a tool are one object, not a union of objects")
			}
			w.note(s.at, keyword, Dropped, "no provider takes a union of whole inputs")
			s = s.without(keyword)
		}
	}
	if types, null := s.types(); len(types) != 1 || types[0] != "object" || null {
		w.refuse(s.at, "type", "the arguments of a tool are an object")
		s = s.without("type")
		s.set("type", "object")
	}
	out := w.typed(s, "object")
	if !out.has("properties") {
		out.set("properties", made())
	}
	if len(w.defs) > 0 {
		out.set("$defs", &object{members: w.defs})
	}
	w.checkLimits(out)
	return out
}

// node rewrites the schema v, which stands where any schema may.
func (w *rewriter) node(v any, at string) *object {
	w.nodes++
	if w.nodes > maxNodes || len(w.inlining) > maxDepth {
		w.note("", "$ref", w.atWorst(Dropped), "the schema is too large")
		return made()
	}
	s, ok := v.(*object)
	if !ok {
		w.refuse(at, "true", "any value is allowed here: say which")
		return made()
	}
	if ref, ok := s.get("$ref"); ok {
		if out := w.reference(s, ref); out != nil {
			return out
		}
	}
	before := len(w.inlining)
	s = w.flatten(s, false)
	defer func() { w.inlining = w.inlining[:before] }()
	if s.has("$ref") {
		return w.bare(s)
	}
	if s.has("anyOf") || s.has("oneOf") {
		return w.union(s)
	}
	types, null := s.types()
	switch {
	case len(types) == 0 && null:
		return w.titled(s, made("type", "null"))
	case len(types) == 0:
		w.refuse(s.at, "type", "any value is allowed here: say which")
		return w.titled(s, made())
	case len(types) > 1, null && !w.listsNull(s, types[0]):
		return w.byType(s, types, null)
	case null:
		out := w.typed(s, types[0])
		out.set("type", []any{types[0], "null"})
		return out
	}
	return w.typed(s, types[0])
}

// listsNull reports whether the dialect says that a value of a type may be null too by a list of types.
func (w *rewriter) listsNull(s *object, t string) bool {
	_, literal := s.literals()
	return w.d != AnthropicStrict && !literal && t != "object" && t != "array"
}

// titled gives out the title and the description of s.
func (w *rewriter) titled(s, out *object) *object {
	head := made()
	for _, keyword := range []string{"title", "description"} {
		if text := s.text(keyword); text != "" {
			head.set(keyword, text)
		}
	}
	var r remark
	for _, keyword := range []string{"default", "examples"} {
		if v, ok := s.get(keyword); ok && v != nil {
			r.add(keyword, v)
		}
	}
	r.on(head)
	out.members = append(head.members, out.members...)
	return out
}

// typed rewrites a schema of values of one type.
func (w *rewriter) typed(s *object, t string) *object {
	out := made("type", t)
	if values, ok := s.literals(); ok {
		w.literals(s, out, values, t)
	}
	switch t {
	case "object":
		w.members(s, out)
	case "array":
		w.elements(s, out)
	}
	var r remark
	for _, keyword := range append(slices.Clone(checks[t]), checks[""]...) {
		v, ok := s.get(keyword)
		if !ok || out.has(keyword) || neutral(keyword, v) {
			continue
		}
		switch {
		case w.d.keeps(keyword, v) && !out.has("enum") && !out.has("const"):
			out.set(keyword, v)
		case r.add(keyword, v):
			w.note(s.at, keyword, Described, "the description says it, the schema does not")
		default:
			w.note(s.at, keyword, Dropped, "the schema does not say it, and it is too long for a description")
		}
	}
	out = w.titled(s, out)
	r.on(out)
	return out
}

// neutral reports whether a keyword allows all values.
func neutral(keyword string, v any) bool {
	n, counts := count(v)
	switch keyword {
	case "uniqueItems":
		return v == false
	case "minLength", "minProperties":
		return counts && n == 0
	}
	return false
}

// literals rewrites enum and const. Anthropic's own transforms drop the type beside them.
func (w *rewriter) literals(s, out *object, values []any, t string) {
	fit := slices.DeleteFunc(slices.Clone(values), func(v any) bool { return !isOf(v, t) })
	keyword := "enum"
	if s.has("const") {
		keyword = "const"
	}
	if t == "object" || t == "array" || len(fit) == 0 {
		w.refuse(s.at, keyword, "only strings, numbers and booleans can be listed, and at least one")
		return
	}
	w.size.values += len(fit)
	switch {
	case w.d == Gemini && t == "boolean":
		w.note(s.at, keyword, Dropped, "only strings and numbers can be listed")
		return
	case keyword == "const" && w.d != Gemini:
		out.set("const", fit[0])
	default:
		out.set("enum", fit)
	}
	if w.d == AnthropicStrict {
		*out = *out.without("type")
	}
}
