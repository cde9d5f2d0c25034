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
