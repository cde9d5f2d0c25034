package dsl

import (
	"slices"
	"strings"
)

func (p *parser) parseDialect(n *node, w *schemaWork) {
	text, ok := p.text(n, "$schema")
	switch name := strings.TrimSuffix(text, "#"); {
	case !ok:
	case !w.top:
		p.report(n.pos, "remove it", "$schema stands at the root of a schema only")
	case slices.Contains(draft07, name): // checkDrafts has looked at its keywords
	case name != dialect:
		p.report(n.pos, "remove the key, or write "+dialect, "$schema: dialect %s is not supported", quote(text))
	}
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
// have, or ignores in that place.
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
	if defs := n.get("definitions"); defs != nil {
		for _, e := range defs.pairs {
			p.draft07Differs(e.val, seen)
		}
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
