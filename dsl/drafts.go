package dsl

import (
	"slices"
	"strings"
)

// A Draft is a published version of JSON Schema, in the order of their publication.
type Draft int

// The drafts that an import reads.
const (
	Draft04 Draft = iota + 1
	Draft06
	Draft07
	Draft2019
	Draft2020
)

var draftNames = map[string]Draft{
	"json-schema.org/draft-04/schema":      Draft04,
	"json-schema.org/draft-06/schema":      Draft06,
	"json-schema.org/draft-07/schema":      Draft07,
	"json-schema.org/draft/2019-09/schema": Draft2019,
	"json-schema.org/draft/2020-12/schema": Draft2020,
}

// DraftOf returns the draft whose meta-schema has a URI; false for none of them.
func DraftOf(uri string) (Draft, bool) {
	_, name, _ := strings.Cut(strings.TrimSuffix(uri, "#"), "://")
	d, ok := draftNames[name]
	return d, ok
}

// spans are the first and the last draft of the keywords that limit values or lead to
// schemas and that not every draft has. "definitions" and "$defs" are not among them: they hold
// what references lead to in any draft. Nor is "dependencies": draft 2019-09 replaced it, and readers
// of later drafts, this one among them, still enforce it.
var spans = map[string][2]Draft{
	"id": {Draft04, Draft04}, "$id": {Draft06, Draft2020},
	"const": {Draft06, Draft2020}, "contains": {Draft06, Draft2020}, "propertyNames": {Draft06, Draft2020},
	"if": {Draft07, Draft2020}, "then": {Draft07, Draft2020}, "else": {Draft07, Draft2020},
	"dependentRequired": {Draft2019, Draft2020}, "dependentSchemas": {Draft2019, Draft2020},
	"minContains": {Draft2019, Draft2020}, "maxContains": {Draft2019, Draft2020},
	"unevaluatedProperties": {Draft2019, Draft2020}, "unevaluatedItems": {Draft2019, Draft2020},
	"$anchor": {Draft2019, Draft2020}, "$vocabulary": {Draft2019, Draft2020},
	"$recursiveRef": {Draft2019, Draft2019}, "$recursiveAnchor": {Draft2019, Draft2019},
	"additionalItems": {Draft04, Draft2019}, "prefixItems": {Draft2020, Draft2020},
	"$dynamicRef": {Draft2020, Draft2020}, "$dynamicAnchor": {Draft2020, Draft2020},
}

// Has reports whether a keyword means something in a draft. It is true of annotations, and of
// keywords that no draft has: neither says anything of values.
func (d Draft) Has(keyword string) bool {
	span, some := spans[keyword]
	return !some || span[0] <= d && d <= span[1]
}

// BesideRef reports whether a keyword beside $ref means in a draft what it says elsewhere. Until
// draft-07 nothing beside a reference limits values.
func (d Draft) BesideRef(keyword string) bool {
	switch keyword {
	case "$ref", "$schema", "$defs", "definitions", "title", "description", "$comment", "examples", "deprecated", "readOnly", "writeOnly", "x-sensitive", "x-mcp-header":
		return true
	}
	return d > Draft07
}

// checkDrafts refuses the keywords that read differently in draft-07, where $schema of the root of a
// schema names that draft. It looks at what the file says, before any of it is written anew.
func (p *parser) checkDrafts() {
	types, calls := p.schemaRoots()
	for _, root := range slices.Concat(types, calls) {
		if said := root.get("$schema"); said != nil && said.kind == nodeString {
			if d, _ := DraftOf(said.text); d == Draft07 {
				p.draft07Differs(root, map[*node]bool{})
			}
		}
	}
}

// schemaRoots lists the entries of types, and the inputs, outputs and states of tools.
func (p *parser) schemaRoots() (types, calls []*node) {
	if named := p.root.get("types"); named != nil {
		for _, e := range named.pairs {
			types = append(types, e.val)
		}
	}
	if tools := p.root.get("tools"); tools != nil {
		for _, e := range tools.pairs {
			for _, s := range []*node{e.val.get("input"), e.val.get("output"), e.val.get("undo").get("state")} {
				if s != nil {
					calls = append(calls, s)
				}
			}
		}
	}
	return types, calls
}

// draft07Differs refuses the keywords of a schema and of those inside it that draft-07 does not
// have, or ignores in that place (SEMANTICS 7.6).
func (p *parser) draft07Differs(n *node, seen map[*node]bool) {
	if n.kind != nodeMap || seen[n] {
		return
	}
	seen[n] = true
	const hint = "remove $schema: declarations are written in draft 2020-12"
	ref := n.get("$ref")
	for _, e := range n.pairs {
		switch {
		case e.twin:
		case !Draft07.Has(e.name):
			p.report(e.key, hint, "%s says nothing in draft-07, which $schema names", e.name)
		case ref != nil && ref.kind == nodeString && !Draft07.BesideRef(e.name):
			p.report(e.key, hint, "%s beside $ref says nothing in draft-07, which $schema names", e.name)
		}
	}
	for _, part := range schemasIn(n) {
		p.draft07Differs(part, seen)
	}
}

// checkOtherDraft is checkDrafts for the root of another file, of which only a part may be read.
func (p *parser) checkOtherDraft(root *node) {
	said := root.get("$schema")
	if said == nil || said.kind != nodeString {
		return
	}
	switch d, known := DraftOf(said.text); {
	case known && d == Draft07:
		p.draft07Differs(root, map[*node]bool{})
	case known && d != Draft2020:
		p.report(said.pos, "write the file in draft 2020-12, and say so", "$schema: dialect %s is not supported", quote(said.text))
	}
}
