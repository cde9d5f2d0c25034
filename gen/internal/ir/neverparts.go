package ir

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// elements returns counts of elements that no array has.
func (c *compiler) elements(nodes []int, types wire.Types) *conflict {
	if types&^wire.TypeArray != 0 {
		return nil
	}
	most, mostKey := c.bound(nodes, []string{"maxItems"}, -1)
	least, _ := c.bound(nodes, []string{"minItems"}, 1)
	for _, id := range nodes {
		n, v := &c.out.Nodes[id-1], c.from[id]
		if n.Contains > 0 {
			if wanted := n.Contain; c.out.Nodes[n.Contains-1].Never && (wanted.Has&wire.Min == 0 || wanted.Min > 0) {
				return &conflict{pos: get(v, "contains").Pos, here: "contains false", there: "array", line: v.Pos.Line, hint: "let an element fit"}
			}
			low, high := get(v, "minContains"), get(v, "maxContains")
			if low != nil && high != nil && decimalOf(low).Cmp(decimalOf(high)) > 0 {
				return between(low, "minContains", high, "maxContains")
			}
			if low != nil && most != nil && decimalOf(low).Cmp(decimalOf(most)) > 0 {
				return between(low, "minContains", most, mostKey)
			}
		}
		if n.Rest > 0 && c.out.Nodes[n.Rest-1].Never && least != nil && decimalOf(least).Cmp(big.NewRat(int64(len(n.Prefix)), 1)) > 0 {
			return &conflict{pos: least.Pos, here: "minItems " + least.Text, there: "items false", line: get(v, "items").Pos.Line, hint: "let more elements follow"}
		}
	}
	return nil
}

// members returns a member that an object has to have and that no value fits.
func (c *compiler) members(nodes []int, types wire.Types, depth int) *conflict {
	if types&^wire.TypeObject != 0 {
		return nil
	}
	for _, id := range nodes {
		names := get(c.from[id], "required")
		for i, name := range c.out.Nodes[id-1].Required {
			var of []int
			for _, other := range nodes {
				of = c.ofMember(other, name, of)
			}
			if why := c.conflict(of, nil, depth+1); why != nil && i < len(names.Items) {
				at := names.Items[i].Pos
				return &conflict{pos: at, here: fmt.Sprintf("required %q", name), there: why.here, line: why.pos.Line, hint: "let a value of the member fit"}
			}
		}
	}
	return nil
}

// ofMember adds the nodes that a member has to fit.
func (c *compiler) ofMember(id int, name string, all []int) []int {
	n, hit := &c.out.Nodes[id-1], len(all)
	add := func(part int) { all = c.together(part, map[int]bool{}, all) }
	for _, p := range n.Properties {
		if p.Name == name {
			add(p.Node)
		}
	}
	for _, p := range n.Patterns {
		if re, err := regexp.Compile(p.Pattern.Source); err != nil || re.MatchString(name) {
			return all // another way to match is not known here
		}
	}
	if len(all) == hit && n.Additional > 0 && len(n.Patterns) == 0 {
		add(n.Additional)
	}
	return all
}

// unions returns a union of which no branch fits beside what else is said, or of which no
// value fits exactly one branch.
func (c *compiler) unions(nodes []int, known []demand, depth int) *conflict {
	for _, id := range nodes {
		n, v := &c.out.Nodes[id-1], c.from[id]
		if branches := get(v, "oneOf"); n.One != nil && c.twins(id, branches.Items) {
			return &conflict{pos: branches.Pos, here: "oneOf", there: "each branch", line: branches.Items[1].Pos.Line, hint: "let a value fit one branch alone", outright: allBool(branches.Items)}
		}
		for _, key := range []string{"anyOf", "oneOf"} {
			list := n.Any
			if key == "oneOf" {
				list = n.One
			}
			var first *conflict
			outright := len(list) > 0
			if slices.ContainsFunc(list, func(branch int) bool { return slices.Contains(nodes, branch) }) {
				continue // the value has to fit that branch anyway, which says no more the second time
			}
			for _, branch := range list {
				why := c.conflict(c.together(branch, map[int]bool{}, slices.Clone(nodes)), known, depth+1)
				if why == nil {
					first = nil
					break
				}
				outright = outright && why.outright
				if first == nil {
					first = why
				}
			}
			if first != nil {
				return &conflict{pos: get(v, key).Pos, here: "no branch of " + key, there: first.here, line: first.pos.Line, hint: "let a value fit a branch", outright: outright}
			}
		}
	}
	return nil
}

// twins reports whether each schema of a list is there twice, so that a value fits none of
// them or two.
func (c *compiler) twins(id int, list []*dsl.Value) bool {
	if twins, known := c.twin[id]; known {
		return twins
	}
	twins := eachTwice(list)
	c.twin[id] = twins
	return twins
}

func eachTwice(list []*dsl.Value) bool {
	count := map[string]int{}
	for _, v := range list {
		count[v.JSON()]++
	}
	for _, n := range count {
		if n < 2 {
			return false
		}
	}
	return len(list) > 1
}

func allBool(list []*dsl.Value) bool {
	return !slices.ContainsFunc(list, func(v *dsl.Value) bool { return v.Kind != dsl.ValueBool })
}
