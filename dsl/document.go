package dsl

// documents gives every checked or composed schema the text of the schema it stands in.
func (p *parser) documents() {
	values := make(map[*node]*Value)
	text := func(n *node) *Value {
		if values[n] == nil {
			p.index(n, p.value(n), values)
		}
		return values[n]
	}
	for _, w := range p.checked {
		if w.root.document == nil {
			w.root.document = &Document{Root: text(w.root.node), Type: w.root.name}
		}
		w.Source, w.Document = text(w.node), w.root.document
	}
	if len(p.checked) == 0 {
		return
	}
	for _, t := range p.file.Types {
		t.Document = &Document{Root: text(t.node), Type: t.Name}
	}
}

// index notes which value each node became.
func (p *parser) index(n *node, v *Value, values map[*node]*Value) {
	values[n] = v
	for i, item := range n.items {
		p.index(item, v.Items[i], values)
	}
	i := 0
	for _, e := range n.pairs {
		if !e.twin {
			p.index(e.val, v.Members[i].Value, values)
			i++
		}
	}
}
