package dsl

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/ambit-tools/ambit/internal/jsonschema"
)

// A schema is typed or checked. Go has a type for a typed one; the value of a
// checked one stays JSON, and generated code holds it against the schema. A
// composed schema is typed, and has keywords of the second kind besides.
//
// This file chooses, by what a schema says and before it is read.

// checkedKeys are the keywords for which Go has no type.
var checkedKeys = []string{
	"anyOf", "allOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "dependencies", "patternProperties", "propertyNames",
	"contains", "minContains", "maxContains", "unevaluatedProperties", "unevaluatedItems",
	"$dynamicAnchor", "$dynamicRef", "$id", "$vocabulary",
}

// composedKeys are those of checkedKeys that say something of an object beside what its
// type in Go says.
var composedKeys = []string{
	"anyOf", "allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "dependencies", "patternProperties",
	"propertyNames", "unevaluatedProperties",
}

// oneType returns the type that a schema names, and whether it names exactly
// one, with or without null.
func (n *node) oneType() (name string, ok bool) {
	t := n.get("type")
	if t == nil || t.kind == nodeString {
		return t.word(), t != nil && t.text != "null"
	}
	if t.kind != nodeList {
		return "", true // refused where it is read
	}
	var names []string
	for _, item := range t.items {
		if !item.isText("null") && item.kind != nodeNull {
			names = append(names, item.text)
		}
	}
	if len(names) != 1 || len(t.items) > 2 {
		return "", false
	}
	return names[0], true
}

// isChecked reports whether no type in Go says what the values of a schema are. A
// root is always read by its type. A union that leads back to itself has no type, from
// wherever it is asked, so that an answer holds for the whole file: package gen refuses it.
func (p *parser) isChecked(n *node, root *schemaRoot, top bool) bool {
	if n.kind == nodeBool || p.asking[n] {
		return true
	}
	if top && root.call {
		return false
	}
	key := asked{n, root, top}
	if checked, known := p.verdicts[key]; known {
		return checked
	}
	if p.asking == nil {
		p.asking, p.verdicts = make(map[*node]bool), make(map[asked]bool)
	}
	p.asking[n] = true
	checked := p.isUntyped(n, root, top)
	delete(p.asking, n)
	p.verdicts[key] = checked
	return checked
}

// isUntyped is isChecked for a schema that was not asked about before.
func (p *parser) isUntyped(n *node, root *schemaRoot, top bool) bool {
	if p.isEndless(n, root) {
		return true
	}
	if branch, _, _ := p.orNull(n, root); branch != nil {
		return false
	}
	if p.byType(n, root) != nil {
		return false
	}
	says := func(key string) bool { return n.get(key) != nil }
	advanced := slices.ContainsFunc(checkedKeys, says)
	switch {
	case says("$ref"):
		return advanced || !refText.MatchString(n.get("$ref").text) && n.get("$ref").kind == nodeString || says("oneOf") || says("type") || constrains(n)
	case isComposed(n, false):
		return !p.declaresAll(n) || hasOddMembers(n.get("properties"))
	case advanced, says("$defs") && !top, oddNames(n), top && isForeign(n):
		return true
	case says("oneOf"):
		return says("type") || constrains(n) || !p.isTagged(n, root)
	}
	name, one := n.oneType()
	switch {
	case !says("type"):
		return constrains(n) && !isTexts(n)
	case !one:
		return !slices.ContainsFunc(n.get("type").items, func(item *node) bool { return item.kind != nodeString }) || n.get("type").isText("null")
	}
	return p.hasNoType(n, Type(name))
}

// constrains reports whether a schema has a keyword that says something of a type.
func constrains(n *node) bool {
	return slices.ContainsFunc(n.pairs, func(e pair) bool { return appliesTo(e.name) != nil })
}

// isTexts reports whether a schema lists texts and says nothing else of its values.
func isTexts(n *node) bool {
	for _, e := range n.pairs {
		if appliesTo(e.name) != nil && e.name != "enum" && e.name != "const" {
			return false
		}
	}
	enum, fixed := n.get("enum"), n.get("const")
	if enum == nil {
		return fixed != nil && fixed.kind == nodeString
	}
	return fixed == nil && len(enum.items) > 0 && !slices.ContainsFunc(enum.items, func(item *node) bool { return item.kind != nodeString })
}

// oddNames reports whether $defs have names that no type in Go can be named after.
func oddNames(n *node) bool {
	defs := n.get("$defs")
	return defs != nil && slices.ContainsFunc(defs.pairs, func(e pair) bool { return !typeName.MatchString(e.name) })
}

// isForeign reports whether the dialect of a root is none that is read by types: its own
// $defs hold the meta-schema, or it is not known.
func isForeign(root *node) bool {
	text := root.get("$schema")
	if text == nil || text.kind != nodeString {
		return false
	}
	name := strings.TrimSuffix(text.text, "#")
	return name != dialect && !slices.Contains(draft07, name) || name == dialect && metaSchema(jsonschema.NewIndex(nodes{}, root), name) != nil
}

// metaSchema returns the schema inside a root that has a URI; nil where there is none.
func metaSchema(x *jsonschema.Index[*node], uri string) *node {
	for _, r := range x.Resources {
		if r.URI == strings.TrimSuffix(uri, "#") {
			return r.Root
		}
	}
	return nil
}

// hasNoType is isChecked for a schema of one type.
func (p *parser) hasNoType(n *node, t Type) bool {
	structured := func(v *node) bool { return v.kind == nodeList || v.kind == nodeMap }
	enum, fixed := n.get("enum"), n.get("const")
	if enum != nil && (fixed != nil || len(enum.items) == 0 && enum.kind == nodeList || slices.ContainsFunc(enum.items, structured)) || fixed != nil && structured(fixed) {
		return true
	}
	if fixed != nil && n.get("type").kind == nodeList && len(n.get("type").items) > 1 {
		return true
	}
	switch t {
	case TypeArray:
		prefix, items := n.get("prefixItems"), n.get("items")
		if prefix == nil {
			return items.isFalse()
		}
		if !items.isFalse() {
			return prefix.kind == nodeList && (items == nil || items.kind != nodeList)
		}
		return prefix.countsOtherwise(n.get("minItems")) || prefix.countsOtherwise(n.get("maxItems"))
	case TypeObject:
		return enum != nil || fixed != nil || hasOddMembers(n.get("properties"))
	case TypeInteger, TypeNumber:
		all := []*node{fixed}
		if enum != nil {
			all = append(all, enum.items...)
		}
		fits := inFloat64
		if t == TypeInteger {
			all = append(all, n.get("multipleOf"))
			fits = func(text string) bool { return !isInteger(text) || inInt64(text) }
		}
		return slices.ContainsFunc(all, func(v *node) bool { return v != nil && v.kind == nodeNumber && !fits(v.text) })
	}
	return false
}

// hasOddMembers reports whether properties are more than a struct keeps apart, or one has a
// name that no comment of generated code can show.
func hasOddMembers(properties *node) bool {
	return properties != nil && (len(properties.pairs) > maxProperties || slices.ContainsFunc(properties.pairs, func(e pair) bool {
		return e.name == "" || strings.ContainsFunc(e.name, unicode.IsControl) && !strings.ContainsFunc(e.name, isBidi)
	}))
}

// closesOdd reports whether a schema is left to a table for the names or the number of its
// members alone: like other objects of a declaration it is closed unless it says otherwise.
func closesOdd(n *node) bool {
	name, _ := n.oneType()
	return name == string(TypeObject) && hasOddMembers(n.get("properties")) && n.get("additionalProperties") == nil &&
		!slices.ContainsFunc(checkedKeys, func(key string) bool { return n.get(key) != nil })
}

// countsOtherwise reports whether a bound, if there is one, is not the length of a list.
func (n *node) countsOtherwise(bound *node) bool {
	return bound != nil && bound.kind == nodeNumber && n.kind == nodeList && bound.text != strconv.Itoa(len(n.items))
}

// isComposed reports whether a schema is an object whose members have types, with
// keywords besides for which there is none.
func isComposed(n *node, top bool) bool {
	if !isObject(n, top) {
		return false
	}
	if properties := n.get("properties"); !top && (properties == nil || len(properties.pairs) == 0) {
		return false
	}
	found := false
	for _, e := range n.pairs {
		if slices.Contains(composedKeys, e.name) || top && slices.Contains([]string{"$dynamicRef", "enum", "const"}, e.name) {
			found = true
		} else if !top && slices.Contains(checkedKeys, e.name) || e.name == "$ref" || e.name == "enum" || e.name == "const" {
			return false
		}
	}
	return found
}

// declaresAll reports whether every member that a part of a composed schema names is
// one of its properties, so that its type in Go has a field for each.
func (p *parser) declaresAll(n *node) bool {
	if n.get("patternProperties") != nil || n.get("unevaluatedProperties") != nil {
		return false
	}
	return p.undeclared(n) == nil
}

// undeclared returns the first place where a part of a composed schema names a
// member that is none of its properties, or leads to where that cannot be seen.
func (p *parser) undeclared(n *node) *node {
	declared := make(map[string]bool)
	if properties := n.get("properties"); properties != nil {
		for _, e := range properties.pairs {
			declared[e.name] = true
		}
	}
	for _, e := range n.pairs {
		if e.name == "$ref" || e.name == "$dynamicRef" {
			return e.val
		}
		if !slices.Contains(composedKeys, e.name) || e.name == "propertyNames" {
			continue
		}
		if e.name == "dependentRequired" || e.name == "dependencies" {
			for _, d := range e.val.pairs {
				if d.val.kind != nodeList {
					continue
				}
				if at := undeclaredName(d.val, declared); at != nil {
					return at
				}
			}
		}
		if at := undeclaredIn(e.val, strings.HasPrefix(e.name, "depend"), declared); at != nil {
			return at
		}
	}
	return nil
}

// undeclaredName returns the first name of a list that is not declared.
func undeclaredName(list *node, declared map[string]bool) *node {
	for _, item := range list.items {
		if !declared[item.text] {
			return item
		}
	}
	return nil
}

// undeclaredIn is undeclared for a part: a schema, a list of schemas or, when named, a
// mapping to schemas.
func undeclaredIn(n *node, named bool, declared map[string]bool) *node {
	for _, item := range n.items {
		if at := undeclaredIn(item, false, declared); at != nil {
			return at
		}
	}
	for _, e := range n.pairs {
		switch {
		case named, slices.Contains([]string{"anyOf", "allOf", "oneOf", "not", "if", "then", "else"}, e.name), strings.HasPrefix(e.name, "depend"):
			if at := undeclaredIn(e.val, !named && strings.HasPrefix(e.name, "depend"), declared); at != nil {
				return at
			}
		case e.name == "required":
			if at := undeclaredName(e.val, declared); at != nil {
				return at
			}
		case e.name == "properties":
			for _, m := range e.val.pairs {
				if !declared[m.name] {
					return m.val
				}
			}
		case e.name == "$ref", e.name == "$dynamicRef", e.name == "patternProperties", e.name == "unevaluatedProperties":
			return e.val
		}
	}
	return nil
}

// isTagged reports whether a member tells the branches of a oneOf apart, or a
// reference in it is wrong, which is reported where it is read.
func (p *parser) isTagged(n *node, root *schemaRoot) bool {
	branches := n.get("oneOf")
	if branches.kind != nodeList {
		return true
	}
	var all []asked
	for _, b := range branches.items {
		b, root := p.follow(b, root)
		switch {
		case b == nil:
			return true
		case b.kind == nodeMap && b.get("type") == nil && b.get("oneOf") == nil && b.get("properties") != nil && len(b.get("properties").pairs) > 0:
			return false
		case b.kind != nodeMap:
			return false
		}
		if name, ok := b.oneType(); !ok || name != "object" || b.get("type").kind == nodeList && len(b.get("type").items) > 1 || p.isChecked(b, root, false) {
			return false
		}
		all = append(all, asked{n: b, root: root})
	}
	if len(all) == 0 || all[0].n.get("properties") == nil {
		return len(all) == 0
	}
	return slices.ContainsFunc(all[0].n.get("properties").pairs, func(e pair) bool { return p.isTag(e.name, all) })
}

// isTag reports whether a required member has a const string of its own in each branch. An empty one is no tag: nothing
// could be named after it.
func (p *parser) isTag(name string, branches []asked) bool {
	seen := make(map[string]bool)
	for _, b := range branches {
		member, _ := p.follow(b.n.get("properties").get(name), b.root)
		value, required := member.get("const"), b.n.get("required")
		if value == nil || value.kind != nodeString || value.text == "" || seen[value.text] || required == nil ||
			!slices.ContainsFunc(required.items, func(item *node) bool { return item.isText(name) }) {
			return false
		}
		seen[value.text] = true
	}
	return true
}

// follow returns what a schema refers to, and what # means in that; nil where a reference leads nowhere.
func (p *parser) follow(n *node, root *schemaRoot) (*node, *schemaRoot) {
	for range maxHops {
		ref := n.get("$ref")
		if ref == nil {
			return n, root
		}
		m := refText.FindStringSubmatch(ref.text)
		switch {
		case m == nil:
			return nil, root
		case m[1] == "types":
			n = p.root.get("types").get(m[2])
			root = p.rootOf(m[2], n)
		default:
			n = root.node.get("$defs").get(m[2])
		}
	}
	return nil, root
}

// rootOf is what # means in an entry of types.
func (p *parser) rootOf(name string, n *node) *schemaRoot {
	root := p.roots[n]
	if root == nil {
		root = &schemaRoot{name: name, node: n}
		if p.roots == nil {
			p.roots = make(map[*node]*schemaRoot)
		}
		p.roots[n] = root
	}
	return root
}

// maxHops bounds a chain of references, which may be a loop.
const maxHops = 100

// holdsSensitive reports whether a schema or a part of it is x-sensitive.
func (n *node) holdsSensitive() bool {
	if n.kind == nodeMap {
		if mark := n.get("x-sensitive"); mark != nil && mark.kind == nodeBool && mark.text == "true" {
			return true
		}
	}
	return slices.ContainsFunc(n.items, (*node).holdsSensitive) || slices.ContainsFunc(n.pairs, func(e pair) bool { return e.val.holdsSensitive() })
}
