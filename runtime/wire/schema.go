package wire

import "sync"

// A Schema is what a JSON Schema says of a value for which Go has no type. Its
// nodes are the schema and what it holds or refers to; they name each other by
// their place in Nodes, counted from 1, and 0 is no schema. The first node is
// the schema itself.
//
// Generated code holds it as static data. A Schema is not changed once it is used,
// and may be used by several goroutines at once.
type Schema struct {
	Nodes []Node
	// Resources are the dynamic anchors of each schema resource, where a node has an Anchor.
	Resources [][]Part
	// Hidden says that a part of the value is sensitive: a violation is said of the
	// whole value and shows nothing of it.
	Hidden bool

	once     sync.Once
	prepared []prepared
}

// A Node is one schema of a [Schema]. Its zero value allows any value. A keyword
// says something about values of its own type only, as in JSON Schema.
type Node struct {
	Never bool     // the schema false: no value fits
	Types Types    // zero: any
	Enum  []string // the JSON texts of the allowed values; nil: any
	Const bool     // Enum is a const: violations say so

	// Bounds of a number as decimal literals; empty: none.
	Minimum, Maximum, ExclusiveMinimum, ExclusiveMaximum, MultipleOf string

	Length  Range // code points of a string
	Pattern *Pattern
	Format  Format

	Items    Range // elements of an array
	Unique   bool
	Prefix   []int // schemas of the first elements
	Rest     int   // the schema of the others
	Contains int
	Contain  Range // how many elements fit Contains

	Members      Range // members of an object
	Required     []string
	Properties   []Part
	Patterns     []PatternPart
	Additional   int // the schema of members that neither Properties nor Patterns names
	Names        int // the schema of the names of members
	Needs        []Need
	Dependencies []Part // schemas of an object that has a member

	// Schemas of the same value.
	All, Any, One       []int
	Not, If, Then, Else int
	Ref                 int
	// Anchor is the dynamic anchor that Ref stands for where no schema around it has one.
	Anchor string

	// The schemas of what no other keyword has looked at.
	UnevaluatedMembers, UnevaluatedItems int

	// Resource is the place of the schema resource in Resources, counted from 1; 0 where
	// no node has an Anchor.
	Resource int
}

// A Range bounds a count.
type Range struct {
	Has      Bounds
	Min, Max int
}

// A Part is the schema of a named member, or of an anchor.
type Part struct {
	Name string
	Node int
}

// A PatternPart is the schema of the members whose names match.
type PatternPart struct {
	Pattern *Pattern
	Node    int
}

// A Need names the members that an object with a member Name has to have.
type Need struct {
	Name     string
	Required []string
}

// prepared is what is computed of a node before its first use.
type prepared struct {
	min, max, above, below, step *decimal
	enum                         map[string]bool // canonical forms
	index                        map[string]int  // of Properties
	shared                       bool            // several nodes lead to it
}

// prepare computes what all uses of s share.
func (s *Schema) prepare() {
	s.once.Do(func() {
		s.prepared = make([]prepared, len(s.Nodes))
		for i := range s.Nodes {
			n, p := &s.Nodes[i], &s.prepared[i]
			p.min, p.max = bound(n.Minimum), bound(n.Maximum)
			p.above, p.below, p.step = bound(n.ExclusiveMinimum), bound(n.ExclusiveMaximum), bound(n.MultipleOf)
			if n.Enum != nil {
				p.enum = make(map[string]bool, len(n.Enum))
				for _, text := range n.Enum {
					p.enum[string(canonicalText([]byte(text)))] = true
				}
			}
			p.index = make(map[string]int, len(n.Properties))
			for _, m := range n.Properties {
				p.index[m.Name] = m.Node
			}
		}
		s.share()
	})
}

// bound is a number of a schema, nil for none.
func bound(literal string) *decimal {
	if literal == "" {
		return nil
	}
	d := parseDecimal([]byte(literal))
	return &d
}
