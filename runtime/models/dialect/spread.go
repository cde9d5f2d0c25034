package dialect

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

const (
	maxAlternatives = 200   // that a union of a root is spread into
	maxSpread       = 4_000 // bytes that a description says of them
	maxShown        = 160   // bytes that it says of one member
)

// spread returns s, the root of a schema, with the members of its unions as members of one object, since no
// provider takes a union there. The object allows what the unions allow, and more; its description says which members
// go together. It also declares what then, else and a part of allOf that cannot be merged declare.
func (w *rewriter) spread(s *object) *object {
	if !slices.ContainsFunc([]string{"allOf", "oneOf", "anyOf", "if"}, s.has) {
		return s
	}
	w.inlining = append(w.inlining, w.source) // a reference to the whole schema adds no alternative
	defer func() { w.inlining = w.inlining[:len(w.inlining)-1] }()
	if parts := s.list("allOf"); parts != nil {
		rest, left := s.without("allOf"), []any{}
		for _, part := range parts {
			if all, ok := w.alternatives([]any{part}, 0); ok && len(all) == 1 {
				rest, left = w.gather(rest, "allOf", all), append(left, part)
			} else {
				rest = w.unioned(rest, s, "allOf", all, ok)
			}
		}
		if len(left) > 0 {
			rest.members = append(rest.members, member{name: "allOf", value: left, in: s.origin("allOf")})
		}
		s = rest
	}
	for _, keyword := range []string{"oneOf", "anyOf"} {
		if s.has(keyword) {
			all, ok := w.alternatives(s.list(keyword), 0)
			s = w.unioned(s.without(keyword), s, keyword, all, ok)
		}
	}
	if s.has("if") && (s.has("then") || s.has("else")) {
		branches := []any{true, true}
		for i, keyword := range []string{"then", "else"} {
			if v, ok := s.get(keyword); ok {
				branches[i] = v
			}
		}
		if all, ok := w.alternatives(branches, 0); ok {
			s = w.gather(s, "if", all)
		}
	}
	i := slices.IndexFunc(s.members, func(m member) bool { return m.name == "unevaluatedProperties" })
	if i >= 0 && !s.has("additionalProperties") && !s.has("dependentSchemas") { // properties has what it saw
		s = &object{at: s.at, members: slices.Clone(s.members)}
		s.members[i].name = "additionalProperties"
	}
	return s
}

// unioned returns rest, which is s without a keyword, as the object of all that it and the alternatives of the keyword
// declare.
func (w *rewriter) unioned(rest, s *object, keyword string, all []*object, ok bool) *object {
	switch {
	case !ok:
		w.note(s, keyword, w.atWorst(Dropped), "the alternatives are too many")
		return rest
	case len(all) == 0:
		w.note(s, keyword, w.atWorst(Dropped), "no value is allowed here")
		return rest
	case len(all) == 1:
		if merged, ok := w.apply(rest, all[0], rest); ok {
			merged.at = s.at
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
func (w *rewriter) alternatives(branches []any, depth int) (out []*object, ok bool) {
	for _, branch := range branches {
		some, ok := w.alternative(branch, depth)
		if out = append(out, some...); !ok || len(out) > maxAlternatives {
			return nil, false
		}
	}
	return out, true
}

func (w *rewriter) alternative(branch any, depth int) ([]*object, bool) {
	b, ok := branch.(*object)
	if !ok {
		if branch == true {
			return []*object{made()}, true
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
	if types, _ := b.types(); (b.has("type") || b.has("enum") || b.has("const")) && !slices.Contains(types, "object") {
		w.note(b, "type", Changed, "the arguments of a tool are an object")
		return nil, true
	}
	for _, keyword := range []string{"oneOf", "anyOf"} {
		if !b.has(keyword) {
			continue
		}
		inner, ok := w.alternatives(b.list(keyword), depth+1)
		if !ok {
			return nil, false
		}
		rest := b.without(keyword)
		var out []*object
		for _, a := range inner {
			merged, ok := w.apply(rest, a, a)
			if !ok {
				return []*object{b}, true // the description has the union
			}
			merged.at = a.at
			more, ok := w.alternative(merged, depth+1) // with the other union of b
			if !ok {
				return nil, false
			}
			out = append(out, more...)
		}
		return out, len(out) <= maxAlternatives
	}
	b, _ = settle(b)
	w.nodes += len(b.object("properties").fields())
	return []*object{b}, w.nodes <= maxNodes
}

// shut reports whether an object takes only the members that it declares.
func (s *object) shut() bool {
	return s.value("additionalProperties") == false && !s.has("patternProperties")
}

// gather returns s with the members of alternatives, of which each value is one.
func (w *rewriter) gather(s *object, keyword string, all []*object) *object {
	for _, a := range all {
		for _, open := range []string{"patternProperties", "additionalProperties"} {
			if v, ok := a.get(open); ok && v != false {
				w.refuse(a, open, "the object takes members that are not declared")
			}
		}
	}
	g := newGathering(s, all)
	props := made()
	if own := s.object("properties"); own != nil {
		props.at = own.at
	}
	for _, name := range g.names {
		if m, ok := w.gathered(g, keyword, name); ok {
			props.members = append(props.members, m)
		}
	}
	out := s.without("properties", "required")
	out.set("properties", props)
	if len(g.required) > 0 {
		list := make([]any, len(g.required))
		for i, name := range g.required {
			list[i] = name
		}
		out.members = append(out.members, member{name: "required", value: list, in: s})
	}
	takesAny := func(a *object) bool { return a.has("patternProperties") || a.has("additionalProperties") && !a.shut() }
	switch {
	case s.has("additionalProperties"):
	case s.has("unevaluatedProperties"):
		if slices.ContainsFunc(all, takesAny) { // what it takes is evaluated
			out = out.without("unevaluatedProperties")
		}
	case keyword != "allOf" && keyword != "if" && !slices.ContainsFunc(all, func(a *object) bool { return !a.shut() }):
		out.set("additionalProperties", false)
	}
	return out
}

// A gathering is a schema and its alternatives, with their members by name.
type gathering struct {
	s        *object
	own      map[string]member
	all      []*object
	of       []map[string]member // of each alternative
	names    []string            // of all
	required []string            // by the schema, or by every alternative
}

func newGathering(s *object, all []*object) *gathering {
	g := &gathering{s: s, own: byName(s), all: all, required: s.strings("required")}
	seen, times := map[string]bool{}, map[string]int{}
	add := func(name string) {
		if !seen[name] {
			seen[name] = true
			g.names = append(g.names, name)
		}
	}
	for _, m := range s.object("properties").fields() {
		add(m.name)
	}
	for _, a := range all {
		g.of = append(g.of, byName(a))
		for _, m := range a.object("properties").fields() {
			add(m.name)
		}
		names := a.strings("required")
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			times[name]++
		}
	}
	for _, a := range all {
		for _, name := range a.strings("required") {
			add(name)
			if times[name] == len(all) && !slices.Contains(g.required, name) {
				g.required = append(g.required, name)
			}
		}
	}
	return g
}

func byName(s *object) map[string]member {
	out := map[string]member{}
	for _, m := range s.object("properties").fields() {
		out[m.name] = m
	}
	return out
}

// gathered returns the member called name of a gathering: any of what the alternatives say of it. It reports false where
// no alternative takes it.
func (w *rewriter) gathered(g *gathering, keyword, name string) (member, bool) {
	own, declared := g.own[name]
	var variants []member
	var in []*object // that declare them
	silent := false  // an alternative says nothing of it
	for i, a := range g.all {
		m, ok := g.of[i][name]
		switch {
		case ok && m.value == false:
		case ok:
			if declared {
				m = w.both(own, m)
			}
			variants, in = append(variants, m), append(in, a)
		default:
			silent = silent || !a.shut()
		}
	}
	switch {
	case declared && silent:
		return own, true
	case len(variants) == 0:
		return member{name: name, value: made()}, silent && !g.s.shut()
	case !declared && g.s.shut():
		return member{}, false
	}
	out := w.any(variants)
	if w.d == OpenAIStrict && !slices.Contains(g.required, name) && w.sourceAdmitsNull(out.value) {
		for i, m := range variants {
			if !w.sourceAdmitsNull(m.value) && !slices.Contains(in[i].strings("required"), name) || len(variants) < len(g.all) {
				w.refuse(g.s, keyword, "the member %.40q may be null in one alternative, and has to be left out in another", name)
				break
			}
		}
	}
	return out, true
}

// both returns what a root and an alternative say of a member. What cannot be merged is left to the decoder.
func (w *rewriter) both(own, m member) member {
	x, isX := own.value.(*object)
	y, isY := m.value.(*object)
	if isX && isY {
		if merged, ok := w.merge(x, y); ok {
			return member{name: m.name, value: merged, in: own.in, also: append(slices.Clone(m.also), m.in)}
		}
		w.leave(x, "it cannot be merged with what an alternative says")
	}
	return m
}

// any returns the member that allows what one of variants does.
func (w *rewriter) any(variants []member) member {
	out := variants[0]
	var nodes []any
	var texts []string // descriptions
	seen, described := map[string]bool{}, map[string]bool{}
	var values []any
	listed := true
	for i, m := range variants {
		if i > 0 && m.in != nil {
			out.also = append(slices.Clone(out.also), m.in)
		}
		o, isObject := m.value.(*object)
		if own, ok := w.lists(o); ok && listed {
			for _, v := range own {
				if !slices.ContainsFunc(values, func(u any) bool { return equal(u, v) }) {
					values = append(values, v)
				}
			}
			if text := o.text("description"); text != "" && !described[text] {
				described[text] = true
				texts = append(texts, shownValues(own)+": "+text)
			}
		} else {
			listed = false
		}
		key := m.value
		if isObject {
			key = o.without("title", "description")
		}
		if text, err := encode(key); err == nil && !seen[string(text)] {
			seen[string(text)] = true
			nodes = append(nodes, m.value)
		}
	}
	switch {
	case len(nodes) == 1:
		return out
	case listed:
		node := made()
		if t := oneType(values); t != "" {
			node.set("type", t)
		}
		node.set("enum", values)
		if len(texts) > 0 {
			node.set("description", strings.Join(texts, " "))
		}
		out.value = node
	default:
		out.value = made("anyOf", nodes)
	}
	if first, ok := variants[0].value.(*object); ok {
		out.value.(*object).at = first.at
	}
	return out
}

// lists returns the values that a schema lists, where it says nothing else.
func (w *rewriter) lists(s *object) ([]any, bool) {
	if target, _ := w.target(s); target != nil && !slices.ContainsFunc(s.members, func(m member) bool { return m.name != "$ref" && !annotates(m.name) }) {
		s = target
	}
	for _, m := range s.fields() {
		if !annotates(m.name) && m.name != "type" && m.name != "enum" && m.name != "const" {
			return nil, false
		}
	}
	values, ok := s.literals()
	return values, ok && len(values) > 0
}

// oneType returns the type that all values have; empty where they have several.
func oneType(values []any) string {
	for _, t := range append([]string{"null"}, known...) {
		if !slices.ContainsFunc(values, func(v any) bool { return !isOf(v, t) }) {
			return t
		}
	}
	return ""
}

func shownValues(values []any) string {
	out := make([]string, len(values))
	for i, v := range values {
		text, _ := encode(v)
		out[i] = string(text)
	}
	return strings.Join(out, " or ")
}

// told returns what a description says of alternatives: the members that each has to have, those that it may have and what
// else it asks for. It reports false where it says less.
func (w *rewriter) told(out *object, keyword string, all []*object) (text string, whole bool) {
	var b strings.Builder
	b.WriteString("Give the members of at least one of these alternatives:")
	if keyword == "oneOf" {
		b.Reset()
		b.WriteString("Give the members of exactly one of these alternatives:")
	}
	props := byName(out)
	whole = true
	for i, a := range all {
		line, said := w.line(a, props, out.strings("required"))
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
func (w *rewriter) line(a *object, props map[string]member, required []string) (string, bool) {
	must, may := []string{}, []string{}
	required = append(slices.Clone(a.strings("required")), required...)
	own := byName(a)
	for _, m := range a.object("properties").fields() {
		switch label := w.label(m, props[m.name]); {
		case m.value == false:
		case slices.Contains(required, m.name):
			must = append(must, label)
		default:
			may = append(may, label)
		}
	}
	for _, name := range a.strings("required") {
		if _, ok := own[name]; !ok {
			must = append(must, quotedName(name))
		}
	}
	text := strings.Join(must, ", ")
	switch {
	case len(must)+len(may) == 0 && a.shut():
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
	for _, m := range a.members {
		if annotates(m.name) || slices.Contains([]string{"type", "properties", "required"}, m.name) || m.name == "additionalProperties" && (m.value == false || m.value == true) {
			continue
		}
		whole = r.add(m.name, m.value) && whole
	}
	if len(r.said) > 0 {
		text += " {" + strings.Join(r.said, ", ") + "}"
	}
	text += "."
	for _, keyword := range []string{"title", "description"} {
		if about := a.text(keyword); about != "" {
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
	text, _ := encode(name)
	return string(text)
}

// label returns the name of a member of an alternative, and its schema where that is not what all alternatives say.
func (w *rewriter) label(m, all member) string {
	s, ok := m.value.(*object)
	if !ok || equal(m.value, all.value) {
		return quotedName(m.name)
	}
	if other, ok := all.value.(*object); ok && equal(s.without("title", "description"), other.without("title", "description")) {
		return quotedName(m.name)
	}
	if is := w.shown(s); is != "" {
		return quotedName(m.name) + ": " + is
	}
	return quotedName(m.name)
}

// cut returns text, or its beginning where it has more than so many bytes.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}

// describedBy returns s with more in its description.
func describedBy(s *object, more string) *object {
	out := made()
	if title, ok := s.get("title"); ok {
		out.set("title", title)
	}
	if text := s.text("description"); text != "" {
		more = text + "\n\n" + more
	}
	out.set("description", more)
	out.at = s.at
	out.members = append(out.members, s.without("title", "description").members...)
	return out
}
