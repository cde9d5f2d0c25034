package house

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the tests that cite a rule into docs/semantics.md")

// norm is the page of the rules.
const norm = "docs/semantics.md"

// planned is what the page says of a rule that no code keeps yet, in the place of its tests.
const planned = "*planned*"

// A row is a rule of the norm.
type row struct{ number, sentence, tests string }

var rowOf = regexp.MustCompile(`(?m)^\| (\d+\.\d+\.\d+) \| (.+) \| (.*?) ?\|$`)

// TestRulesHaveTests: the column of tests has those that cite the rule, and each rule has one. With -update it writes
// the column.
func TestRulesHaveTests(t *testing.T) {
	text, err := os.ReadFile(norm)
	require.NoError(t, err)
	tests := citingTests(t)
	seen := map[string]bool{}
	written := rowOf.ReplaceAllStringFunc(string(text), func(line string) string {
		m := rowOf.FindStringSubmatch(line)
		r := row{m[1], m[2], m[3]}
		assert.False(t, seen[r.number], "the page has rule %s twice", r.number)
		seen[r.number] = true
		cell := strings.Join(tests[r.number], ", ")
		switch {
		case cell == "" && r.tests == planned:
			cell = planned
		case cell == "":
			t.Errorf("no test cites rule %s: write \"SEMANTICS %s\" above a test that fails without it", r.number, r.number)
			cell = r.tests
		case r.tests == planned:
			t.Logf("rule %s has tests: it is not planned any more", r.number)
		}
		return fmt.Sprintf("| %s | %s | %s |", r.number, r.sentence, cell)
	})
	for number := range tests {
		assert.True(t, seen[number], "%s cite rule %s, which the page does not have", strings.Join(tests[number], ", "), number)
	}
	if *update {
		require.NoError(t, os.WriteFile(norm, []byte(written), 0o644))
		return
	}
	now, then := strings.Split(written, "\n"), strings.Split(string(text), "\n")
	for i := range now {
		require.Equal(t, now[i], then[i], "write the column anew: go test ./internal/house -run TestRulesHaveTests -update")
	}
}

var (
	// citation is what a comment says of the page: one number, or several.
	citation = regexp.MustCompile(`(?:SEMANTICS|semantics\.md)(?: sections?| rules?)? (\d+(?:\.\d+)*(?:(?:, | and |, and )\d+\.\d+(?:\.\d+)*)*)`)
	cited    = regexp.MustCompile(`\d+(?:\.\d+)*`)
)

// citedBy returns the numbers that a text cites.
func citedBy(text string) (numbers []string) {
	for _, m := range citation.FindAllStringSubmatch(strings.Join(strings.Fields(text), " "), -1) { // a citation may go over two lines
		numbers = append(numbers, cited.FindAllString(m[1], -1)...)
	}
	return numbers
}

// citingTests returns the tests that cite each rule, as the page writes them: a test function with its folder, below
// runtime where that is not at the root, or without one in runtime and runtime/engine; a case of runtime/simulate/scenario as
// file/case; a script of testscripts.
func citingTests(t *testing.T) map[string][]string {
	found := map[string][]string{}
	add := func(name, comment string) {
		for _, number := range citedBy(comment) {
			if strings.Count(number, ".") == 2 {
				found[number] = append(found[number], "`"+name+"`")
			}
		}
	}
	eachGoFile(t, func(file string, tree *ast.File, _ *token.FileSet) {
		if !strings.HasSuffix(file, "_test.go") {
			return
		}
		dir := path.Dir(filepath.ToSlash(file))
		prefix := strings.TrimPrefix(dir, "runtime/") + "."
		if dir == "runtime" || dir == "runtime/engine" {
			prefix = ""
		}
		for _, decl := range tree.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && testName.MatchString(fn.Name.Name) {
				add(prefix+fn.Name.Name, fn.Doc.Text())
			}
		}
	})
	eachText(t, "runtime/simulate/scenario/testdata/*.yaml", func(base, text string) {
		for _, m := range caseWithComment.FindAllStringSubmatch(text, -1) {
			add(base+"/"+m[2], strings.ReplaceAll(m[1], "#", " "))
		}
	})
	eachText(t, "testscripts/*.txtar", func(base, text string) {
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "# ") {
				add(base, line)
			}
			if strings.HasPrefix(line, "-- ") {
				break // the files of the script
			}
		}
	})
	for number, tests := range found {
		slices.Sort(tests)
		found[number] = slices.Compact(tests)
	}
	return found
}

var (
	testName        = regexp.MustCompile(`^(?:Test|Fuzz)[A-Z]`)
	caseWithComment = regexp.MustCompile(`(?m)((?:^#.*\n)+)- name: (\S+)`)
)

// eachText hands f the files that a pattern names.
func eachText(t *testing.T, pattern string, f func(base, text string)) {
	files, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.NotEmpty(t, files, pattern)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		f(filepath.Base(file), string(text))
	}
}

// TestCitations: code cites rules and sections that are there, and none that is only planned.
func TestCitations(t *testing.T) {
	text, err := os.ReadFile(norm)
	require.NoError(t, err)
	there := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^##+ (\d+(?:\.\d+)?)\.? `).FindAllStringSubmatch(string(text), -1) {
		there[m[1]] = true
	}
	section := ""
	for line := range strings.Lines(string(text)) {
		if m := regexp.MustCompile(`^##+ (\d+\.\d+) `).FindStringSubmatch(line); m != nil {
			section = m[1]
		}
		if m := rowOf.FindStringSubmatch(strings.TrimSuffix(line, "\n")); m != nil {
			there[m[1]] = m[3] != planned
			assert.Equal(t, section, m[1][:strings.LastIndexByte(m[1], '.')], "rule %s is not where its number says", m[1])
		}
	}
	count := 0
	eachGoFile(t, func(file string, tree *ast.File, fset *token.FileSet) {
		if path.Dir(filepath.ToSlash(file)) == "internal/house" {
			return // whose tests have examples
		}
		for _, group := range tree.Comments {
			for _, number := range citedBy(group.Text()) {
				count++
				kept, known := there[number]
				assert.True(t, known, "%s: docs/semantics.md has no %s", fset.Position(group.Pos()), number)
				assert.True(t, kept || !known, "%s: rule %s is planned: take the mark away when the code keeps it", fset.Position(group.Pos()), number)
			}
		}
	})
	assert.NotZero(t, count)
}

// TestCitationsAreRead in each of the forms that comments have.
func TestCitationsAreRead(t *testing.T) {
	for text, want := range map[string][]string{
		"decides once (SEMANTICS 6.1.5).":               {"6.1.5"},
		"as SEMANTICS section 6.4 has it":               {"6.4"},
		"see docs/semantics.md rule 4.2.1":              {"4.2.1"},
		"docs/semantics.md section 6.4":                 {"6.4"},
		"(SEMANTICS 4.2, 4.5 and 4.6.1)":                {"4.2", "4.5", "4.6.1"},
		"SEMANTICS\n4.2.1, 4.5.1":                       {"4.2.1", "4.5.1"},
		"after SEMANTICS 4.2, 30 seconds and 2 minutes": {"4.2"},
		"section 6.4": nil,
	} {
		assert.Equal(t, want, citedBy(text), text)
	}
	file, err := parser.ParseFile(token.NewFileSet(), "a_test.go", "package a\n\n// A test.\n// SEMANTICS 1.1.1, 1.1.2\nfunc TestA() {}\n", parser.ParseComments)
	require.NoError(t, err)
	assert.Equal(t, []string{"1.1.1", "1.1.2"}, citedBy(file.Decls[0].(*ast.FuncDecl).Doc.Text()))
}
