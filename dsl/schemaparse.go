package dsl

import (
	"slices"
	"strconv"
	"strings"
)

func schemaLevel() level[schemaWork] {
	return level[schemaWork]{def: "schema", what: "a schema", unknown: unsupported, keys: slices.Concat(schemaKeys(), schemaBoundKeys(), checkedLevelKeys())}
}

func schemaKeys() keys[schemaWork] {
	return keys[schemaWork]{
		{name: "$schema", is: wordDialect, doc: "Dialect, at the root only; draft-07 where it reads the same.", without: "draft 2020-12",
			read: (*parser).parseDialect},
		{name: "$ref", is: wordRef, doc: "Another schema: \"#/types/NAME\", \"#/$defs/NAME\", or another part of the same schema.",
			read: (*parser).parseRef},
		{name: "$defs", is: wordTypes, doc: "Schemas for references, at the root only.",
			read: (*parser).parseDefs},
		{name: "type", is: wordType, doc: "A type, or a list of types; none: any value.",
			read: (*parser).parseType},
		{name: "title", is: wordProse, doc: "Name for people.",
			read: func(p *parser, n *node, w *schemaWork) { w.Title, _ = p.prose(n, "title") }},
		{name: "description", is: wordProse, doc: "What the value means; every property needs one, a $ref may leave it to its target.",
			read: func(p *parser, n *node, w *schemaWork) { w.Description, _ = p.prose(n, "description") }},
		{name: "deprecated", is: wordFlag, doc: "The member should not be used any more.", without: "false",
			read: func(p *parser, n *node, w *schemaWork) { w.Deprecated = p.flag(n, "deprecated") }},
		{name: "x-sensitive", is: wordFlag, doc: "Kept out of logs, events and violations. An object or a map is one such value, the names of its members included; violations name declared members only. Under additionalProperties it makes the object around it sensitive.", without: "false", rules: "5.9",
			read: func(p *parser, n *node, w *schemaWork) { w.Sensitive = p.flag(n, "x-sensitive") }},
		{name: "examples", is: wordList, doc: "Values that fit.",
			read: func(p *parser, n *node, w *schemaWork) { w.Examples = p.values(n, "examples") }},
		{name: "default", is: wordValue, doc: "What an absent optional member means.", rules: "7.4",
			read: func(p *parser, n *node, w *schemaWork) { w.Default = p.value(n) }},
		{name: "enum", is: wordValues, doc: "The allowed values; with null when the type allows it.", without: "any",
			read: (*parser).parseEnum},
		{name: "const", is: wordValue, doc: "The only allowed value.",
			read: func(p *parser, n *node, w *schemaWork) { w.Const = p.value(n) }},
		{name: "oneOf", is: wordBranches, doc: "Schemas of which exactly one fits; objects told apart by a required member with a const string have a type each.",
			read: (*parser).parseOneOf},
		{name: "properties", is: wordProperties, doc: "Members of an object.", without: "none",
			read: (*parser).parseProperties},
		{name: "required", is: wordUnique, doc: "Members that must be there.", without: "none",
			read: (*parser).parseRequired},
		{name: "additionalProperties", is: wordAdditional, doc: "Other members: none, any, or those that fit a schema.", without: "false", rules: "7.2",
			read: (*parser).parseAdditional},
		{name: "minProperties", is: wordBound, doc: "Fewest members.",
			read: func(p *parser, n *node, w *schemaWork) { w.MinProperties = p.bound(n, "minProperties") }},
	}
}

func schemaBoundKeys() keys[schemaWork] {
	return keys[schemaWork]{
		{name: "maxProperties", is: wordMost, doc: "Most members.",
			read: func(p *parser, n *node, w *schemaWork) { w.MaxProperties = p.bound(n, "maxProperties") }},
		{name: "items", is: wordItems, doc: "Schema of every element, behind those of prefixItems.",
			read: (*parser).parseItems},
		{name: "prefixItems", is: wordBranches, doc: "Schemas of the first elements; with items: false and no other minItems or maxItems all of them are required, and are a tuple.",
			read: (*parser).parsePrefixItems},
		{name: "minItems", is: wordBound, doc: "Fewest elements.",
			read: func(p *parser, n *node, w *schemaWork) { w.MinItems = p.bound(n, "minItems") }},
		{name: "maxItems", is: wordMost, doc: "Most elements.",
			read: func(p *parser, n *node, w *schemaWork) { w.MaxItems = p.bound(n, "maxItems") }},
		{name: "uniqueItems", is: wordFlag, doc: "No two elements are equal.", without: "false",
			read: func(p *parser, n *node, w *schemaWork) { w.UniqueItems = p.flag(n, "uniqueItems") }},
		{name: "minLength", is: wordBound, doc: "Fewest characters.",
			read: func(p *parser, n *node, w *schemaWork) { w.MinLength = p.bound(n, "minLength") }},
		{name: "maxLength", is: wordMost, doc: "Most characters.",
			read: func(p *parser, n *node, w *schemaWork) { w.MaxLength = p.bound(n, "maxLength") }},
		{name: "pattern", is: wordText, doc: "ECMA-262 regular expression, with the flag u, that must match somewhere.",
			read: (*parser).parsePattern},
		{name: "format", is: wordFormat, doc: "Format; others than those listed are published and not enforced.",
			read: (*parser).parseFormat},
		{name: "minimum", is: wordNumber, doc: "Lowest number.",
			read: func(p *parser, n *node, w *schemaWork) { w.Minimum = p.number(n, "minimum") }},
		{name: "maximum", is: wordNumber, doc: "Highest number.",
			read: func(p *parser, n *node, w *schemaWork) { w.Maximum = p.number(n, "maximum") }},
		{name: "exclusiveMinimum", is: wordNumber, doc: "The number must be above.",
			read: func(p *parser, n *node, w *schemaWork) { w.ExclusiveMinimum = p.number(n, "exclusiveMinimum") }},
		{name: "exclusiveMaximum", is: wordNumber, doc: "The number must be below.",
			read: func(p *parser, n *node, w *schemaWork) { w.ExclusiveMaximum = p.number(n, "exclusiveMaximum") }},
		{name: "multipleOf", is: wordMultipleOf, doc: "The number must be a multiple of it.",
			read: func(p *parser, n *node, w *schemaWork) { w.MultipleOf = p.number(n, "multipleOf") }},
	}
}

// ordinal names an entry of a list for people.
func ordinal(i int) string { return strconv.Itoa(i + 1) }

// schema reads one schema. The result is nil when it is not even a mapping or a boolean.
func (p *parser) schema(n *node, owner string, root *schemaRoot, top bool) *Schema {
	if n.kind != nodeBool && !p.isMap(n, owner) {
		return nil
	}
	if top {
		root.node = n
	}
	w := &schemaWork{Schema: &Schema{Pos: n.pos, Closed: true}, root: root, top: top, owner: owner, node: n}
	if p.isChecked(n, root, top) {
		p.checkedSchema(w)
		return w.Schema
	}
	if branch, union, nullFirst := p.orNull(n, root); branch != nil && !w.isCall() {
		w.union = true
		w.Keys = walk(p, n, p.levels.schema, owner, n.pos, w)
		p.readOrNull(w, branch, union, nullFirst)
		p.later(func() { p.checkValues(w.Schema) })
		return w.Schema
	}
	if u := p.byType(n, root); u != nil && !w.isCall() {
		p.readByType(w, u)
		p.later(func() { p.checkValues(w.Schema) })
		return w.Schema
	}
	w.Composed = p.isComposedRoot(w)
	w.Keys = walk(p, n, p.levels.schema, owner, n.pos, w)
	p.checkShape(w)
	if w.Composed {
		p.composed(w)
	}
	p.sayImplied(w)
	p.later(func() { p.checkValues(w.Schema) })
	return w.Schema
}

// namedSchemas reads types or, with the root they belong to, $defs.
func (p *parser) namedSchemas(n *node, key string, root *schemaRoot) []*NamedSchema {
	if !p.isMap(n, key) {
		return nil
	}
	var out []*NamedSchema
	taken := make(names)
	for _, e := range n.pairs {
		if !e.twin && p.name(e, "type", typeName) && root == nil {
			p.unique(taken, e.name, e.key, "type")
		}
		own := root
		if own == nil {
			own = p.rootOf(e.name, e.val)
		}
		if s := p.schema(e.val, "type "+quote(e.name), own, root == nil); s != nil {
			out = append(out, &NamedSchema{Name: e.name, Pos: e.key, Schema: s, node: e.val})
		}
	}
	return out
}

func (p *parser) parseRef(n *node, w *schemaWork) {
	text, ok := p.text(n, "$ref")
	if !ok || w.Composed {
		return
	}
	w.Ref = text
	p.refs = append(p.refs, reference{schema: w.Schema, root: w.root, at: n.pos})
}

func (p *parser) parseDefs(n *node, w *schemaWork) {
	if !w.top {
		p.report(n.pos, "move it to the root of the schema, or declare the schemas under types", "%s: $defs stands at the root of a schema only", w.owner)
		return
	}
	w.Defs = p.namedSchemas(n, "$defs", w.root)
	w.root.defs = make(map[string]*NamedSchema, len(w.Defs))
	for _, d := range w.Defs {
		w.root.defs[d.Name] = d
	}
}

// parseType reads T or [T, "null"]: a schema of several types is checked.
func (p *parser) parseType(n *node, w *schemaWork) {
	if w.union {
		return // readByType reads it
	}
	if n.kind != nodeList {
		w.Type = p.oneType(n)
		return
	}
	var types []Type
	for _, item := range n.items {
		switch {
		case item.kind == nodeNull:
			p.report(item.pos, `write "null" in quotes`, "type: null is not a text here")
			w.Nullable = true
		case item.isText("null"):
			w.Nullable = true
		default:
			types = append(types, p.oneType(item))
		}
	}
	if len(types) == 1 && len(n.items) <= 2 {
		w.Type = types[0]
		return
	}
	p.report(n.pos, `write one type, or [T, "null"]`, "type: a list of several types is not supported here")
}

func (p *parser) oneType(n *node) Type {
	if n.kind == nodeNull || n.isText("null") {
		p.report(n.pos, `write "null" in quotes, or [T, "null"] for a value that may be null`, "type: null is not a text here")
		return ""
	}
	return Type(p.choice(n, "type", typeNames...))
}

func (p *parser) parseOneOf(n *node, w *schemaWork) {
	if w.union || w.Composed {
		parts("oneOf")(p, n, w)
		return
	}
	p.unions = append(p.unions, w.Schema)
	for i, item := range p.entries(n, "oneOf") {
		if s := p.schema(item, w.owner+" branch "+ordinal(i), w.root, false); s != nil {
			w.OneOf = append(w.OneOf, s)
		}
	}
}

// parseEnum reads the allowed values. Null is not kept: a nullable schema
// allows it anyway.
func (p *parser) parseEnum(n *node, w *schemaWork) {
	seen := make(map[string]bool)
	for _, v := range p.values(n, "enum") {
		key := canonical(v)
		if seen[key] {
			p.warn("repeated", v.Pos, "remove one of them", "enum holds %s twice", shownValue(v))
			continue
		}
		seen[key] = true
		w.Enum = append(w.Enum, v)
	}
}

func (p *parser) parseRequired(n *node, w *schemaWork) {
	w.Required = p.labels(n, "required", nil)
	w.requiredAt = make(map[string]Pos, len(n.items))
	for _, item := range n.items {
		if _, twice := w.requiredAt[item.text]; !twice {
			w.requiredAt[item.text] = item.pos
		}
	}
}

func (p *parser) parseProperties(n *node, w *schemaWork) {
	if !p.isMap(n, "properties") {
		return
	}
	if len(n.pairs) > maxProperties {
		p.report(n.pairs[maxProperties].key, "group them in nested objects", "%s has %d properties, more than %d", w.owner, len(n.pairs), maxProperties)
	}
	for _, e := range n.pairs[:min(len(n.pairs), maxProperties)] {
		if e.name == "" || strings.ContainsFunc(e.name, isControl) {
			hint := "give it a name without control characters"
			if e.name == "" {
				hint = "give it a name"
			}
			p.report(e.key, hint, "property name %s is not allowed", quote(e.name))
		}
		if e.name == "required" && e.val.kind == nodeList {
			p.report(e.key, "move it out of properties, beside them", "%s: properties holds required, a list of names", w.owner)
			continue
		}
		s := p.schema(e.val, "property "+quote(e.name), w.root, false)
		if s == nil {
			continue
		}
		w.Properties = append(w.Properties, &Property{Name: e.name, Pos: e.key, Schema: s})
		p.later(func() {
			if !e.val.isFalse() && s.describedBy() == "" && s.Keys["description"] == (Pos{}) && !(s.Checked && s.Keys["$ref"] != Pos{}) && (s.Ref == "" || s.base() != nil) {
				p.report(e.key, "say in a sentence what the value means", "property %s has no description", quote(e.name))
			}
		})
	}
}

func (p *parser) parseAdditional(n *node, w *schemaWork) {
	if n.kind == nodeBool {
		w.Closed = n.text == "false"
		return
	}
	w.Closed = false
	w.Additional = p.schema(n, "additionalProperties", w.root, false)
}

func (p *parser) parseItems(n *node, w *schemaWork) {
	if n.kind == nodeBool {
		w.noItems = n.text == "false"
		return
	}
	if n.kind == nodeList {
		p.report(n.pos, "write prefixItems with items: false beside it", "items: a list of schemas is how older drafts wrote a tuple")
		return
	}
	w.Items = p.schema(n, "items", w.root, false)
}

func (p *parser) parsePrefixItems(n *node, w *schemaWork) {
	for i, item := range p.entries(n, "prefixItems") {
		if s := p.schema(item, "prefixItems element "+ordinal(i), w.root, false); s != nil {
			w.PrefixItems = append(w.PrefixItems, s)
		}
	}
}

func (p *parser) parseFormat(n *node, w *schemaWork) {
	text, ok := p.text(n, "format")
	if ok && !slices.Contains(formats, text) {
		p.noteFormat(n)
		w.Notes = append(w.Notes, &ValueMember{Name: "format", Value: p.value(n)})
		return
	}
	w.Format = text
}

func (p *parser) parsePattern(n *node, w *schemaWork) {
	text, ok := p.text(n, "pattern")
	if ok && p.pattern != nil {
		if fault, hint := p.pattern(text); fault != "" {
			p.report(n.pos, hint, "%s", fault)
		}
	}
	w.Pattern = text
}
