package dialect

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// refTo returns the reference to the schema called name in $defs.
func refTo(name string) string { return "#/$defs/" + url.PathEscape(escape(name)) }

// Why a reference is not followed.
const (
	leadsOut  = "it leads out of the schema, or nowhere"
	leadsByID = "it leads to a part by an $id that is relative, or nowhere"
)

// An index knows what references lead to otherwise than by a JSON Pointer from the root. A part with an $id of
// its own is a resource: references in it that begin with # lead to what is in the part.
type index struct {
	root      *object
	resources map[*object]*object // of the schemas that are not of the root
	anchors   map[anchor]*object
	ids       map[string]*object
}

type anchor struct {
	resource *object
	name     string
}

func newIndex(root *object) index {
	x := index{root: root, resources: map[*object]*object{}, anchors: map[anchor]*object{}, ids: map[string]*object{}}
	x.add(root, root)
	return x
}

// add adds the schema v, or those of a list, which are of a resource.
func (x *index) add(v any, resource *object) {
	if list, ok := v.([]any); ok {
		for _, v := range list {
			x.add(v, resource)
		}
		return
	}
	s, ok := v.(*object)
	if !ok {
		return
	}
	if id := strings.TrimSuffix(s.text("$id"), "#"); id != "" {
		resource = s
		x.ids[id] = s
	}
	if resource != x.root {
		x.resources[s] = resource
	}
	for _, m := range s.members {
		switch {
		case m.name == "$anchor" || m.name == "$dynamicAnchor":
			if name, ok := m.value.(string); ok {
				x.anchors[anchor{resource, name}] = s
			}
		case byNames[m.name]:
			named, _ := m.value.(*object)
			for _, part := range named.fields() {
				x.add(part.value, resource)
			}
		case holdsSchemas(m.name):
			x.add(m.value, resource)
		}
	}
}

// target returns what the reference of s leads to. It is nil, and why is empty, where s has none.
func (w *rewriter) target(s *object) (target *object, why string) {
	v, ok := s.get("$ref")
	if !ok {
		return nil, ""
	}
	ref, _ := v.(string)
	id, fragment, _ := strings.Cut(ref, "#")
	resource := w.index.resources[s.origin("$ref")]
	if resource == nil {
		resource = w.source
	}
	if id != "" {
		if resource = w.index.ids[id]; resource == nil && len(w.index.ids) == 0 {
			return nil, leadsOut
		} else if resource == nil || !strings.Contains(id, ":") {
			return nil, leadsByID
		}
	}
	if target = resource.resolve(fragment); target == nil {
		target = w.index.anchors[anchor{resource, fragment}]
	}
	if target == nil {
		return nil, leadsOut
	}
	return target, ""
}

// reference rewrites a schema that only refers to another one. It returns nil when s does not, or more
// has to be said than that: then flatten replaces the reference.
func (w *rewriter) reference(s *object) *object {
	if target, _ := w.target(s); target == nil {
		return nil
	}
	for _, m := range s.members {
		if m.name != "$ref" && (!annotates(m.name) || slices.Contains(append([]string{"title", "description"}, told...), m.name)) {
			return nil
		}
	}
	return w.bare(s)
}

// alone returns the reference of s without what stands beside it, which a schema is too large for that it would
// have to be replaced in. A strict schema closes objects, so that it cannot leave out more than annotations.
func (w *rewriter) alone(s *object) *object {
	for _, m := range s.members {
		switch {
		case m.name == "$ref" || m.name == "$defs" || m.name == "definitions":
		case !annotates(m.name) && w.d.strict():
			w.tooLarge()
			return made()
		default:
			w.note(s, m.name, Dropped, "the schema is too large to say it beside a reference")
		}
	}
	return w.bare(s)
}

// bare returns the reference of s alone, which leads to a target. It defines what it refers to.
func (w *rewriter) bare(s *object) *object {
	target, _ := w.target(s)
	name, ok := w.defined[target]
	if !ok {
		name = w.define(target, s.text("$ref"))
	} else if slices.Contains(w.defining, target) && w.d == AnthropicStrict {
		w.noteAt(target.at, "$ref", Refused, "the schema refers to itself, which the grammar of a strict tool cannot")
	}
	return made("$ref", refTo(name))
}

// define rewrites a schema into $defs and returns its name there.
func (w *rewriter) define(target *object, ref string) string {
	base, err := url.PathUnescape(ref[strings.LastIndexAny(ref, "/#")+1:])
	if base = unescape(base); err != nil || base == "" {
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
