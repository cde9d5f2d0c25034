package ir

// breakCycles puts a pointer wherever a struct would hold itself. Arrays, maps
// and unions break a cycle themselves: their values are elsewhere.
func (b *builder) breakCycles() {
	const (
		open = iota + 1
		done
	)
	state := map[string]int{} // by Go name: the copies of a shared type are one type in Go
	var visit func(t *Type)
	edge := func(p **Type) {
		at := p
		for (*at).Kind == KindNull {
			at = &(*at).Elem
		}
		to := *at
		if to.Kind != KindStruct && to.Kind != KindTuple {
			return
		}
		switch state[to.Name] {
		case open:
			pointer := &Type{Kind: KindPointer, Elem: to, base: to.Name}
			if *p == to {
				*p = pointer
				return
			}
			null := **p // may be shared by fields that close no cycle
			null.Elem = pointer
			*p = &null
		case done:
		default:
			visit(b.types[to.Name])
		}
	}
	visit = func(t *Type) {
		if t == nil {
			return
		}
		state[t.Name] = open
		for _, f := range t.Fields {
			if !f.Pointer() {
				edge(&f.Type)
			}
		}
		for i := range t.Items {
			edge(&t.Items[i])
		}
		state[t.Name] = done
	}
	for _, t := range b.pkg.Types {
		if state[t.Name] == 0 {
			visit(t)
		}
	}
}
