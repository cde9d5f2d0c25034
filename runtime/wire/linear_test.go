package wire_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/wire"
)

// An input of a size is a schema and a text, one of which grows with the size.
type input func(size int) (*wire.Schema, string)

// repeat joins size texts, of which each is made of its number.
func repeat(size int, one func(i int) string) string {
	parts := make([]string, size)
	for i := range parts {
		parts[i] = one(i)
	}
	return strings.Join(parts, ",")
}

// names are those of the members of an object.
func names(size int) []string {
	all := make([]string, size)
	for i := range all {
		all[i] = fmt.Sprintf("m%d", i)
	}
	return all
}

func members(size int) string {
	return "{" + repeat(size, func(i int) string { return fmt.Sprintf(`"m%d":%d`, i, i) }) + "}"
}

// branches is a schema of which each branch wants a member of another name.
func branches(size int, in func(n *wire.Node, branches []int)) *wire.Schema {
	s := &wire.Schema{Nodes: []wire.Node{{}, {Types: wire.TypeInteger}}}
	var list []int
	for i := range size {
		name := fmt.Sprintf("k%d", i)
		s.Nodes = append(s.Nodes, wire.Node{Types: wire.TypeObject, Required: []string{name}, Properties: []wire.Part{{Name: name, Node: 2}}})
		list = append(list, len(s.Nodes))
	}
	in(&s.Nodes[0], list)
	return s
}

// levels is a schema of levels around each other, of which each says something of what
// those inside have not looked at.
func levels(size int) *wire.Schema {
	s := &wire.Schema{}
	for i := range size {
		name := fmt.Sprintf("m%d", i)
		s.Nodes = append(s.Nodes, wire.Node{All: []int{i + 2}, Properties: []wire.Part{{Name: name, Node: size + 1}}, UnevaluatedMembers: size + 2})
	}
	s.Nodes[size-1].All = nil
	s.Nodes = append(s.Nodes, wire.Node{Types: wire.TypeInteger}, wire.Node{Types: wire.TypeInteger})
	return s
}

// lists is a schema of trees that are lists: of a list of any values, which a resource around it
// makes one of lists of its own kind.
func lists() *wire.Schema {
	anchor := []wire.Part{{Name: "node", Node: 2}}
	return &wire.Schema{
		Nodes: []wire.Node{
			{Ref: 2, Resource: 1},
			{Ref: 3, Resource: 1},
			{Types: wire.TypeArray, Rest: 4, Resource: 2},
			{Ref: 3, Anchor: "node", Resource: 2},
		},
		Resources: [][]wire.Part{anchor, {{Name: "node", Node: 3}}},
	}
}

// forks is a schema of lists in lists of which both branches lead back to it, below a list of
// one more kind.
func forks(in func(n *wire.Node, branches []int)) *wire.Schema {
	s := &wire.Schema{Nodes: []wire.Node{{}, {Types: wire.TypeArray, Rest: 1}, {Types: wire.TypeArray, Prefix: []int{1}}}}
	in(&s.Nodes[0], []int{2, 3})
	return s
}

func anyOf(n *wire.Node, list []int) { n.Any = list }
func oneOf(n *wire.Node, list []int) { n.One = list }
func allOf(n *wire.Node, list []int) { n.All = list }

func nested(size int, inner string) string {
	return strings.Repeat("[", size) + inner + strings.Repeat("]", size)
}

// growing are inputs of two sizes: the size given, and twice that.
var growing = map[string]struct {
	size int
	fits bool
	of   input
}{
	"a nested repetition that does not match": {64 << 10, false, func(size int) (*wire.Schema, string) {
		p, err := wire.CompilePattern("^(a+)+$")
		if err != nil {
			panic(err)
		}
		return &wire.Schema{Nodes: []wire.Node{{Pattern: p}}}, `"` + strings.Repeat("a", size) + `b"`
	}},
	"a long name and a long text": {64 << 10, true, func(size int) (*wire.Schema, string) {
		long := strings.Repeat("é", size/2)
		return &wire.Schema{Nodes: []wire.Node{{Names: 2, Additional: 2}, {Length: wire.Range{Has: wire.Min, Min: size / 2}}}}, `{"` + long + `":"` + long + `"}`
	}},
	"many members": {64 << 10, true, func(size int) (*wire.Schema, string) {
		return &wire.Schema{Nodes: []wire.Node{{Types: wire.TypeObject, Names: 3, Additional: 2, Required: []string{"m0"}}, {Types: wire.TypeInteger}, {Length: wire.Range{Has: wire.Min, Min: 2}}}}, members(size)
	}},
	"many members that are too much": {64 << 10, false, func(size int) (*wire.Schema, string) {
		return &wire.Schema{Nodes: []wire.Node{{Properties: []wire.Part{{Name: "m0", Node: 2}}, Additional: 3}, {}, {Never: true}}}, members(size)
	}},
	"many members that are too much, beside many names": {2_000, false, func(size int) (*wire.Schema, string) {
		s := &wire.Schema{Nodes: []wire.Node{{Additional: 2}, {Never: true}, {}}}
		for i := range size {
			s.Nodes[0].Properties = append(s.Nodes[0].Properties, wire.Part{Name: fmt.Sprintf("n%d", i), Node: 3})
		}
		return s, members(size)
	}},
	"many branches, the last of which fits": {1_000, true, func(size int) (*wire.Schema, string) {
		return branches(size, anyOf), fmt.Sprintf(`{"k%d":1}`, size-1)
	}},
	"many branches of which one may fit": {1_000, true, func(size int) (*wire.Schema, string) {
		return branches(size, oneOf), `{"k0":1}`
	}},
	"many branches of which none fits": {1_000, false, func(size int) (*wire.Schema, string) { return branches(size, anyOf), `{"k":1}` }},
	"many branches, none of which fits one of many members": {1_000, false, func(size int) (*wire.Schema, string) {
		return branches(size, anyOf), members(size)
	}},
	"many branches, each of which wants one of many members to be another": {1_000, false, func(size int) (*wire.Schema, string) {
		return branches(size, anyOf), "{" + repeat(size, func(i int) string { return fmt.Sprintf(`"k%d":"x"`, i) }) + "}"
	}},
	"many branches of which one has looked at one of many members": {1_000, false, func(size int) (*wire.Schema, string) {
		s := branches(size, anyOf)
		s.Nodes[0].UnevaluatedMembers = len(s.Nodes) + 1
		s.Nodes = append(s.Nodes, wire.Node{Never: true})
		return s, "{" + fmt.Sprintf(`"k%d":1,`, size/2) + members(size)[1:]
	}},
	"many names that are required": {4_000, true, func(size int) (*wire.Schema, string) {
		return &wire.Schema{Nodes: []wire.Node{{Required: names(size)}}}, members(size)
	}},
	"many names that are not there": {4_000, false, func(size int) (*wire.Schema, string) {
		return &wire.Schema{Nodes: []wire.Node{{Required: names(2 * size)}}}, members(size)
	}},
	"many names that want another": {4_000, true, func(size int) (*wire.Schema, string) {
		s := &wire.Schema{Nodes: []wire.Node{{}}}
		for i, name := range names(size) {
			s.Nodes[0].Needs = append(s.Nodes[0].Needs, wire.Need{Name: name, Required: []string{fmt.Sprintf("m%d", size-1-i)}})
		}
		return s, members(size)
	}},
	"many schemas of objects with a name": {4_000, true, func(size int) (*wire.Schema, string) {
		s := &wire.Schema{Nodes: []wire.Node{{}, {Types: wire.TypeObject}}}
		for _, name := range names(size) {
			s.Nodes[0].Dependencies = append(s.Nodes[0].Dependencies, wire.Part{Name: name, Node: 2})
		}
		return s, members(size)
	}},
	"elements of which no two are equal": {10_000, true, func(size int) (*wire.Schema, string) {
		return &wire.Schema{Nodes: []wire.Node{{Unique: true}}}, "[" + repeat(size, func(i int) string { return fmt.Sprintf(`{"b":%d,"a":[%d.0]}`, i, i) }) + "]"
	}},
	"elements of which the last two are equal": {10_000, false, func(size int) (*wire.Schema, string) {
		return &wire.Schema{Nodes: []wire.Node{{Unique: true}}}, "[" + repeat(size, func(i int) string { return fmt.Sprint(min(i, size-2)) }) + "]"
	}},
	"levels of unevaluatedProperties": {64, true, func(size int) (*wire.Schema, string) { return levels(size), members(100) }},
	"members below 64 levels of unevaluatedProperties": {1_000, true, func(size int) (*wire.Schema, string) {
		return levels(64), members(size)
	}},
	"a recursion through a dynamic reference": {50, true, func(size int) (*wire.Schema, string) { return lists(), nested(size, "") }},
	"a wide recursion through a dynamic reference": {1_000, true, func(size int) (*wire.Schema, string) {
		return lists(), "[" + repeat(size, func(int) string { return nested(8, "") }) + "]"
	}},
	"a recursion in both branches of anyOf, at the end of which no branch fits": {9, false, func(size int) (*wire.Schema, string) {
		return forks(anyOf), nested(size, "1")
	}},
	"a recursion in both branches of oneOf": {9, false, func(size int) (*wire.Schema, string) { return forks(oneOf), nested(size, "[]") }},
	"a recursion in both branches of allOf": {9, true, func(size int) (*wire.Schema, string) { return forks(allOf), nested(size, "") }},
	"references in both branches of allOf, one below another": {9, true, func(size int) (*wire.Schema, string) {
		s := &wire.Schema{Nodes: make([]wire.Node, size)}
		for i := range size - 1 {
			s.Nodes[i].All = []int{i + 2, i + 2}
		}
		return s, "1"
	}},
}

// TestLinear: twice the input is at most about twice the work, counted in nodes that are held
// against values and in members, elements and bytes that are looked at, and twice the memory.
func TestLinear(t *testing.T) {
	for name, in := range growing {
		t.Run(name, func(t *testing.T) {
			steps, bytes := work(t, in.of, in.size, in.fits)
			twice, more := work(t, in.of, 2*in.size, in.fits)
			t.Logf("steps %d and %d, bytes %d and %d", steps, twice, bytes, more)
			const slack = 2.5 // maps and lists grow in steps
			assert.LessOrEqual(t, float64(twice), slack*float64(steps)+10)
			assert.LessOrEqual(t, float64(more), slack*float64(bytes)+4096)
		})
	}
}

// work returns how much was looked at, and the least bytes that were allocated
// meanwhile: those of other goroutines are in the count.
func work(t *testing.T, of input, size int, want bool) (steps int, bytes uint64) {
	t.Helper()
	s, text := of(size)
	s.Work([]byte("null")) // compiles patterns
	var sizes []uint64
	for range 3 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		n, fits := s.Work([]byte(text))
		runtime.ReadMemStats(&after)
		require.Equal(t, want, fits)
		steps = n
		sizes = append(sizes, after.TotalAlloc-before.TotalAlloc)
	}
	return steps, slices.Min(sizes)
}
