package ambit_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHouseGroups seeds packages of which the largest group of files is known.
func TestHouseGroups(t *testing.T) {
	for _, c := range []struct {
		what  string
		files map[string]string
		want  []string
	}{
		{"three files in a circle, one before it and one after it", map[string]string{
			"a.go":      "func a() { b() }",
			"b.go":      "func b() { var t T; t.method() }",
			"c.go":      "type T struct{}\nfunc (T) method() { a() }",
			"before.go": "func before() { a(); b() }",
			"after.go":  "const after = 1",
			"d.go":      "func d() { _ = after; a() }",
		}, []string{"a.go", "b.go", "c.go"}},
		{"two circles", map[string]string{
			"a.go": "func a() { b(); c() }",
			"b.go": "func b() { a() }",
			"c.go": "func c() { d() }",
			"d.go": "func d() { e() }",
			"e.go": "func e() { c() }",
		}, []string{"c.go", "d.go", "e.go"}},
		{"two circles with a file in common", map[string]string{
			"a.go": "func a() { b() }",
			"b.go": "func b() { a(); c() }",
			"c.go": "func c() { b() }",
		}, []string{"a.go", "b.go", "c.go"}},
		{"through variables, constants, interfaces and generic methods", map[string]string{
			"a.go": "var a = b",
			"b.go": "const b = 1\nfunc useC(c C) { c.call() }",
			"c.go": "type C interface{ call() }\nfunc useD(d D[int]) { d.method() }",
			"d.go": "type D[X any] struct{}\nfunc (D[X]) method() { _ = a }",
		}, []string{"a.go", "b.go", "c.go", "d.go"}},
		{"one file that uses its own names", map[string]string{"a.go": "func a() { a() }"}, []string{"a.go"}},
	} {
		p, fset := seeded(t, c.files)
		require.Equal(t, c.want, largestGroup(p.uses(fset)), c.what)
	}

	p, fset := seeded(t, map[string]string{
		"a.go": "type T struct{ member int }",
		"b.go": "func b(parameter T) { local := value.member; _ = local }",
		"c.go": "var value T",
		"d.go": "func d() { local := value; _ = local.member }",
	})
	require.Equal(t, map[string]map[string]bool{
		"b.go": {"a.go": true, "c.go": true}, "c.go": {"a.go": true}, "d.go": {"c.go": true},
	}, p.uses(fset), "members and local names do not count")
}

// TestHouseExportedNames seeds names that count, and names that do not.
func TestHouseExportedNames(t *testing.T) {
	for _, c := range []struct {
		what, text string
		want       int
	}{
		{"a closed set", "type Kind uint8\nconst (\nOne Kind = iota\nTwo\n)\n" +
			"func (Kind) String() string { return \"\" }\nfunc (Kind) MarshalText() ([]byte, error) { return nil, nil }\n" +
			"func (*Kind) UnmarshalText([]byte) error { return nil }", 1},
		{"constants of other types", "const One, Two = 1, \"two\"", 2},
		{"functions and variables", "func Run() {}\nfunc run() {}\nvar Run2, run2 int", 2},
		{"methods of both receivers", "type T struct{ Member int }\nfunc (T) A() {}\nfunc (*T) B() {}\nfunc (T) c() {}", 3},
		{"methods of a hidden type", "type t struct{}\nfunc (t) A() {}", 0},
		{"an alias", "type t struct{}\nfunc (t) A() {}\ntype T = t", 1},
	} {
		p, _ := seeded(t, map[string]string{"a.go": c.text})
		require.Equal(t, c.want, exportedNames(p.types), c.what)
	}
}

// TestHouseSize seeds a struct of three fields and two methods.
func TestHouseSize(t *testing.T) {
	p, _ := seeded(t, map[string]string{"a.go": "type call struct{ a, b int; c string }\ntype other int\nfunc (call) d() {}\nfunc (*call) e() {}"})
	fields, methods, err := sizeOf(p.types, "call")
	require.NoError(t, err)
	require.Equal(t, []int{3, 2}, []int{fields, methods})
	_, _, err = sizeOf(p.types, "other")
	require.ErrorContains(t, err, "no struct other")
	_, _, err = sizeOf(p.types, "gone")
	require.Error(t, err)
}

// TestHouseReach seeds all that may touch a struct without being its method.
func TestHouseReach(t *testing.T) {
	p, _ := seeded(t, map[string]string{"a.go": `type call struct{ work; a int }
type work struct{ *ident; b int }
type ident struct{ c, d int }
func (*call) run() {}
func (*work) step() {}
func (*ident) name() {} // embedded by pointer: a method in reach, its fields are not
type rerun struct{ *call }
func (rerun) again() {}
type other struct{ of *call }
func (other) apart() {}
func (other) wait(*call) {}
func end(n int, c *call) {}
func free(n int) {}`})
	fields, methods := reachOf(p.types, "call")
	require.Equal(t, []int{4, 6}, []int{fields, methods})
}

// TestHousePronouns seeds comments with known words.
func TestHousePronouns(t *testing.T) {
	const text = `//go:build nobody

// Package a is for whoever needs it, and
// for Others: neither of
// them is there.
package a

/* somebody
waits */
const a = "nobody" // whatevers, another and brothers do not count
`
	file, err := parser.ParseFile(token.NewFileSet(), "a.go", text, parser.ParseComments)
	require.NoError(t, err)
	got := countComments("a.go", file)
	require.Equal(t, commentCount{"a.go", 6, 4}, got)
	require.InDelta(t, 666.7, perThousand([]commentCount{got}), 0.01, "rounded up")
	require.InDelta(t, 0.1, perThousand([]commentCount{{"a.go", 20_000, 1}, {"b.go", 1, 0}}), 0.01)
	require.Zero(t, perThousand(nil))
	require.Equal(t, "       4        6  a.go\n", mostVague([]commentCount{{"b.go", 9, 1}, got}, 1))
}

// TestHouseProfile seeds a coverage profile.
func TestHouseProfile(t *testing.T) {
	profile := filepath.Join(t.TempDir(), "profile")
	require.NoError(t, os.WriteFile(profile, []byte("mode: atomic\n"+
		"example.com/a/x.go:1.2,3.4 1 0\nexample.com/a/x.go:5.2,6.4 1 10\nexample.com/a/x.go:7.2,8.4 1 1\n"+
		"example.com/a/y.go:1.2,3.4 1 0\nexample.com/a/b/z.go:1.2,3.4 1 1\nexample.com/a/w.go:1.2,3.4 2 1\n"), 0o600))
	require.Equal(t, []string{"w.go", "x.go"}, coveredFiles(t, profile, "example.com/a"))
}

// TestHouseCeilings: a figure passes only where its ceiling is right for it.
func TestHouseCeilings(t *testing.T) {
	for _, c := range []struct {
		what   string
		row    ceiling
		figure float64
		want   string
	}{
		{"at its ceiling", ceiling{most: 100, goal: 10}, 100, ""},
		{"within the tolerance", ceiling{most: 100, goal: 10}, 98, ""},
		{"above", ceiling{most: 100, goal: 10}, 101, "never rises"},
		{"a tenth above", ceiling{most: 3, goal: 3}, 3.1, "is 3.1 and its ceiling is 3, "},
		{"below", ceiling{most: 100, goal: 10}, 97, "lower its ceiling from 100 to 97"},
		{"below the goal", ceiling{most: 100, goal: 10}, 5, "lower its ceiling from 100 to 10"},
		{"the goal is reached", ceiling{most: 10, goal: 10}, 5, ""},
		{"it grows, and is below", ceiling{most: 100, goal: 10, grows: true}, 50, ""},
		{"it grows, and is above", ceiling{most: 100, goal: 10, grows: true}, 101, "never rises"},
		{"it grows, and the goal is reached", ceiling{most: 100, goal: 10, grows: true}, 10, "lower its ceiling from 100 to 10"},
	} {
		got := c.row.verdict(c.figure)
		if c.want == "" {
			require.Empty(t, got, c.what)
			continue
		}
		require.Contains(t, got, c.want, c.what)
	}
	rows := groups(map[string]float64{"a" + group: 2, "b" + group: 20, "c" + group: 1, "a" + lines: 50})
	require.Equal(t, []ceiling{{figure: "b" + group, most: maxGroup, goal: maxGroup}, {figure: "a" + group, most: maxGroup, goal: maxGroup}}, rows)
	for _, c := range ceilings {
		require.LessOrEqual(t, c.goal, c.most, c.figure)
	}
}

// seeded checks the types of a package of files that have no package clause.
func seeded(t *testing.T, files map[string]string) (*typedPackage, *token.FileSet) {
	t.Helper()
	fset := token.NewFileSet()
	var parsed []*ast.File
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file, err := parser.ParseFile(fset, name, "package seeded\n"+files[name], 0)
		require.NoError(t, err)
		parsed = append(parsed, file)
	}
	p, err := typecheck("seeded", fset, parsed, nil)
	require.NoError(t, err)
	return p, fset
}
