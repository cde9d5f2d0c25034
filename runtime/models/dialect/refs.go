package dialect

import (
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/ambit-tools/ambit/internal/jsonschema"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// refTo returns the reference to the schema called name in $defs.
func refTo(name string) string { return "#/$defs/" + url.PathEscape(wire.EscapePointer(name)) }

// Why a reference is not followed.
const (
	leadsOut       = "it leads out of the schema, or nowhere"
	leadsToSeveral = "several parts of the schema have its name"
)

// target returns what the reference of s leads to. It is nil, and why is empty, where s has none.
func (w *rewriter) target(s *value) (target *value, why string) {
	ref := s.Get("$ref")
	if ref == nil {
		return nil, ""
	}
	target, err := w.index.Find(origin(s, "$ref"), s.TextOf("$ref"))
	switch {
	case errors.Is(err, jsonschema.ErrAmbiguous):
		return nil, leadsToSeveral
	case err != nil || !ref.Is(jsonschema.String) || !target.Is(jsonschema.Object):
		return nil, leadsOut
	}
	return target, ""
}

// reference rewrites a schema that only refers to another one. It returns nil when s does not, or more
// has to be said than that: then flatten replaces the reference.
func (w *rewriter) reference(s *value) *value {
	if target, _ := w.target(s); target == nil {
		return nil
	}
	for _, m := range s.Members {
		if m.Name != "$ref" && (!annotates(m.Name) || slices.Contains(append([]string{"title", "description"}, told...), m.Name)) {
			return nil
		}
	}
	return w.bare(s)
}

// alone returns the reference of s without what stands beside it, which a schema is too large for that it would
// have to be replaced in. A strict schema closes objects, so that it cannot leave out more than annotations.
func (w *rewriter) alone(s *value) *value {
	for _, m := range s.Members {
		switch {
		case m.Name == "$ref" || m.Name == "$defs" || m.Name == "definitions":
		case !annotates(m.Name) && w.d.strict():
			w.tooLarge()
			return made()
		default:
			w.note(s, m.Name, Dropped, "the schema is too large to say it beside a reference")
		}
	}
	return w.bare(s)
}

// bare returns the reference of s alone, which leads to a target. It defines what it refers to.
func (w *rewriter) bare(s *value) *value {
	target, _ := w.target(s)
	name, ok := w.defined[target]
	if !ok {
		name = w.define(target, s.TextOf("$ref"))
	} else if slices.Contains(w.defining, target) && w.d == AnthropicStrict {
		w.noteAt(target.Pointer, "$ref", Refused, "the schema refers to itself, which the grammar of a strict tool cannot")
	}
	return made("$ref", refTo(name))
}

// define rewrites a schema into $defs and returns its name there.
func (w *rewriter) define(target *value, ref string) string {
	base, err := url.PathUnescape(ref[strings.LastIndexAny(ref, "/#")+1:])
	if base = strings.NewReplacer("~1", "/", "~0", "~").Replace(base); err != nil || base == "" {
		base = "Root"
	}
	name := base
	for i := 2; w.names[name]; i++ {
		name = base + strconv.Itoa(i)
	}
	w.names[name], w.defined[target] = true, name
	i := len(w.defs)
	w.defs = append(w.defs, &member{Name: name})
	w.defining = append(w.defining, target)
	inlining := w.inlining
	w.inlining = nil
	w.defs[i].Value = w.node(target.Without("$defs", "definitions"), target.Pointer)
	w.inlining = inlining
	w.defining = w.defining[:len(w.defining)-1]
	return name
}
