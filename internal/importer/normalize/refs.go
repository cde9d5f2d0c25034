package normalize

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/internal/jsonschema"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// resolver finds what references lead to, and gives each target one name in $defs.
type resolver struct {
	*work
	order   []*jsonschema.Value                     // schemas with a reference
	keys    map[*jsonschema.Value]string            // of a definition: its name
	targets map[*jsonschema.Value]*jsonschema.Value // of a schema with a reference
	names   map[*jsonschema.Value]string            // of a target: its name in $defs
	taken   map[string]bool
	kept    map[string]string // the anchors that stay: where each stands
	defs    []*jsonschema.Member
}

// references makes every $ref lead to a name in the $defs of the root.
func (w *work) references() *Fault {
	r := &resolver{
		work: w, keys: map[*jsonschema.Value]string{}, targets: map[*jsonschema.Value]*jsonschema.Value{},
		names: map[*jsonschema.Value]string{}, taken: map[string]bool{}, kept: map[string]string{},
	}
	r.collect(w.root)
	if r.dynamic {
		return nil // the declaration decides what it takes of it
	}
	index := jsonschema.NewIndex(jsonschema.Values{}, w.root)
	for _, s := range r.order {
		if f := r.resolve(index, s); f != nil {
			return f
		}
	}
	r.visit(w.root)
	r.clean(w.root)
	for _, d := range r.defs {
		r.clean(d.Value)
	}
	w.root.Delete("$defs")
	if len(r.defs) > 0 {
		at := r.defs[0].Value
		w.root.Set("$defs", &jsonschema.Value{Kind: jsonschema.Object, Members: r.defs, Pos: at.Pos, Pointer: at.Pointer})
	}
	return nil
}

// collect notes the definitions and references of a schema.
func (r *resolver) collect(s *jsonschema.Value) {
	r.dynamic = r.dynamic || s.Has("$dynamicRef")
	if s.Get("$ref").Is(jsonschema.String) {
		r.order = append(r.order, s)
	}
	for _, key := range []string{"$defs", "definitions"} {
		for _, m := range members(s, key) {
			r.keys[m.Value] = m.Name
		}
	}
	for _, sub := range subschemas(s) {
		r.collect(sub)
	}
}

// resolve finds the target of one reference. A pointer may have been written for a list of items, which is
// prefixItems by now.
func (r *resolver) resolve(index *jsonschema.Index[*jsonschema.Value], s *jsonschema.Value) *Fault {
	ref := s.Get("$ref")
	target, err := index.Find(s, renamed(ref.Text))
	if err != nil {
		target, err = index.Find(s, ref.Text)
	}
	switch {
	case errors.Is(err, jsonschema.ErrOutside):
		return &Fault{ref, fmt.Sprintf("$ref: %q leads out of the schema", ref.Text), "put what it leads to into $defs: an import reads no other document"}
	case errors.Is(err, jsonschema.ErrAmbiguous):
		return &Fault{ref, fmt.Sprintf("$ref: %q leads to several schemas", ref.Text), "give each of them an $id or an $anchor of its own"}
	case err != nil, !target.Is(jsonschema.Object) && !target.Is(jsonschema.Bool):
		return &Fault{ref, fmt.Sprintf("$ref: %q leads nowhere", ref.Text), "define it in $defs of the schema, or remove the $ref"}
	}
	r.targets[s] = target
	return nil
}

// renamed is a reference after the translation of a list of items.
func renamed(ref string) string {
	where, pointer, _ := strings.Cut(ref, "#")
	parts := strings.Split(pointer, "/")
	for i := 0; i+1 < len(parts); i++ {
		if parts[i] == "items" && parts[i+1] != "" && strings.Trim(parts[i+1], "0123456789") == "" {
			parts[i] = "prefixItems"
		}
	}
	return where + "#" + strings.Join(parts, "/")
}

// visit rewrites the references below a schema, and gives names to what they lead to.
func (r *resolver) visit(s *jsonschema.Value) {
	if target := r.targets[s]; target != nil {
		ref := s.Get("$ref")
		if to := "#/$defs/" + r.define(target); to != ref.Text {
			r.note(Reference, ref, "$ref %q became %q", ref.Text, to)
			s.Set("$ref", jsonschema.NewString(to, ref))
		}
	}
	for key, sub := range subschemas(s) {
		if key != "$defs" && key != "definitions" {
			r.visit(sub)
		}
	}
}

// define gives a target its name. One that is no definition is copied: it stays where it
// is as well.
func (r *resolver) define(target *jsonschema.Value) string {
	if name, ok := r.names[target]; ok {
		return name
	}
	key, own := r.keys[target]
	if !own {
		parts := strings.FieldsFunc(target.Pointer, func(c rune) bool { return c == '/' })
		parts = slices.DeleteFunc(parts, func(p string) bool {
			return slices.Contains([]string{"properties", "items", "inputSchema", "outputSchema", "$defs", "definitions"}, p)
		})
		if key = strings.Join(parts, "_"); key == "" {
			key = "Root"
		}
	}
	name := r.unused(legal(key))
	r.names[target] = name
	def := &jsonschema.Member{Name: name, Pos: target.Pos, Value: target}
	r.defs = append(r.defs, def)
	if own {
		if strings.HasSuffix(target.Pointer, "/definitions/"+wire.EscapePointer(key)) || name != key {
			r.note(Definition, target, "definition %q moved to $defs/%s of the root", key, name)
		}
	} else {
		def.Value = r.copied(target)
	}
	r.visit(def.Value)
	return name
}

// copied clones a schema without the definitions inside of it. The references of the
// clone lead where those of the source do.
func (r *resolver) copied(s *jsonschema.Value) *jsonschema.Value {
	out := s.Clone()
	r.pair(s, out)
	out.Delete("$defs")
	out.Delete("definitions")
	return out
}

func (r *resolver) pair(from, to *jsonschema.Value) {
	if target := r.targets[from]; target != nil {
		r.targets[to] = target
	}
	for i, item := range from.Items {
		r.pair(item, to.Items[i])
	}
	for i, m := range from.Members {
		r.pair(m.Value, to.Members[i].Value)
	}
}

// clean removes what only references needed.
func (r *resolver) clean(s *jsonschema.Value) {
	for _, key := range []string{"$defs", "definitions"} {
		for _, m := range members(s, key) {
			if _, used := r.names[m.Value]; !used {
				r.note(Definition, m.Value, "definition %q dropped: nothing refers to it", m.Name)
			}
		}
		s.Delete(key)
	}
	if at := s.Get("$id"); at.Is(jsonschema.String) {
		s.Delete("$id")
		r.note(KeywordDropped, at, "$id removed: references lead to $defs")
	}
	if at := s.Get("$anchor"); at.Is(jsonschema.String) {
		if first, twice := r.kept[at.Text]; twice {
			s.Delete("$anchor")
			if first != at.Pointer { // else it is a copy
				r.note(KeywordDropped, at, "$anchor removed: another part has it")
			}
		} else {
			r.kept[at.Text] = at.Pointer
		}
	}
	for _, sub := range subschemas(s) {
		r.clean(sub)
	}
}

// unused is a name that no other definition has, nor one that becomes the same in Go.
func (r *resolver) unused(name string) string {
	for i, try := 2, name; ; i++ {
		if g := dsl.GoName(try); !r.taken[g] {
			r.taken[g] = true
			return try
		}
		suffix := fmt.Sprintf("_%d", i)
		try = name[:min(len(name), 64-len(suffix))] + suffix
	}
}

// legal makes a name that a declaration takes for a type.
func legal(name string) string {
	out := strings.Map(func(c rune) rune {
		if c < 0x80 && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9') {
			return c
		}
		return '_'
	}, name)
	out = strings.Trim(out, "_")
	if out == "" || out[0] >= '0' && out[0] <= '9' {
		out = "Type" + out
	}
	return strings.TrimRight(out[:min(len(out), 64)], "_")
}
