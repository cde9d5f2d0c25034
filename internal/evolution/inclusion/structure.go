package inclusion

import "slices"

// structure compares the keywords of members and elements.
func (c *comparer) structure(a, b node, key string) bool {
	switch key {
	case "required":
		return contains(a.texts(key), b.texts(key))
	case "dependentRequired":
		names, needs := b.named(key)
		for i, name := range names {
			wanted := texts(needs[i].v)
			if !contains(a.texts("required"), wanted) && !contains(texts(get(a.get(key), name)), wanted) {
				return false
			}
		}
		return true
	case "dependentSchemas":
		names, schemas := b.named(key)
		for i, name := range names {
			if was := get(a.get(key), name); (was == nil || !c.in(node{was, a.text}, schemas[i])) && !c.in(a, schemas[i]) {
				return false
			}
		}
		return true
	case "properties":
		return c.properties(a, b)
	case "patternProperties":
		patterns, schemas := b.named(key)
		for i, pattern := range patterns {
			if was := get(a.get(key), pattern); (was == nil || !c.in(node{was, a.text}, schemas[i])) && !c.members(a, schemas[i], node{}) {
				return false
			}
		}
		return true
	case "additionalProperties":
		return c.members(a, b.sub(key), b)
	case "propertyNames":
		return a.has(key) && c.in(a.sub(key), b.sub(key))
	case "prefixItems":
		for i, to := range b.list(key) {
			if !c.in(element(a, i), to) {
				return false
			}
		}
		return true
	case "items":
		for i := len(b.list("prefixItems")); i < len(a.list("prefixItems")); i++ {
			if !c.in(element(a, i), b.sub(key)) {
				return false
			}
		}
		return c.in(a.sub(key), b.sub(key))
	case "contains":
		return c.contained(a, b)
	}
	return false
}

func contains(list, wanted []string) bool {
	return !slices.ContainsFunc(wanted, func(name string) bool { return !slices.Contains(list, name) })
}

// element is what the element with number i has to fit.
func element(a node, i int) node {
	if prefix := a.list("prefixItems"); i < len(prefix) {
		return prefix[i]
	}
	return a.sub("items")
}

// properties: a member that b declares fits in a its own schema, or that of other members, where no
// pattern may give it another one.
func (c *comparer) properties(a, b node) bool {
	names, schemas := b.named("properties")
	for i, name := range names {
		was := node{}
		if p := a.member(name); p != nil {
			was = *p
		} else if patterns, _ := a.named("patternProperties"); len(patterns) == 0 {
			was = a.sub("additionalProperties")
		}
		if !c.in(was, schemas[i]) {
			return false
		}
	}
	return true
}

// members: all members of a fit a schema, but those that but declares.
func (c *comparer) members(a, to, but node) bool {
	for _, key := range []string{"properties", "patternProperties"} {
		names, schemas := a.named(key)
		for i, name := range names {
			if get(but.get(key), name) == nil && !c.in(schemas[i], to) {
				return false
			}
		}
	}
	return c.in(a.sub("additionalProperties"), to)
}

// contained compares contains, with how often it has to fit and may fit.
func (c *comparer) contained(a, b node) bool {
	if low := number(b.get("minContains")); low == nil || low.Sign() > 0 {
		if !a.has("contains") || !c.in(a.sub("contains"), b.sub("contains")) {
			return false
		}
		least := number(a.get("minContains"))
		if low == nil && least != nil && least.Sign() == 0 || low != nil && (least == nil && low.Num().Cmp(low.Denom()) > 0 || least != nil && least.Cmp(low) < 0) {
			return false
		}
	}
	if !b.has("maxContains") {
		return true
	}
	return a.has("contains") && most(a, b, "maxContains") && c.in(b.sub("contains"), a.sub("contains"))
}

// lists, maps and single are the keywords that hold schemas.
var (
	lists  = set("allOf", "anyOf", "oneOf", "prefixItems")
	maps   = set("properties", "patternProperties", "dependentSchemas")
	single = set("not", "if", "then", "else", "items", "contains", "additionalProperties", "propertyNames", "unevaluatedItems", "unevaluatedProperties")
)

// same reports whether two schemas say the same of every value.
func (c *comparer) same(a, b node) bool {
	return c.assuming(func() bool { return c.sameNode(a, b) })
}

// assuming forgets what f took for the same, unless it was right.
func (c *comparer) assuming(f func() bool) bool {
	c.path = c.path[:0]
	if f() {
		return true
	}
	for _, p := range c.path {
		delete(c.alike, p)
	}
	return false
}

func (c *comparer) sameNode(a, b node) bool {
	a, b = a.plain(), b.plain()
	if a.any() || b.any() || a.never() || b.never() {
		return a.any() == b.any() && a.never() == b.never()
	}
	key := pair{a, b}
	if c.alike[key] {
		return true
	}
	c.alike[key] = true
	c.path = append(c.path, key)
	for _, n := range []node{a, b} {
		for _, m := range n.v.Members {
			if !c.sameKeyword(a, b, m.Name) {
				return false
			}
		}
	}
	return true
}

// sameKeyword compares one keyword.
func (c *comparer) sameKeyword(a, b node, key string) bool {
	x, y := a.get(key), b.get(key)
	switch {
	case silent[key] && !slices.Contains(applicators, key) || x == nil && y == nil:
		return true
	case x == nil || y == nil:
		return false
	case single[key]:
		return c.sameNode(a.sub(key), b.sub(key))
	case lists[key]:
		return slices.EqualFunc(a.list(key), b.list(key), c.sameNode)
	case maps[key]:
		names, schemas := a.named(key)
		for i, name := range names {
			if other := get(y, name); other == nil || !c.sameNode(schemas[i], node{other, b.text}) {
				return false
			}
		}
		return len(y.Members) == len(names)
	case key == "$ref":
		to, known := a.target()
		other, too := b.target()
		if known && too {
			return c.sameNode(to, other)
		}
		return Equal(x, y) && sameText(a.text, b.text)
	case key == "$dynamicRef", key == "$id":
		return Equal(x, y) && sameText(a.text, b.text)
	case key == "required":
		return contains(texts(x), texts(y)) && contains(texts(y), texts(x))
	case key == "type":
		return named(x) == named(y)
	}
	return Equal(x, y)
}

// sameText compares all that references of names may lead to.
func sameText(a, b *text) bool {
	if a.root == nil || b.root == nil || !Equal(a.root, b.root) || len(a.names.file.Types) != len(b.names.file.Types) {
		return false
	}
	for i, t := range a.names.file.Types {
		other := b.names.file.Types[i]
		if t.Name != other.Name || t.Document == nil || other.Document == nil || !Equal(t.Document.Root, other.Document.Root) {
			return false
		}
	}
	return true
}
