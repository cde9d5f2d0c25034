package write

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/ambit-tools/ambit/internal/jsonschema"
)

// Kept is what an import over a declaration took over of what people wrote.
type Kept struct {
	// Descriptions are the pointers of the nodes of the source whose descriptions it took.
	Descriptions []string
	// Gone are the lines of x-sensitive in the declaration whose member the source does not
	// have any more.
	Gone []int
	// Lost are the lines of x-sensitive that have no place in the new schema: a
	// value that is secret would be so no longer.
	Lost []int
}

// Keep takes over into u what people wrote in the tool of its name where the source says
// nothing: descriptions that the import filled in, and x-sensitive.
func (e *Existing) Keep(u *Tool) Kept {
	var kept Kept
	old, ok := e.of[u.Name]
	if !ok {
		return kept
	}
	if n := child(old.value, "description"); u.Filled && n != nil && n.Value != u.Description {
		u.Description, u.Filled = strings.TrimSpace(n.Value), false
		kept.Descriptions = append(kept.Descriptions, u.At.Pointer)
	}
	e.keep(child(old.value, "input"), u.Input, &kept)
	e.keep(child(old.value, "output"), u.Output, &kept)
	slices.Sort(kept.Gone)
	slices.Sort(kept.Lost)
	return kept
}

func (e *Existing) keep(n *yaml.Node, v *jsonschema.Value, kept *Kept) {
	if n == nil || v == nil {
		return
	}
	k := &keeper{Kept: kept, types: e.types, old: n, root: v, seen: map[pairing]bool{}, met: map[*yaml.Node]bool{}, gone: map[*yaml.Node]bool{}}
	k.schema(n, v, true)
	k.marks(n, map[*yaml.Node]bool{})
}

// A keeper goes through the schema of a declaration and the new one side by side.
type keeper struct {
	*Kept
	types, old *yaml.Node
	root       *jsonschema.Value
	seen       map[pairing]bool
	met, gone  map[*yaml.Node]bool // schemas of the declaration: with a place in the new one, and of members that are gone
}

// A pairing is a schema of the declaration and the one in its place.
type pairing struct {
	old *yaml.Node
	new *jsonschema.Value
}

// schema keeps what people wrote in one schema. sure says that v stands surely where n
// stood: an entry of a list may have another place now.
func (k *keeper) schema(n *yaml.Node, v *jsonschema.Value, sure bool) {
	if n == nil || v == nil || k.seen[pairing{n, v}] {
		return
	}
	k.seen[pairing{n, v}] = true
	k.met[n] = true
	k.description(n, v)
	if isMarked(n) {
		if v.Is(jsonschema.Bool) && v.Bool {
			v.Kind = jsonschema.Object
		}
		if v.Is(jsonschema.Object) {
			v.Set("x-sensitive", jsonschema.NewBool(true, v))
		}
	}
	to, into := k.target(n), k.targetOf(v)
	switch {
	case to != nil && into != nil:
		k.schema(to, into, sure)
	case to != nil:
		k.schema(to, v, sure)
	case into != nil:
		k.schema(n, into, sure)
	}
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		k.keyword(n.Content[i].Value, n.Content[i+1], v, sure)
	}
}

// keyword goes through the schemas below one keyword.
func (k *keeper) keyword(name string, n *yaml.Node, v *jsonschema.Value, sure bool) {
	in := v.Get(name)
	switch name {
	case "properties", "$defs", "patternProperties", "dependentSchemas":
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			switch to := in.Get(n.Content[i].Value); {
			case to != nil:
				k.schema(n.Content[i+1], to, sure)
			case name == "properties" && sure && v.Has(name):
				k.leave(n.Content[i+1])
			}
		}
	case "items", "additionalProperties", "contains", "not", "if", "then", "else", "propertyNames", "unevaluatedItems", "unevaluatedProperties":
		k.schema(n, in, sure)
	case "allOf", "anyOf", "oneOf", "prefixItems":
		for i, item := range n.Content {
			if n.Kind == yaml.SequenceNode && in.Is(jsonschema.Array) {
				to, same := partner(item, in.Items, i, name == "prefixItems")
				k.schema(item, to, sure && same)
			}
		}
	}
}

// partner is the entry of a list that stands for one of the declaration: the same one
// but for what people write, and otherwise the one at its index.
func partner(n *yaml.Node, items []*jsonschema.Value, i int, ordered bool) (to *jsonschema.Value, same bool) {
	if i < len(items) && (ordered || bare(items[i]) == bare(tree(n))) {
		return items[i], true
	}
	if j := slices.IndexFunc(items, func(item *jsonschema.Value) bool { return bare(item) == bare(tree(n)) }); j >= 0 && !ordered {
		return items[j], true
	}
	if i < len(items) {
		return items[i], false
	}
	return nil, false
}

// bare is a schema without what people write into it; empty for none.
func bare(v *jsonschema.Value) string {
	if v == nil {
		return ""
	}
	out := v.Clone()
	strip(out)
	return jsonschema.Canonical(out)
}

func strip(v *jsonschema.Value) {
	v.Delete("x-sensitive")
	v.Delete("description")
	for _, item := range v.Items {
		strip(item)
	}
	for _, m := range v.Members {
		strip(m.Value)
	}
}

func (k *keeper) description(n *yaml.Node, v *jsonschema.Value) {
	m, was := v.Member("description"), child(n, "description")
	if m != nil && m.Value.Comment != "" && was != nil && was.Kind == yaml.ScalarNode && was.Value != m.Value.Text {
		m.Value = jsonschema.NewString(strings.TrimSpace(was.Value), m.Value)
		k.Descriptions = append(k.Descriptions, m.Value.Pointer)
	}
}

// target is what a reference of the declaration leads to; nil without one.
func (k *keeper) target(n *yaml.Node) *yaml.Node {
	ref := child(n, "$ref")
	if ref == nil {
		return nil
	}
	if name, ok := strings.CutPrefix(ref.Value, "#/types/"); ok {
		return child(k.types, name)
	}
	name, _ := strings.CutPrefix(ref.Value, "#/$defs/")
	return child(child(k.old, "$defs"), name)
}

func (k *keeper) targetOf(v *jsonschema.Value) *jsonschema.Value {
	if ref := v.Get("$ref"); ref.Is(jsonschema.String) {
		name, _ := strings.CutPrefix(ref.Text, "#/$defs/")
		return k.root.Get("$defs").Get(name)
	}
	return nil
}

// leave notes the schemas of a member that the source does not have any more.
func (k *keeper) leave(n *yaml.Node) {
	if n == nil || k.gone[n] {
		return
	}
	k.gone[n] = true
	k.leave(k.target(n))
	for _, sub := range n.Content {
		k.leave(sub)
	}
}

// marks notes the marks below n that the new schema does not have.
func (k *keeper) marks(n *yaml.Node, seen map[*yaml.Node]bool) {
	if n == nil || seen[n] {
		return
	}
	seen[n] = true
	if isMarked(n) && !k.met[n] {
		line := child(n, "x-sensitive").Line
		if k.gone[n] {
			k.Gone = append(k.Gone, line)
		} else {
			k.Lost = append(k.Lost, line)
		}
	}
	k.marks(k.target(n), seen)
	for _, sub := range n.Content {
		k.marks(sub, seen)
	}
}

func isMarked(n *yaml.Node) bool {
	mark := child(n, "x-sensitive")
	return mark != nil && mark.Kind == yaml.ScalarNode && mark.Tag == "!!bool" && mark.Value == "true"
}
