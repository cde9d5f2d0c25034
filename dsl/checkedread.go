package dsl

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ambit-tools/ambit/internal/jsonschema"
)

// checkedSchema reads a schema for which Go has no type: what it says of the value as a
// whole, and the form of all its keywords. What they mean is for package gen.
func (p *parser) checkedSchema(w *schemaWork) {
	w.Checked, w.Closed = true, false
	p.checked = append(p.checked, w)
	w.Sensitive = w.node.holdsSensitive()
	if closesOdd(w.node) {
		w.node.add(pair{name: "additionalProperties", key: w.Pos, val: &node{kind: nodeBool, pos: w.Pos, text: "false"}})
	}
	p.checkedPart(w.node, w.owner)
	if w.top {
		p.noteAnnotated(w.node)
	}
	if w.node.kind == nodeBool {
		if w.node.text == "true" {
			w.Checked, w.Any = false, true
			p.checked = p.checked[:len(p.checked)-1]
		}
		return
	}
	w.Keys = make(map[string]Pos, len(w.node.pairs))
	for _, e := range w.node.pairs {
		if !e.twin {
			w.Keys[e.name] = e.key
		}
	}
	if title := w.node.get("title"); title != nil && title.kind == nodeString {
		w.Title = strings.TrimSpace(title.text)
	}
	if description := w.node.get("description"); description != nil && description.kind == nodeString {
		w.Description = strings.TrimSpace(description.text)
	}
	if mark := w.node.get("deprecated"); mark != nil {
		w.Deprecated = mark.kind == nodeBool && mark.text == "true"
	}
	if value := w.node.get("default"); value != nil {
		w.Default = p.value(value)
	}
}

// checkedPart checks the form of a schema inside a checked one.
func (p *parser) checkedPart(n *node, owner string) {
	if n.kind == nodeBool || !p.isMap(n, owner) {
		return
	}
	for _, e := range n.pairs {
		switch {
		case e.twin:
		case !p.checkedKeyword(n, e, owner):
			p.unknownKey(e, owner, p.levels.schema.names(), unsupported)
		}
	}
	p.checkContradictions(n, owner)
}

// checkedKeyword checks the form of one keyword. It reports false for one that is
// not known.
func (p *parser) checkedKeyword(n *node, e pair, owner string) bool {
	switch v := e.val; e.name {
	case "allOf", "anyOf", "oneOf", "prefixItems":
		for i, item := range p.entries(v, e.name) {
			p.checkedPart(item, owner+" "+e.name+" "+ordinal(i))
		}
	case "not", "if", "then", "else", "items", "contains", "additionalProperties", "propertyNames", "unevaluatedItems",
		"unevaluatedProperties", "contentSchema":
		if e.name == "items" && v.kind == nodeList {
			p.report(v.pos, "write prefixItems", "items: a list of schemas is how older drafts wrote a tuple")
			break
		}
		p.checkedPart(v, owner+" "+e.name)
	case "properties", "patternProperties", "dependentSchemas", "dependencies", "$defs":
		p.checkedParts(v, e.name, owner)
	case "type":
		p.checkedType(v)
	case "enum":
		if p.isList(v, "enum") && len(v.items) == 0 {
			p.warn("no_value", v.pos, "list the allowed values", "%s: an empty enum allows no value", owner)
		}
		seen := make(map[string]bool)
		for _, item := range v.items {
			value := p.value(item)
			if key := canonical(value); seen[key] {
				p.warn("repeated", value.Pos, "remove one of them", "enum holds %s twice", shownValue(value))
			} else {
				seen[key] = true
			}
		}
	case "const", "default":
	case "required":
		p.memberNames(v, "required")
	case "dependentRequired":
		p.checkedNeeds(v)
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains":
		p.bound(v, e.name)
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		if text := p.number(v, e.name); e.name == "multipleOf" && text != "" && rat(text).Sign() <= 0 {
			p.report(v.pos, "write the step between two values, such as 0.01", "%s: multipleOf must be above 0, not %s", owner, text)
		}
	case "uniqueItems", "deprecated", "x-sensitive", "readOnly", "writeOnly":
		p.flag(v, e.name)
	case "examples":
		p.isList(v, e.name)
	case "pattern":
		p.checkedPattern(v, e.name)
	case "format":
		if text, ok := p.text(v, e.name); ok && !slices.Contains(formats, text) {
			p.noteFormat(v)
		}
	case "title", "description", "$comment", "contentEncoding", "contentMediaType", "x-mcp-header":
		if v.kind != nodeString {
			p.wrong(v, e.name, "a text")
		}
	case "$ref", "$dynamicRef", "$anchor", "$dynamicAnchor", "$id", "$schema":
		p.text(v, e.name)
	case "$vocabulary":
		if p.isMap(v, e.name) {
			for _, word := range v.pairs {
				p.flag(word.val, e.name)
			}
		}
	default:
		return false
	}
	return true
}

// checkedNeeds checks a mapping to names of members.
func (p *parser) checkedNeeds(n *node) {
	if p.isMap(n, "dependentRequired") {
		for _, d := range n.pairs {
			p.memberNames(d.val, "dependentRequired")
		}
	}
}

// checkedParts checks a mapping to schemas.
func (p *parser) checkedParts(n *node, key, owner string) {
	if !p.isMap(n, key) {
		return
	}
	for _, e := range n.pairs {
		if key == "patternProperties" {
			p.checkedPattern(&node{kind: nodeString, pos: e.key, text: e.name}, key)
		}
		if key == "dependencies" && e.val.kind == nodeList {
			p.memberNames(e.val, key)
			continue
		}
		if key == "properties" && e.name == "required" && e.val.kind == nodeList {
			p.report(e.key, "move it out of properties, beside them", "%s: properties holds required, a list of names", owner)
			continue
		}
		p.checkedPart(e.val, owner+" "+strings.TrimPrefix(key, "$")+" "+quote(e.name))
	}
}

func (p *parser) checkedPattern(n *node, key string) {
	if n.kind != nodeString {
		p.wrong(n, key, "a text")
	} else if p.pattern != nil {
		if fault, hint := p.pattern(n.text); fault != "" {
			p.report(n.pos, hint, "%s", fault)
		}
	}
}

// memberNames checks a list of different names, which may be any texts.
func (p *parser) memberNames(n *node, key string) {
	if !p.isList(n, key) {
		return
	}
	seen := make(map[string]bool)
	for _, item := range n.items {
		if item.kind != nodeString {
			p.wrong(item, "an entry of "+key, "a text")
		} else if seen[item.text] {
			p.report(item.pos, "remove one of them", "%s names %s twice", key, quote(item.text))
		}
		seen[item.text] = true
	}
}

// checkedType checks a type or a list of types.
func (p *parser) checkedType(n *node) {
	all := append(slices.Clone(typeNames), "null")
	if n.kind == nodeNull {
		p.report(n.pos, `write "null" in quotes`, "type: null is not a text here")
		return
	}
	if n.kind != nodeList {
		p.choice(n, "type", all...)
		return
	}
	seen := make(map[string]bool)
	for _, item := range p.entries(n, "type") {
		if item.kind == nodeNull {
			p.report(item.pos, `write "null" in quotes`, "type: null is not a text here")
			continue
		}
		if name := p.choice(item, "type", all...); name != "" && seen[name] {
			p.report(item.pos, "remove one of them", "type names %s twice", quote(name))
		}
		seen[item.text] = true
	}
}

// checkContradictions refuses bounds that leave no value.
func (p *parser) checkContradictions(n *node, owner string) {
	if low, tuple := n.get("minItems"), n.get("prefixItems"); low != nil && low.kind == nodeNumber && tuple != nil && n.get("items").isFalse() {
		if rat(low.text).Cmp(rat(strconv.Itoa(len(tuple.items)))) > 0 {
			p.report(low.pos, "lower it, or let more items follow", "%s: no array has %s items and only the %d of prefixItems", owner, low.text, len(tuple.items))
		}
	}
	for _, pair := range [][2]string{{"minLength", "maxLength"}, {"minItems", "maxItems"}, {"minProperties", "maxProperties"},
		{"minimum", "maximum"}, {"exclusiveMinimum", "maximum"}, {"minimum", "exclusiveMaximum"}, {"exclusiveMinimum", "exclusiveMaximum"}} {
		lo, hi := n.get(pair[0]), n.get(pair[1])
		if lo == nil || hi == nil || lo.kind != nodeNumber || hi.kind != nodeNumber {
			continue
		}
		exclusive := strings.HasPrefix(pair[0], "exclusive") || strings.HasPrefix(pair[1], "exclusive")
		if c := rat(lo.text).Cmp(rat(hi.text)); c > 0 || c == 0 && exclusive {
			p.report(lo.pos, "widen the bounds", "%s: no value is between %s %s and %s %s", owner, pair[0], lo.text, pair[1], hi.text)
		}
	}
}

// noteFormat warns of a format that is not enforced.
func (p *parser) noteFormat(n *node) {
	hint := "use a pattern, or one of " + oneOf(formats)
	if name := p.closest(n.text, formats); name != "" {
		hint = "did you mean " + quote(name) + "?"
	}
	p.notEnforced(n, hint)
}

// notEnforced says of a format that it is none, as the file wants it: by a warning or an error.
func (p *parser) notEnforced(n *node, hint string) {
	if p.strictFormats() {
		p.report(n.pos, hint, "format %s is not enforced, and the file says formats: strict", quote(n.text))
		return
	}
	p.warn("format", n.pos, hint, "format %s is published and not enforced", quote(n.text))
}

// noteAnnotated says which formats are not enforced because a meta-schema inside the same
// root makes annotations of them.
func (p *parser) noteAnnotated(root *node) {
	if !isForeign(root) {
		return
	}
	index := jsonschema.NewIndex(nodes{}, root)
	var visit func(n *node, annotates bool)
	visit = func(n *node, annotates bool) {
		if name := n.get("$schema"); name != nil && (n == root || n.get("$id") != nil) {
			meta := metaSchema(index, name.text)
			words := meta.get("$vocabulary")
			annotates = words != nil && words.get(assertionVocab) == nil
		}
		if format := n.get("format"); annotates && format != nil && slices.Contains(formats, format.text) {
			p.notEnforced(format, "add "+assertionVocab+" to the $vocabulary of the meta-schema")
		}
		for _, part := range schemasIn(n) {
			visit(part, annotates)
		}
	}
	visit(root, false)
}

// strictFormats reports whether the file says formats: strict.
func (p *parser) strictFormats() bool { return p.root.get("formats").isText("strict") }

// composed checks what stands beside the properties of an object.
func (p *parser) composed(w *schemaWork) {
	p.checked = append(p.checked, w)
	for _, e := range w.node.pairs {
		if slices.Contains(composedKeys, e.name) && e.val.holdsSensitive() {
			p.report(e.key, "mark the member under properties", "%s: x-sensitive under %s", w.owner, e.name)
		}
	}
	said := func(key string) bool { _, ok := w.Keys[key]; return ok }
	if !w.Closed || said("additionalProperties") || said("unevaluatedProperties") {
		return
	}
	if at := p.undeclared(w.node); at != nil {
		what := "the reference leads to members that properties may not declare"
		if at.kind == nodeString && !strings.Contains(at.text, "#") {
			what = "member " + quote(at.text) + " is not declared in properties"
		}
		p.report(at.pos, "declare them in properties, or say additionalProperties or unevaluatedProperties of the object", "%s: %s, and the object is closed", w.owner, what)
	}
}

// sayImplied adds what a typed schema leaves implied, for references from checked ones.
func (p *parser) sayImplied(w *schemaWork) {
	say := func(name string, value *node) {
		if _, said := w.Keys[name]; !said {
			w.node.add(pair{name: name, key: w.Pos, val: value})
		}
	}
	switch {
	case w.Type == TypeObject && w.Closed && (!w.Composed || w.node.get("unevaluatedProperties") == nil):
		say("additionalProperties", &node{kind: nodeBool, pos: w.Pos, text: "false"})
	case w.Type == TypeArray && len(w.PrefixItems) > 0:
		say("minItems", &node{kind: nodeNumber, pos: w.Pos, text: ordinal(len(w.PrefixItems) - 1)})
	}
}
