package normalize

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/internal/importer/jsontree"
)

// resolver finds what references lead to, and gives each target one name in $defs.
type resolver struct {
	*work
	ids     map[string]*jsontree.Value // resources by their id
	uris    map[*jsontree.Value]string // the ids of resources, absolute where they can be
	anchors map[*jsontree.Value]map[string]*jsontree.Value
	base    map[*jsontree.Value]*jsontree.Value // of a schema with a reference: its resource
	order   []*jsontree.Value                   // schemas with a reference
	keys    map[*jsontree.Value]string          // of a definition: its name
	targets map[*jsontree.Value]*jsontree.Value // of a schema with a reference
	names   map[*jsontree.Value]string          // of a target: its name in $defs
	taken   map[string]bool
	kept    map[string]string // the anchors that stay: where each stands
	defs    []*jsontree.Member
}

// references makes every $ref lead to a name in the $defs of the root.
func (w *work) references() *Fault {
	r := &resolver{
		work: w, ids: map[string]*jsontree.Value{}, uris: map[*jsontree.Value]string{}, anchors: map[*jsontree.Value]map[string]*jsontree.Value{},
		base: map[*jsontree.Value]*jsontree.Value{}, keys: map[*jsontree.Value]string{},
		targets: map[*jsontree.Value]*jsontree.Value{}, names: map[*jsontree.Value]string{}, taken: map[string]bool{}, kept: map[string]string{},
	}
	r.collect(w.root, w.root)
	if r.dynamic {
		return nil // the declaration decides what it takes of it
	}
	for _, s := range r.order {
		if f := r.resolve(s); f != nil {
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
		w.root.Set("$defs", &jsontree.Value{Kind: jsontree.Object, Members: r.defs, Pos: at.Pos, Pointer: at.Pointer})
	}
	return nil
}

// collect notes the resources, anchors, definitions and references of a schema.
func (r *resolver) collect(s, base *jsontree.Value) {
	if id := s.Get("$id"); id.Is(jsontree.String) {
		if anchor, ok := strings.CutPrefix(id.Text, "#"); ok {
			r.anchor(base, anchor, s)
		} else {
			uri := absolute(id.Text, r.uris[base])
			base = s
			r.ids[uri], r.uris[s] = s, uri
		}
	}
	if a := s.Get("$anchor"); a.Is(jsontree.String) {
		r.anchor(base, a.Text, s)
	}
	r.dynamic = r.dynamic || s.Has("$dynamicRef")
	if s.Get("$ref").Is(jsontree.String) {
		r.order = append(r.order, s)
		r.base[s] = base
	}
	for _, key := range []string{"$defs", "definitions"} {
		for _, m := range members(s, key) {
			r.keys[m.Value] = m.Name
		}
	}
	for _, sub := range subschemas(s) {
		r.collect(sub, base)
	}
}

func (r *resolver) anchor(base *jsontree.Value, name string, s *jsontree.Value) {
	if r.anchors[base] == nil {
		r.anchors[base] = map[string]*jsontree.Value{}
	}
	r.anchors[base][name] = s
}

// absolute is an id as it is compared: relative to base, without an empty fragment.
func absolute(id, base string) string {
	u, err := url.Parse(id)
	if b, baseErr := url.Parse(base); err == nil && baseErr == nil && base != "" {
		u = b.ResolveReference(u)
	}
	if err != nil {
		return id
	}
	return strings.TrimSuffix(u.String(), "#")
}

// resolve finds the target of one reference.
func (r *resolver) resolve(s *jsontree.Value) *Fault {
	ref := s.Get("$ref")
	where, fragment, _ := strings.Cut(ref.Text, "#")
	base := r.base[s]
	if where != "" {
		if base = r.ids[absolute(where, r.uris[base])]; base == nil {
			return &Fault{ref, fmt.Sprintf("$ref: %q leads out of the schema", ref.Text), "put what it leads to into $defs: an import reads no other document"}
		}
	}
	var target *jsontree.Value
	switch {
	case fragment == "":
		target = base
	case fragment[0] == '/':
		if path, err := url.PathUnescape(fragment); err == nil {
			target = base.At(renamed(path))
			if target == nil {
				target = base.At(path)
			}
		}
	default:
		target = r.anchors[base][fragment]
	}
	if !target.Is(jsontree.Object) && !target.Is(jsontree.Bool) {
		return &Fault{ref, fmt.Sprintf("$ref: %q leads nowhere", ref.Text), "define it in $defs of the schema, or remove the $ref"}
	}
	r.targets[s] = target
	return nil
}

// renamed is a pointer after the translation of a list of items.
func renamed(pointer string) string {
	parts := strings.Split(pointer, "/")
	for i := 0; i+1 < len(parts); i++ {
		if parts[i] == "items" && parts[i+1] != "" && strings.Trim(parts[i+1], "0123456789") == "" {
			parts[i] = "prefixItems"
		}
	}
	return strings.Join(parts, "/")
}

// visit rewrites the references below a schema, and gives names to what they lead to.
func (r *resolver) visit(s *jsontree.Value) {
	if target := r.targets[s]; target != nil {
		ref := s.Get("$ref")
		if to := "#/$defs/" + r.define(target); to != ref.Text {
			r.note(Reference, ref, "$ref %q became %q", ref.Text, to)
			s.Set("$ref", jsontree.NewString(to, ref))
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
func (r *resolver) define(target *jsontree.Value) string {
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
	def := &jsontree.Member{Name: name, Pos: target.Pos, Value: target}
	r.defs = append(r.defs, def)
	if own {
		if strings.HasSuffix(target.Pointer, "/definitions/"+jsontree.Escape(key)) || name != key {
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
func (r *resolver) copied(s *jsontree.Value) *jsontree.Value {
	out := s.Clone()
	r.pair(s, out)
	out.Delete("$defs")
	out.Delete("definitions")
	return out
}

func (r *resolver) pair(from, to *jsontree.Value) {
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
func (r *resolver) clean(s *jsontree.Value) {
	for _, key := range []string{"$defs", "definitions"} {
		for _, m := range members(s, key) {
			if _, used := r.names[m.Value]; !used {
				r.note(Definition, m.Value, "definition %q dropped: nothing refers to it", m.Name)
			}
		}
		s.Delete(key)
	}
	if at := s.Get("$id"); at.Is(jsontree.String) {
		s.Delete("$id")
		r.note(KeywordDropped, at, "$id removed: references lead to $defs")
	}
	if at := s.Get("$anchor"); at.Is(jsontree.String) {
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
