package ir

import (
	"slices"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// bindAnchors adds the schemas that dynamic references can lead to. Each schema may
// bring more of them.
func (c *compiler) bindAnchors() {
	if len(c.anchors) == 0 {
		for i := range c.out.Nodes {
			c.out.Nodes[i].Resource = 0
		}
		return
	}
	for done := 0; done < len(c.resources); done++ {
		r := c.resources[done]
		var parts []wire.Part
		for _, a := range r.Dynamic {
			doc := c.documentOf(r)
			parts = append(parts, wire.Part{Name: a.Name, Node: c.node(doc, a.At)})
		}
		c.out.Resources = append(c.out.Resources, parts)
	}
	for id, n := range c.out.Nodes {
		if n.Anchor == "" {
			continue
		}
		for _, parts := range c.out.Resources {
			for _, p := range parts {
				if p.Name == n.Anchor {
					c.same[id+1] = append(c.same[id+1], p.Node)
				}
			}
		}
	}
}

func (c *compiler) documentOf(r *resource) *dsl.Document {
	for d, s := range c.lib.documents {
		if slices.Contains(s.Resources, r) {
			return d
		}
	}
	return nil
}

// refuseLoops reports schemas that lead back to themselves without looking at a part of
// the value. It returns true where there is none.
func (c *compiler) refuseLoops() bool {
	none := true
	const (
		open = iota + 1
		done
	)
	state := map[int]int{}
	var visit func(id int)
	visit = func(id int) {
		state[id] = open
		for _, next := range c.same[id] {
			switch state[next] {
			case 0:
				visit(next)
			case open:
				none = false
				v := c.from[next]
				c.b.errorf(v.Pos, "let it lead to a part of the value, such as a member", "the schema leads back to itself: no value can be checked")
			}
		}
		state[id] = done
	}
	for id := 1; id <= len(c.out.Nodes); id++ {
		if state[id] == 0 {
			visit(id)
		}
	}
	return none
}
