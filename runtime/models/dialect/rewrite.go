package dialect

import (
	"fmt"
	"slices"

	"github.com/ambit-tools/ambit/internal/jsonschema"
)

// References are replaced by what they lead to in some places, and a schema could double with each.
const (
	maxNodes  = 50_000 // of a rewritten schema
	maxCopies = 5_000  // nodes in what replaced references: after that a reference stays alone
)

// A rewriter rewrites one schema into a strict dialect or that of Gemini.
type rewriter struct {
	d      Dialect
	source *value
	index  *jsonschema.Index[*value]
	notes  []Note
	noted  map[Note]bool // a schema that several places refer to is rewritten for each

	defs     []*member
	defined  map[*value]string // the names of schemas in defs
	defining []*value          // those that are being rewritten
	names    map[string]bool   // in defs
	inlining []*value          // references that are being replaced by what they lead to

	null     map[*value]bool // schemas of the source that are known to allow null
	made     map[*value]map[string]string
	tuples   map[*value][]*value
	nullable []string
	nodes    int
	copies   int
	optional int
	unions   int
}

func newRewriter(source *value, d Dialect) *rewriter {
	return &rewriter{
		d: d, source: source, index: jsonschema.NewIndex(jsonschema.Values{}, source), noted: map[Note]bool{}, defined: map[*value]string{}, names: map[string]bool{},
		null: map[*value]bool{}, made: map[*value]map[string]string{}, tuples: map[*value][]*value{},
	}
}

// note notes what became of a keyword of s.
func (w *rewriter) note(s *value, keyword string, e Effect, format string, args ...any) {
	for _, at := range places(s, keyword) {
		w.noteAt(at, keyword, e, format, args...)
	}
}

func (w *rewriter) noteAt(at, keyword string, e Effect, format string, args ...any) {
	n := Note{at, keyword, e, fmt.Sprintf(format, args...)}
	if !w.noted[n] {
		w.noted[n] = true
		w.notes = append(w.notes, n)
	}
}

// atWorst returns Refused in a strict mode, else e.
func (w *rewriter) atWorst(e Effect) Effect {
	if w.d.strict() {
		return Refused
	}
	return e
}

// refuse notes that strict mode does not take the schema. Gemini has no strict mode: there the caller keeps
// what the keyword says in a description.
func (w *rewriter) refuse(s *value, keyword, format string, args ...any) {
	if w.d.strict() {
		w.note(s, keyword, Refused, format, args...)
	}
}

func (w *rewriter) refused() bool {
	return slices.ContainsFunc(w.notes, func(n Note) bool { return n.Effect == Refused })
}

func (w *rewriter) tooLarge() {
	w.noteAt("", "$ref", w.atWorst(Dropped), "the schema is too large")
}

// root rewrites the whole schema.
func (w *rewriter) root() *value {
	s := w.spread(w.flatten(w.source, true))
	if types, null := types(s); len(types) != 1 || types[0] != "object" || null {
		w.refuse(s, "type", "the arguments of a tool are an object")
		w.never(s)
		s = s.Without("type")
		set(s, "type", "object")
	}
	out := w.typed(s, "object")
	if !out.Has("properties") {
		out.Set("properties", made())
	}
	if len(w.defs) > 0 {
		out.Set("$defs", &value{Kind: jsonschema.Object, Members: w.defs})
	}
	w.checkLimits(out)
	w.checkNames(s)
	if len(w.made) > 0 && !w.refused() {
		w.ambiguous(out)
	}
	return out
}

// never notes that the root allows no object, which all arguments are.
func (w *rewriter) never(s *value) {
	if types, _ := types(s); s.Has("type") && !slices.Contains(types, "object") {
		w.note(s, "type", Changed, "the arguments of a tool are an object")
	}
}

// node rewrites the schema v, which stands where any schema may.
func (w *rewriter) node(s *value, at string) *value {
	w.nodes++
	if w.nodes > maxNodes || len(w.inlining) > maxDepth {
		w.tooLarge()
		return made()
	}
	if len(w.inlining) > 0 {
		w.copies++
	}
	if !s.Is(jsonschema.Object) {
		switch {
		case s.IsFalse():
			w.noteAt(at, "false", w.atWorst(Dropped), "no value is allowed here")
		case w.d.strict():
			w.noteAt(at, "true", Refused, "any value is allowed here: say which")
		}
		return made()
	}
	if out := w.reference(s); out != nil {
		return out
	}
	if target, _ := w.target(s); target != nil && w.copies > maxCopies {
		return w.alone(s)
	}
	before := len(w.inlining)
	s = w.flatten(s, false)
	defer func() { w.inlining = w.inlining[:before] }()
	if target, _ := w.target(s); target != nil {
		return w.bare(s)
	}
	for _, keyword := range []string{"$dynamicRef", "$recursiveRef"} {
		if s.Has(keyword) {
			w.refuse(s, keyword, "what it leads to depends on the schemas that refer to this one")
		}
	}
	if s.Has("anyOf") || s.Has("oneOf") {
		return w.union(s)
	}
	types, null := types(s)
	if _, listed := literals(s); len(types) > 0 && !listed && !s.Has("type") {
		w.noteAt(s.Pointer, "type", Changed, "the schema names no type: %s follows from its keywords, and other values are left out", types[0])
	}
	switch {
	case len(types) == 0 && null:
		return w.remarked(s, made("type", "null"), checks[""])
	case len(types) == 0:
		w.refuse(s, "type", "any value is allowed here: say which")
		return w.untyped(s)
	case len(types) > 1, null && !w.listsNull(s, types[0]):
		return w.byType(s, types, null)
	case null:
		out := w.typed(s, types[0])
		set(out, "type", []string{types[0], "null"})
		return out
	}
	return w.typed(s, types[0])
}

// untyped rewrites a schema that names no type: its description says what it says.
func (w *rewriter) untyped(s *value) *value {
	var said []string
	for _, m := range s.Members {
		if assertions[m.Name] {
			said = append(said, m.Name)
		}
	}
	return w.remarked(s, made(), said)
}

// listsNull reports whether the dialect says that a value of a type may be null too by a list of types.
func (w *rewriter) listsNull(s *value, t string) bool {
	_, literal := literals(s)
	return w.d != AnthropicStrict && !literal && t != "object" && t != "array"
}

// titled gives out the title and the description of s.
func (w *rewriter) titled(s, out *value) *value {
	head := made()
	for _, keyword := range []string{"title", "description"} {
		if text := s.TextOf(keyword); text != "" {
			set(head, keyword, text)
		}
	}
	var r remark
	for _, keyword := range told {
		if v := s.Get(keyword); v != nil && !isNull(v) && !neutral(keyword, v) {
			w.remark(&r, s, keyword, v)
		}
	}
	r.on(head)
	out.Members = append(head.Members, out.Members...)
	return out
}

// typed rewrites a schema of values of one type.
func (w *rewriter) typed(s *value, t string) *value {
	out := made("type", t)
	var left []string
	if values, ok := literals(s); ok {
		left = w.literals(s, out, values, t)
	}
	said := ""
	switch t {
	case "object":
		left = append(left, w.members(s, out)...)
	case "array":
		var more []string
		more, said = w.elements(s, out)
		left = append(left, more...)
	}
	out = w.remarked(s, out, slices.Concat(checks[t], checks[""], left))
	if said != "" {
		out.Members = describedBy(out, said).Members // the object keeps its identity: tuples refers to it
	}
	return out
}

// remarked adds to out, what s became, those of keywords that the dialect keeps, and describes the others.
func (w *rewriter) remarked(s, out *value, keywords []string) *value {
	var r remark
	for _, keyword := range keywords {
		v := s.Get(keyword)
		if v == nil || neutral(keyword, v) {
			continue
		}
		switch {
		case w.says(out, keyword, v):
		case w.d.keeps(keyword, v) && out.Has("type") && !out.Has("enum") && !out.Has("const"):
			out.Set(keyword, v)
		default:
			w.remark(&r, s, keyword, v)
		}
	}
	out = w.titled(s, out)
	r.on(out)
	return out
}

// remark describes a keyword of s, and notes it.
func (w *rewriter) remark(r *remark, s *value, keyword string, v *value) {
	if r.add(keyword, v) {
		w.note(s, keyword, Described, "the description says it, the schema does not")
	} else {
		w.note(s, keyword, Dropped, "the schema does not say it, and it is too long for a description")
	}
}

// says reports whether out says a keyword that limits the number of elements already: a tuple does.
func (w *rewriter) says(out *value, keyword string, _ *value) bool {
	return (keyword == "minItems" || keyword == "maxItems") && out.Has(keyword)
}

// neutral reports whether a keyword allows all values.
func neutral(keyword string, v *value) bool {
	n, counts := count(v)
	switch keyword {
	case "uniqueItems", "deprecated", "readOnly", "writeOnly":
		return v.IsFalse()
	case "minLength", "minProperties":
		return counts && n == 0
	}
	return false
}

// literals rewrites enum and const, and returns which of them it cannot. Anthropic's own transforms drop the
// type beside them.
func (w *rewriter) literals(s, out *value, values []*value, t string) (left []string) {
	fit := slices.DeleteFunc(slices.Clone(values), func(v *value) bool { return !isOf(v, t) })
	keyword := "enum"
	if s.Has("const") {
		keyword = "const"
	}
	if t == "object" || t == "array" || len(fit) == 0 {
		w.refuse(s, keyword, "only strings, numbers and booleans can be listed, and at least one")
		return []string{"const", "enum"}
	}
	switch {
	case w.d == Gemini && t == "boolean":
		return []string{keyword}
	case keyword == "const" && w.d != Gemini:
		out.Set("const", fit[0])
	default:
		set(out, "enum", fit)
	}
	if w.d == AnthropicStrict {
		*out = *out.Without("type")
	}
	return nil
}
