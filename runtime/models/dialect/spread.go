package dialect

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/internal/jsonschema"
)

const (
	maxAlternatives = 200   // that a union of a root is spread into
	maxSpread       = 4_000 // bytes that a description says of them
	maxShown        = 160   // bytes that it says of one member
)

// spread returns s, the root of a schema, with the members of its unions as members of one object, since no
// provider takes a union there. The object allows what the unions allow, and more; its description says which members
// go together. It also declares what then, else and a part of allOf that cannot be merged declare.
func (w *rewriter) spread(s *value) *value {
	if !slices.ContainsFunc([]string{"allOf", "oneOf", "anyOf", "if"}, s.Has) {
		return s
	}
	w.inlining = append(w.inlining, w.source) // a reference to the whole schema adds no alternative
	defer func() { w.inlining = w.inlining[:len(w.inlining)-1] }()
	if parts := s.ListOf("allOf"); parts != nil {
		rest, left := s.Without("allOf"), []*value{}
		for _, part := range parts {
			if all, ok := w.alternatives([]*value{part}, 0); ok && len(all) == 1 {
				rest, left = w.gather(rest, "allOf", all), append(left, part)
			} else {
				rest = w.unioned(rest, s, "allOf", all, ok)
			}
		}
		if len(left) > 0 {
			rest.Members = append(rest.Members, &member{Name: "allOf", Value: &value{Kind: jsonschema.Array, Items: left}, From: []*value{origin(s, "allOf")}})
		}
		s = rest
	}
	for _, keyword := range []string{"oneOf", "anyOf"} {
		if s.Has(keyword) {
			all, ok := w.alternatives(s.ListOf(keyword), 0)
			s = w.unioned(s.Without(keyword), s, keyword, all, ok)
		}
	}
	if s.Has("if") && (s.Has("then") || s.Has("else")) {
		whatever := &value{Kind: jsonschema.Bool, Bool: true}
		branches := []*value{whatever, whatever}
		for i, keyword := range []string{"then", "else"} {
			if v := s.Get(keyword); v != nil {
				branches[i] = v
			}
		}
		if all, ok := w.alternatives(branches, 0); ok {
			s = w.gather(s, "if", all)
		}
	}
	if !s.Has("additionalProperties") && !s.Has("dependentSchemas") { // properties has what unevaluatedProperties saw
		s = renamed(s, "unevaluatedProperties", "additionalProperties")
	}
	return s
}

// unioned returns rest, which is s without a keyword, as the object of all that it and the alternatives of the keyword
// declare.
func (w *rewriter) unioned(rest, s *value, keyword string, all []*value, ok bool) *value {
	switch {
	case !ok:
		w.note(s, keyword, w.atWorst(Dropped), "the alternatives are too many")
		return rest
	case len(all) == 0:
		w.note(s, keyword, w.atWorst(Dropped), "no value is allowed here")
		return rest
	case len(all) == 1:
		if merged, ok := w.apply(rest, all[0], rest); ok {
			merged.Pointer = s.Pointer
			return merged
		}
	}
	out := w.gather(rest, keyword, all)
	effect, why := Described, "the members of its alternatives are those of one object, and the description says which go together"
	text, whole := w.told(out, keyword, all)
	if !whole {
		effect, why = Dropped, "the members of its alternatives are those of one object: to say which go together is too long for the description"
	}
	w.note(s, keyword, effect, "%s", why)
	return describedBy(out, text)
}

// alternatives returns the objects that the branches of a root's keyword stand for: several for one that is a union
// itself. It reports false where they are too many.
func (w *rewriter) alternatives(branches []*value, depth int) (out []*value, ok bool) {
	for _, branch := range branches {
		some, ok := w.alternative(branch, depth)
		if out = append(out, some...); !ok || len(out) > maxAlternatives {
			return nil, false
		}
	}
	return out, true
}

func (w *rewriter) alternative(b *value, depth int) ([]*value, bool) {
	if !b.Is(jsonschema.Object) {
		if b.IsTrue() {
			return []*value{made()}, true
		}
		return nil, true
	}
	if w.nodes++; depth > maxDepth || w.nodes > maxNodes {
		return nil, false
	}
	before := len(w.inlining)
	defer func() { w.inlining = w.inlining[:before] }()
	b = w.flatten(b, false)
	if target, _ := w.target(b); target != nil { // it leads to itself
		return nil, true
	}
	if types, _ := types(b); (b.Has("type") || b.Has("enum") || b.Has("const")) && !slices.Contains(types, "object") {
		w.note(b, "type", Changed, "the arguments of a tool are an object")
		return nil, true
	}
	for _, keyword := range []string{"oneOf", "anyOf"} {
		if !b.Has(keyword) {
			continue
		}
		inner, ok := w.alternatives(b.ListOf(keyword), depth+1)
		if !ok {
			return nil, false
		}
		rest := b.Without(keyword)
		var out []*value
		for _, a := range inner {
			merged, ok := w.apply(rest, a, a)
			if !ok {
				return []*value{b}, true // the description has the union
			}
			merged.Pointer = a.Pointer
			more, ok := w.alternative(merged, depth+1) // with the other union of b
			if !ok {
				return nil, false
			}
			out = append(out, more...)
		}
		return out, len(out) <= maxAlternatives
	}
	b, _ = settle(b)
	w.nodes += len(b.ObjectOf("properties").Fields())
	return []*value{b}, w.nodes <= maxNodes
}

// shut reports whether an object takes only the members that it declares.
func shut(s *value) bool {
	return s.Get("additionalProperties").IsFalse() && !s.Has("patternProperties")
}

// gather returns s with the members of alternatives, of which each value is one.
func (w *rewriter) gather(s *value, keyword string, all []*value) *value {
	for _, a := range all {
		for _, open := range []string{"patternProperties", "additionalProperties"} {
			if v := a.Get(open); v != nil && !v.IsFalse() {
				w.refuse(a, open, "the object takes members that are not declared")
			}
		}
	}
	g := newGathering(s, all)
	props := made()
	if own := s.ObjectOf("properties"); own != nil {
		props.Pointer = own.Pointer
	}
	for _, name := range g.names {
		if m, ok := w.gathered(g, keyword, name); ok {
			props.Members = append(props.Members, m)
		}
	}
	out := s.Without("properties", "required")
	out.Set("properties", props)
	if len(g.required) > 0 {
		set(out, "required", g.required)
		out.Member("required").From = []*value{s}
	}
	takesAny := func(a *value) bool { return a.Has("patternProperties") || a.Has("additionalProperties") && !shut(a) }
	switch {
	case s.Has("additionalProperties"):
	case s.Has("unevaluatedProperties"):
		if slices.ContainsFunc(all, takesAny) { // what it takes is evaluated
			out = out.Without("unevaluatedProperties")
		}
	case keyword != "allOf" && keyword != "if" && !slices.ContainsFunc(all, func(a *value) bool { return !shut(a) }):
		set(out, "additionalProperties", false)
	}
	return out
}

// A gathering is a schema and its alternatives, with their members by name.
type gathering struct {
	s        *value
	own      map[string]*member
	all      []*value
	of       []map[string]*member // of each alternative
	names    []string             // of all
	required []string             // by the schema, or by every alternative
}

func newGathering(s *value, all []*value) *gathering {
	g := &gathering{s: s, own: byName(s), all: all, required: s.TextsOf("required")}
	seen, times := map[string]bool{}, map[string]int{}
	add := func(name string) {
		if !seen[name] {
			seen[name] = true
			g.names = append(g.names, name)
		}
	}
	for _, m := range s.ObjectOf("properties").Fields() {
		add(m.Name)
	}
	for _, a := range all {
		g.of = append(g.of, byName(a))
		for _, m := range a.ObjectOf("properties").Fields() {
			add(m.Name)
		}
		names := a.TextsOf("required")
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			times[name]++
		}
	}
	for _, a := range all {
		for _, name := range a.TextsOf("required") {
			add(name)
			if times[name] == len(all) && !slices.Contains(g.required, name) {
				g.required = append(g.required, name)
			}
		}
	}
	return g
}

func byName(s *value) map[string]*member {
	out := map[string]*member{}
	for _, m := range s.ObjectOf("properties").Fields() {
		out[m.Name] = m
	}
	return out
}

// gathered returns the member called name of a gathering: any of what the alternatives say of it. It reports false where
// no alternative takes it.
func (w *rewriter) gathered(g *gathering, keyword, name string) (*member, bool) {
	own, declared := g.own[name]
	var variants []*member
	var in []*value // that declare them
	silent := false // an alternative says nothing of it
	for i, a := range g.all {
		m, ok := g.of[i][name]
		switch {
		case ok && m.Value.IsFalse():
		case ok:
			if declared {
				m = w.both(own, m)
			}
			variants, in = append(variants, m), append(in, a)
		default:
			silent = silent || !shut(a)
		}
	}
	switch {
	case declared && silent:
		return own, true
	case len(variants) == 0:
		return &member{Name: name, Value: made()}, silent && !shut(g.s)
	case !declared && shut(g.s):
		return nil, false
	}
	out := w.any(variants)
	if w.d == OpenAIStrict && !slices.Contains(g.required, name) && w.sourceAdmitsNull(out.Value) {
		for i, m := range variants {
			if !w.sourceAdmitsNull(m.Value) && !slices.Contains(in[i].TextsOf("required"), name) || len(variants) < len(g.all) {
				w.refuse(g.s, keyword, "the member %.40q may be null in one alternative, and has to be left out in another", name)
				break
			}
		}
	}
	return out, true
}

// both returns what a root and an alternative say of a member. What cannot be merged is left to the decoder.
func (w *rewriter) both(own, m *member) *member {
	if own.Value.Is(jsonschema.Object) && m.Value.Is(jsonschema.Object) {
		if merged, ok := w.merge(own.Value, m.Value); ok {
			return &member{Name: m.Name, Value: merged, From: slices.Concat(own.From, m.From)}
		}
		w.leave(own.Value, "it cannot be merged with what an alternative says")
	}
	return m
}

// any returns the member that allows what one of variants does.
func (w *rewriter) any(variants []*member) *member {
	out := *variants[0]
	var nodes []*value
	var texts []string // descriptions
	seen, described := map[string]bool{}, map[string]bool{}
	var values []*value
	listed := true
	for i, m := range variants {
		if i > 0 && len(m.From) > 0 {
			out.From = append(slices.Clone(out.From), m.From[0])
		}
		if own, ok := w.lists(m.Value); ok && listed {
			for _, v := range own {
				if !holds(values, v) {
					values = append(values, v)
				}
			}
			if text := m.Value.TextOf("description"); text != "" && !described[text] {
				described[text] = true
				texts = append(texts, shownValues(own)+": "+text)
			}
		} else {
			listed = false
		}
		key := m.Value
		if key.Is(jsonschema.Object) {
			key = key.Without("title", "description")
		}
		if text := string(jsonschema.JSON(key)); !seen[text] {
			seen[text] = true
			nodes = append(nodes, m.Value)
		}
	}
	switch {
	case len(nodes) == 1:
		return &out
	case listed:
		node := made()
		if t := oneType(values); t != "" {
			set(node, "type", t)
		}
		set(node, "enum", values)
		if len(texts) > 0 {
			set(node, "description", strings.Join(texts, " "))
		}
		out.Value = node
	default:
		out.Value = made("anyOf", nodes)
	}
	if first := variants[0].Value; first.Is(jsonschema.Object) {
		out.Value.Pointer = first.Pointer
	}
	return &out
}

// lists returns the values that a schema lists, where it says nothing else.
func (w *rewriter) lists(s *value) ([]*value, bool) {
	if target, _ := w.target(s); target != nil && !slices.ContainsFunc(s.Members, func(m *member) bool { return m.Name != "$ref" && !annotates(m.Name) }) {
		s = target
	}
	for _, m := range s.Fields() {
		if !annotates(m.Name) && m.Name != "type" && m.Name != "enum" && m.Name != "const" {
			return nil, false
		}
	}
	values, ok := literals(s)
	return values, ok && len(values) > 0
}

// oneType returns the type that all values have; empty where they have several.
func oneType(values []*value) string {
	for _, t := range append([]string{"null"}, known...) {
		if !slices.ContainsFunc(values, func(v *value) bool { return !isOf(v, t) }) {
			return t
		}
	}
	return ""
}

func shownValues(values []*value) string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(jsonschema.JSON(v))
	}
	return strings.Join(out, " or ")
}

// told returns what a description says of alternatives: the members that each has to have, those that it may have and what
// else it asks for. It reports false where it says less.
func (w *rewriter) told(out *value, keyword string, all []*value) (text string, whole bool) {
	var b strings.Builder
	b.WriteString("Give the members of at least one of these alternatives:")
	if keyword == "oneOf" {
		b.Reset()
		b.WriteString("Give the members of exactly one of these alternatives:")
	}
	props := map[string]*value{}
	for _, m := range out.ObjectOf("properties").Fields() {
		props[m.Name] = m.Value
	}
	whole = true
	for i, a := range all {
		line, said := w.line(a, props, out.TextsOf("required"))
		line = fmt.Sprintf("\n%d. %s", i+1, line)
		if b.Len()+len(line) > maxSpread {
			fmt.Fprintf(&b, "\nand %d more", len(all)-i)
			return b.String(), false
		}
		b.WriteString(line)
		whole = whole && said
	}
	return b.String(), whole
}

// line returns what a description says of one alternative. It reports false where it says less.
func (w *rewriter) line(a *value, props map[string]*value, required []string) (string, bool) {
	must, may := []string{}, []string{}
	required = append(slices.Clone(a.TextsOf("required")), required...)
	own := byName(a)
	for _, m := range a.ObjectOf("properties").Fields() {
		switch label := w.label(m, props[m.Name]); {
		case m.Value.IsFalse():
		case slices.Contains(required, m.Name):
			must = append(must, label)
		default:
			may = append(may, label)
		}
	}
	for _, name := range a.TextsOf("required") {
		if _, ok := own[name]; !ok {
			must = append(must, quotedName(name))
		}
	}
	text := strings.Join(must, ", ")
	switch {
	case len(must)+len(may) == 0 && shut(a):
		text = "no member"
	case len(must)+len(may) == 0:
		text = "any members"
	case len(must) == 0:
		text = "optional " + strings.Join(may, ", ")
	case len(may) > 0:
		text += ", optional " + strings.Join(may, ", ")
	}
	whole := true
	var r remark
	for _, m := range a.Members {
		if annotates(m.Name) || slices.Contains([]string{"type", "properties", "required"}, m.Name) || m.Name == "additionalProperties" && m.Value.Is(jsonschema.Bool) {
			continue
		}
		whole = r.add(m.Name, m.Value) && whole
	}
	if len(r.said) > 0 {
		text += " {" + strings.Join(r.said, ", ") + "}"
	}
	text += "."
	for _, keyword := range []string{"title", "description"} {
		if about := a.TextOf(keyword); about != "" {
			return text + " " + cut(strings.Join(strings.Fields(about), " "), maxDescribed), whole
		}
	}
	return text, whole
}

var plainName = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_.$-]*$`)

// quotedName returns a name as a description has it, in quotes where it could be read as something else.
func quotedName(name string) string {
	if plainName.MatchString(name) {
		return name
	}
	return string(jsonschema.JSON(&value{Kind: jsonschema.String, Text: name}))
}

// label returns the name of a member of an alternative, and its schema where that is not what all alternatives say.
func (w *rewriter) label(m *member, all *value) string {
	s, other := m.Value, all
	if !s.Is(jsonschema.Object) || jsonschema.Equal(s, other) {
		return quotedName(m.Name)
	}
	if other.Is(jsonschema.Object) && jsonschema.Equal(s.Without("title", "description"), other.Without("title", "description")) {
		return quotedName(m.Name)
	}
	if is := w.shown(s); is != "" {
		return quotedName(m.Name) + ": " + is
	}
	return quotedName(m.Name)
}

// cut returns text, or its beginning where it has more than so many bytes.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}

// describedBy returns s with more in its description.
func describedBy(s *value, more string) *value {
	out := made()
	if title := s.Get("title"); title != nil {
		out.Set("title", title)
	}
	if text := s.TextOf("description"); text != "" {
		more = text + "\n\n" + more
	}
	set(out, "description", more)
	out.Pointer = s.Pointer
	out.Members = append(out.Members, s.Without("title", "description").Members...)
	return out
}
