package wire

import (
	"slices"
	"strconv"
	"strings"
)

// A failure is a keyword of a node that a value does not fit.
type failure struct {
	what        failureKind
	of          failureKind // of a name: what is wrong with it
	node, value int
	arg, other  int
}

// A failureKind is what can be wrong with a value.
type failureKind uint8

const (
	failNone failureKind = iota
	failNever
	failType
	failEnum
	failMinimum
	failMaximum
	failExclusiveMinimum
	failExclusiveMaximum
	failMultipleOf
	failMinLength
	failMaxLength
	failPattern
	failFormat
	failMinItems
	failMaxItems
	failUnique
	failItems
	failContains
	failContainsMax
	failMinProperties
	failMaxProperties
	failRequired
	failNeed
	failAdditional
	failName
	failUnevaluated
	failUnevaluatedItem
	failAny
	failOne
	failTwo
	failNot
)

// failureKeywords are the keywords of JSON Schema, in the order of the constants. That
// of the schema false, which is none, is the one that says the same.
var failureKeywords = [...]string{
	"", "not", "type", "enum", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
	"pattern", "format", "minItems", "maxItems", "uniqueItems", "items", "contains", "maxContains", "minProperties", "maxProperties",
	"required", "dependentRequired", "additionalProperties", "propertyNames", "unevaluatedProperties", "unevaluatedItems", "anyOf", "oneOf",
	"oneOf", "not",
}

// fail notes a failure, or remembers the first of a trial. It reports false.
func (c *checker) fail(f failure) bool {
	switch {
	case c.trials > 0:
		if c.why.what == failNone {
			c.why = f
		}
	case c.notes.full():
		c.notes.add(problem{}, false) // which counts it
	case f.what == failRequired:
		c.notes.noteMember(c.at(f.value), c.node0(f).Required[f.arg], "required", c.expected(f), "nothing")
	case f.what == failNeed:
		c.notes.noteMember(c.at(f.value), c.node0(f).Needs[f.arg].Required[f.other], "dependentRequired", c.expected(f), "nothing")
	default:
		c.notes.note(c.at(f.value), false, c.keyword(f), c.expected(f), c.actual(f))
	}
	return false
}

// failUnion notes that a value fits no branch: it lists what they want, the shortest
// first, five at most. Of a branch that is a union itself it lists what the branches of that want, and
// the branch that the value is nearest to comes first, with its place in the schema.
func (c *checker) failUnion(what failureKind, id, v int, in *scope, why []failure) bool {
	const most = 5
	if c.trials > 0 || c.notes.full() {
		return c.fail(failure{what: what, node: id, value: v})
	}
	var all []tried
	nested := false
	for i, f := range why {
		at := failureKeywords[what] + "/" + strconv.Itoa(i)
		before := len(all)
		all = c.unfold(all, branchOf(&c.schema.Nodes[id-1], what, i), v, in, f, at)
		nested = nested || len(all) > before+1 || all[before].at != at
	}
	wants := make([]string, len(all))
	for i, b := range all {
		if wants[i] = c.place(b.why, v) + c.expected(b.why); nested {
			wants[i] += c.constantOf(b.why)
		}
	}
	first := -1
	if nested {
		first = c.nearest(all, v)
	}
	near := ""
	if first >= 0 {
		near = wants[first] + " (" + all[first].at + ", the nearest branch)"
		wants = slices.DeleteFunc(wants, func(want string) bool { return want == wants[first] })
	}
	slices.SortStableFunc(wants, func(a, b string) int { return len(a) - len(b) })
	wants = slices.Compact(wants)
	if near != "" {
		wants = slices.Insert(wants, 0, near)
	}
	text := strings.Join(wants[:min(most, len(wants))], "; or ")
	if len(wants) > most {
		text += "; or " + strconv.Itoa(len(wants)-most) + " more"
	}
	c.notes.note(c.at(v), false, failureKeywords[what], cut(text, maxWants), c.shown(v))
	return false
}

// A tried is a branch that a value does not fit, with its place in the schema.
type tried struct {
	node int
	at   string // anyOf/0/oneOf/1
	why  failure
}

// maxTried is how many branches of unions inside of each other are looked at for one violation.
const maxTried = 64

func branchOf(n *Node, what failureKind, i int) int {
	if what == failAny {
		return n.Any[i]
	}
	return n.One[i]
}

// unfold adds a branch that a value does not fit or, where that is a union of the same value, the branches of that.
func (c *checker) unfold(all []tried, id, v int, in *scope, f failure, at string) []tried {
	n := c.node0(f)
	branches := n.Any
	if f.what == failOne {
		branches = n.One
	}
	if f.what != failAny && f.what != failOne || f.value != v || len(all)+len(branches) > maxTried {
		return append(all, tried{id, at, f})
	}
	for i, b := range branches {
		if c.branch(b, v, in, nil) {
			continue // of a oneOf that other branches fit, too
		}
		all = c.unfold(all, b, v, in, c.last, at+"/"+failureKeywords[f.what]+"/"+strconv.Itoa(i))
	}
	return all
}

// nearest returns the branch that a value comes nearest to fitting, -1 where two are alike: by its type, by the constants of
// its members, by how many of its members the branch describes.
func (c *checker) nearest(all []tried, v int) int {
	best, score, alone := -1, 0, false
	for i, b := range all {
		near := 1 + c.described(b.node, v)
		switch {
		case b.why.value == v && b.why.what == failType, b.why.what == failNever:
			near = 0
		case b.why.what != failEnum:
			near += 1 << 20
		}
		if near > score {
			best, score, alone = i, near, true
		} else if near == score {
			alone = false
		}
	}
	if !alone {
		return -1
	}
	return best
}

// described is how many members of an object a node describes, or what it refers to.
func (c *checker) described(id, v int) int {
	if c.tape.cells[v].kind != TypeObject {
		return 0
	}
	for range 100 {
		n := &c.schema.Nodes[id-1]
		if len(n.Properties) > 0 || n.Ref == 0 {
			count := 0
			for _, p := range n.Properties {
				if c.find(v, p.Name).cell > 0 {
					count++
				}
			}
			return count
		}
		id = n.Ref
	}
	return 0
}

// constantOf is what a missing member has to be, where that is a constant.
func (c *checker) constantOf(f failure) string {
	if f.what != failRequired {
		return ""
	}
	n := c.node0(f)
	part := c.schema.prepared[max(f.node-1, 0)].index[n.Required[f.arg]]
	if part == 0 || c.schema.Nodes[part-1].Enum == nil {
		return ""
	}
	if p := &c.schema.Nodes[part-1]; p.Const {
		return " that is " + clip(p.Enum[0])
	}
	return " that is one of " + values(c.schema.Nodes[part-1].Enum)
}

// maxWants is how many characters what the branches of a union want may have.
const maxWants = 600

// place names the part of value v that a failure is about.
func (c *checker) place(f failure, v int) string {
	switch x := c.tape.cells[f.value]; {
	case f.value == v:
		return ""
	case x.name != "":
		return "in " + show(x.name) + " " + c.article(f)
	}
	return "in an item " + c.article(f)
}

// article introduces a constant: the empty text, null and the empty list read as nothing behind the name of a member.
func (c *checker) article(f failure) string {
	if f.what == failEnum && c.node0(f).Const {
		return "the value "
	}
	return ""
}

func (c *checker) at(v int) int { return c.base + c.tape.cells[v].at }

func (c *checker) node0(f failure) *Node { return &c.schema.Nodes[max(f.node-1, 0)] }

func (c *checker) keyword(f failure) string {
	if f.what == failEnum && c.node0(f).Const {
		return "const"
	}
	return failureKeywords[f.what]
}

// expected is what the schema wants.
func (c *checker) expected(f failure) string {
	n := c.node0(f)
	switch f.what {
	case failType:
		return n.Types.String()
	case failEnum:
		if n.Const {
			return clip(n.Enum[0])
		}
		return "one of " + values(n.Enum)
	case failMinimum:
		return "at least " + n.Minimum
	case failMaximum:
		return "at most " + n.Maximum
	case failExclusiveMinimum:
		return "more than " + n.ExclusiveMinimum
	case failExclusiveMaximum:
		return "less than " + n.ExclusiveMaximum
	case failMultipleOf:
		return "a multiple of " + n.MultipleOf
	case failMinLength:
		return "at least " + plural(n.Length.Min, "character")
	case failMaxLength:
		return "at most " + plural(n.Length.Max, "character")
	case failPattern:
		return "a match of " + n.Pattern.Source
	case failFormat:
		return n.Format.String()
	}
	return c.expectedParts(n, f)
}

// expectedParts is what the schema wants of elements, members and branches.
func (c *checker) expectedParts(n *Node, f failure) string {
	switch f.what {
	case failMinItems:
		return "at least " + plural(n.Items.Min, "item")
	case failMaxItems:
		return "at most " + plural(n.Items.Max, "item")
	case failUnique:
		return "no two equal items"
	case failItems:
		return "no more than " + plural(len(n.Prefix), "item")
	case failContains:
		least := 1
		if n.Contain.Has&Min != 0 {
			least = n.Contain.Min
		}
		return "at least " + plural(least, "item") + " of the kind that contains describes"
	case failContainsMax:
		return "at most " + plural(n.Contain.Max, "item") + " of the kind that contains describes"
	case failMinProperties:
		return "at least " + plural(n.Members.Min, "member")
	case failMaxProperties:
		return "at most " + plural(n.Members.Max, "member")
	case failRequired:
		return "a member " + strconv.Quote(n.Required[f.arg])
	case failNeed:
		need := n.Needs[f.arg]
		return "a member " + strconv.Quote(need.Required[f.other]) + " beside " + strconv.Quote(need.Name)
	case failAdditional:
		return n.expectedNames()
	case failName:
		f.what = f.of
		return "a name that is " + c.expected(f)
	case failUnevaluated, failUnevaluatedItem:
		return "nothing that no other keyword describes"
	case failAny, failOne:
		return "a value of one of " + plural(max(len(n.Any), len(n.One)), "schema")
	case failTwo:
		return "a value of one of " + plural(len(n.One), "schema") + " only"
	case failNot:
		return "another value than the schema of not describes"
	}
	return "no value here"
}

// expectedNames lists the members that an object may have.
func (n *Node) expectedNames() string {
	names := make([]string, len(n.Properties))
	for i, p := range n.Properties {
		names[i] = p.Name
	}
	want := "only " + list(names)
	switch {
	case len(names) == 0 && len(n.Patterns) == 0:
		return "no members"
	case len(names) == 0:
		want = "only names that match "
	case len(n.Patterns) > 0:
		want += " and names that match "
	}
	for i, p := range n.Patterns {
		if i > 0 {
			want += " or "
		}
		want += p.Pattern.Source
	}
	return want
}

// actual is what the value has instead.
func (c *checker) actual(f failure) string {
	switch x := c.tape.cells[f.value]; f.what {
	case failType:
		if x.kind == TypeInteger {
			return "number"
		}
		return x.kind.String()
	case failMinLength, failMaxLength, failContains, failContainsMax:
		return strconv.Itoa(f.arg)
	case failMinItems, failMaxItems, failMinProperties, failMaxProperties:
		return strconv.Itoa(x.size)
	case failUnique:
		return "equal items " + strconv.Itoa(f.arg) + " and " + strconv.Itoa(f.other)
	case failAdditional, failUnevaluated, failName:
		return show(x.name)
	case failTwo:
		return "a value of number " + strconv.Itoa(f.arg+1) + " and of number " + strconv.Itoa(f.other+1)
	}
	return c.shown(f.value)
}

// shown is a value as an Actual.
func (c *checker) shown(v int) string {
	switch c.tape.cells[v].kind {
	case TypeString:
		return show(c.tape.str(v))
	case TypeArray, TypeObject:
		return c.tape.cells[v].kind.String()
	}
	return clip(string(c.tape.text(v)))
}

// values lists JSON texts for an Expected.
func values(texts []string) string {
	const most = 40
	all := make([]string, 0, min(len(texts), most))
	for _, s := range texts[:min(len(texts), most)] {
		all = append(all, clip(s))
	}
	out := strings.Join(all, ", ")
	if len(texts) > most {
		out += " and " + strconv.Itoa(len(texts)-most) + " more"
	}
	return out
}
