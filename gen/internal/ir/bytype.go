package ir

import (
	"fmt"
	"slices"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// unionByType completes an interface whose variants have a type of JSON each. What is no
// struct stands in one, since only a type that is declared can be a variant.
func (b *builder) unionByType(t *Type, s *dsl.Schema, at site) {
	b.announce(t, s, at)
	rule := &wire.UnionRule{Sensitive: s.Sensitive}
	b.addRule(t, site{owner: at.inside(t).owner, rule: lower(t.Name) + "Rule"}, &Rule{Union: rule})
	for _, branch := range s.OneOf {
		object := branch
		for hops := 0; object.Ref != "" && object.Target != nil && hops < 100; hops++ {
			object = object.Target.Schema
		}
		one, ok := wire.ParseType(string(object.Type))
		if !ok || object.Nullable || rule.Types&one != 0 {
			b.errorf(branch.Pos, "give each branch a type of its own", "this branch of %s has no type of its own", s.Union)
			continue
		}
		rule.Types |= one
		name := at.name + dsl.GoName(string(object.Type))
		inner := site{owner: at.owner, inner: true, name: name, rule: lower(name), doc: fmt.Sprintf("the %s of %s", object.Type, t.Name)}
		v := &Variant{JSON: one}
		t.Variants = append(t.Variants, v)
		if one == wire.TypeObject && b.isStruct(object) {
			v.Type = b.lower(branch, site{name: name, inner: true, rule: lower(name) + "Rule", doc: inner.doc})
			b.fixups = append(b.fixups, func() {
				if own := b.types[v.Type.Name]; own != nil && !slices.Contains(own.Implements, t.Name) {
					own.Implements = append(own.Implements, t.Name)
				}
			})
			continue
		}
		box := &Type{Kind: KindBox, Schema: branch}
		v.Type = box
		b.announce(box, branch, site{name: name, inner: true, doc: inner.doc, owner: at.owner})
		inner.name += "V"
		inner.owner = box
		box.Elem = b.lower(branch, inner)
	}
}

// isStruct reports whether an object is a struct in Go, and no map.
func (b *builder) isStruct(s *dsl.Schema) bool { return b.kind(s) == KindStruct }
