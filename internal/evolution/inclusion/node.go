package inclusion

import (
	"strconv"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/internal/jsonschema"
)

// A node is a schema as JSON, with the text that its references lead into.
type node struct {
	v    *dsl.Value // nil: any value
	text *text
}

// A text is what references lead into. That of typed schemas has no root: their references
// have names of their own.
type text struct {
	names *names
	root  *dsl.Value
	named bool // it has an $id, so that a pointer may start from another root
}

func (n node) any() bool {
	return n.v == nil || n.v.Kind == dsl.ValueBool && n.v.Bool || n.v.Kind == dsl.ValueObject && len(n.v.Members) == 0
}

func (n node) never() bool { return n.v != nil && n.v.Kind == dsl.ValueBool && !n.v.Bool }

func (n node) get(key string) *dsl.Value { return get(n.v, key) }

func get(v *dsl.Value, key string) *dsl.Value {
	if v == nil || v.Kind != dsl.ValueObject {
		return nil
	}
	for _, m := range v.Members {
		if m.Name == key {
			return m.Value
		}
	}
	return nil
}

func (n node) has(key string) bool { return n.get(key) != nil }

// sub is the schema of a keyword; any value where it is absent.
func (n node) sub(key string) node { return node{n.get(key), n.text} }

// list are the schemas of a keyword.
func (n node) list(key string) (all []node) {
	if v := n.get(key); v != nil {
		for _, item := range v.Items {
			all = append(all, node{item, n.text})
		}
	}
	return all
}

// member is the schema of a declared member.
func (n node) member(name string) *node {
	if v := get(n.get("properties"), name); v != nil {
		return &node{v, n.text}
	}
	return nil
}

// named are the schemas of a keyword by their names.
func (n node) named(key string) (names []string, all []node) {
	if v := n.get(key); v != nil {
		for _, m := range v.Members {
			names, all = append(names, m.Name), append(all, node{m.Value, n.text})
		}
	}
	return names, all
}

// texts are the entries of a list of texts.
func (n node) texts(key string) []string { return texts(n.get(key)) }

func texts(v *dsl.Value) (all []string) {
	if v != nil {
		for _, item := range v.Items {
			all = append(all, item.Text)
		}
	}
	return all
}

// values are those that a schema lists; nil where it lists none.
func (n node) values() []*dsl.Value {
	if v := n.get("const"); v != nil {
		return []*dsl.Value{v}
	}
	if v := n.get("enum"); v != nil {
		return v.Items
	}
	return nil
}

// names gives the schemas of a declaration a form as JSON, each one form.
type names struct {
	file   *dsl.File
	typed  *text
	texts  map[*dsl.Document]*text
	forms  map[*dsl.Schema]node
	linked map[string]*dsl.Schema // what the references of typed schemas lead to
}

func newNames(f *dsl.File) *names {
	n := &names{file: f, texts: map[*dsl.Document]*text{}, forms: map[*dsl.Schema]node{}, linked: map[string]*dsl.Schema{}}
	n.typed = &text{names: n}
	return n
}

// of is the form of a schema.
func (c *names) of(s *dsl.Schema) node {
	if s == nil || s.Any {
		return node{}
	}
	if n, ok := c.forms[s]; ok {
		return n
	}
	n := node{text: c.typed}
	if s.Source != nil {
		n = node{s.Source, c.textOf(s.Document)}
	} else {
		n.v = c.written(s)
	}
	c.forms[s] = n
	return n
}

func (c *names) textOf(d *dsl.Document) *text {
	if c.texts[d] == nil {
		c.texts[d] = &text{names: c, root: d.Root, named: holdsKey(d.Root, "$id")}
	}
	return c.texts[d]
}

func holdsKey(v *dsl.Value, key string) bool {
	for _, item := range v.Items {
		if holdsKey(item, key) {
			return true
		}
	}
	for _, m := range v.Members {
		if m.Name == key || holdsKey(m.Value, key) {
			return true
		}
	}
	return false
}

// plain follows a schema that is nothing but a reference.
func (n node) plain() node {
	for range maxDepth {
		if n.v == nil || n.v.Kind != dsl.ValueObject || !n.has("$ref") {
			return n
		}
		for _, m := range n.v.Members {
			if m.Name != "$ref" && !silent[m.Name] {
				return n
			}
		}
		to, ok := n.target()
		if !ok {
			return n
		}
		n = to
	}
	return n
}

// target is what the reference of a schema leads to, where a pointer says it.
func (n node) target() (to node, ok bool) {
	ref := n.get("$ref")
	if ref == nil {
		return node{}, false
	}
	if s, known := n.text.names.linked[ref.Text]; known {
		return n.text.names.of(s), true
	}
	at, ok := jsonschema.Pointer(ref.Text)
	if n.text.root == nil || n.text.named || !ok {
		return node{}, false
	}
	if len(at) > 1 && at[0] == "types" {
		for _, t := range n.text.names.file.Types {
			if len(at) == 2 && t.Name == at[1] {
				return n.text.names.of(t.Schema), true
			}
		}
		return node{}, false
	}
	v := n.text.root
	for _, token := range at {
		if v = step(v, token); v == nil {
			return node{}, false
		}
	}
	return node{v, n.text}, true
}

// step is the part of a text that one token of a pointer leads to.
func step(v *dsl.Value, token string) *dsl.Value {
	if v.Kind != dsl.ValueArray {
		return get(v, token)
	}
	if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(v.Items) && strconv.Itoa(i) == token {
		return v.Items[i]
	}
	return nil
}
