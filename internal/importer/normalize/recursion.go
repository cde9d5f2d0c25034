package normalize

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/internal/jsonschema"
)

// recursion translates $recursiveRef of draft 2019-09. It leads to the root of its resource or, where
// that has $recursiveAnchor, to the outermost one that has. In a schema of one resource both
// are its root.
func (w *work) recursion() *Fault {
	c := &recursive{work: w, anchor: "recursive"}
	for i := 2; c.taken(w.root); i++ {
		c.anchor = fmt.Sprintf("recursive%d", i)
	}
	for _, sub := range subschemas(w.root) {
		c.several = c.several || holdsResource(sub)
	}
	return c.schema(w.root, w.root.Get("$recursiveAnchor").IsTrue(), true)
}

type recursive struct {
	*work
	anchor  string // the name of $dynamicAnchor
	several bool   // the schema has resources besides its root
}

// taken reports whether a schema or a part of it has an anchor of the name.
func (c *recursive) taken(s *jsonschema.Value) bool {
	if s.Get("$anchor").IsText(c.anchor) || s.Get("$dynamicAnchor").IsText(c.anchor) {
		return true
	}
	for _, sub := range subschemas(s) {
		if c.taken(sub) {
			return true
		}
	}
	return false
}

// holdsResource reports whether a schema has an $id, or one inside of it.
func holdsResource(s *jsonschema.Value) bool {
	if isResource(s) {
		return true
	}
	for _, sub := range subschemas(s) {
		if holdsResource(sub) {
			return true
		}
	}
	return false
}

func isResource(s *jsonschema.Value) bool {
	id := s.Get("$id")
	return id.Is(jsonschema.String) && !strings.HasPrefix(id.Text, "#")
}

// schema translates a schema in a resource whose root has $recursiveAnchor or not.
func (c *recursive) schema(s *jsonschema.Value, anchored, root bool) *Fault {
	if at := s.Get("$recursiveAnchor"); at != nil {
		if root && at.IsTrue() && c.several {
			s.Rename("$recursiveAnchor", "$dynamicAnchor")
			s.Set("$dynamicAnchor", jsonschema.NewString(c.anchor, at))
			c.note(Draft, at, "$recursiveAnchor became $dynamicAnchor")
		} else {
			s.Delete("$recursiveAnchor")
			c.note(Draft, at, "$recursiveAnchor removed: no other resource leads to it")
		}
	}
	if ref := s.Get("$recursiveRef"); ref != nil {
		if !ref.IsText("#") {
			return &Fault{ref, "$recursiveRef leads elsewhere than to \"#\"", "write \"#\", the only value that draft 2019-09 has for it"}
		}
		c.reference(s, ref, anchored)
	}
	for _, sub := range subschemas(s) {
		in, top := anchored, isResource(sub)
		if top {
			in = sub.Get("$recursiveAnchor").IsTrue()
		}
		if f := c.schema(sub, in, top); f != nil {
			return f
		}
	}
	return nil
}

// reference translates one $recursiveRef.
func (c *recursive) reference(s, ref *jsonschema.Value, anchored bool) {
	name, to := "$ref", "#"
	if c.several && anchored {
		name, to = "$dynamicRef", "#"+c.anchor
	}
	text := jsonschema.NewString(to, ref)
	if s.Has(name) {
		s.Delete("$recursiveRef")
		also := jsonschema.NewObject(ref)
		also.Set(name, text)
		and(s, also)
	} else {
		at := slices.Index(s.Names(), "$recursiveRef")
		s.Members[at].Name, s.Members[at].Value = name, text
	}
	c.older(ref, dsl.Draft2019, "$recursiveRef became "+name)
}
