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
	case slices.Contains(draft07, name):
		w.root.draft07 = n.pos
		p.later(func() {
			for _, f := range w.root.differs {
				p.report(f.at, f.hint, "%s", f.message)
			}
		})
	case name != dialect:
		p.report(n.pos, "remove the key, or write "+dialect, "$schema: dialect %s is not supported", quote(text))
	}
}

// draft07Differs notes the keywords that draft-07 does not have, or ignores in that
// place. It matters if $schema names that draft.
func (p *parser) draft07Differs(w *schemaWork) {
	const hint = "remove $schema: declarations are written in draft 2020-12"
	if at, ok := w.Keys["prefixItems"]; ok {
		w.root.differs = append(w.root.differs, fault{at, hint, w.owner + ": prefixItems says nothing in draft-07, which $schema names"})
	}
	if at, ok := w.Keys["default"]; ok && w.Keys["$ref"] != (Pos{}) {
		w.root.differs = append(w.root.differs, fault{at, hint, w.owner + ": default beside $ref says nothing in draft-07, which $schema names"})
	}
}
