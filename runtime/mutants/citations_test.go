package mutants

import (
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

var (
	// citation is what a comment says of the page: one number, or several.
	citation = regexp.MustCompile(`(?:SEMANTICS|semantics\.md)(?: sections?| rules?)? (\d+(?:\.\d+)*(?:(?:, | and |, and )\d+\.\d+(?:\.\d+)*)*)`)
	cited    = regexp.MustCompile(`\d+(?:\.\d+)*`)
)

// eachCitation hands f what comments of Go cite of the specification, with the file, from the root.
func eachCitation(t *testing.T, f func(file string, at token.Position, number string)) {
	files := token.NewFileSet()
	eachFile(t, func(name string) error {
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil || !strings.Contains(string(text), "SEMANTICS") && !strings.Contains(string(text), "semantics.md") {
			return err
		}
		file, err := parser.ParseFile(files, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		for _, group := range file.Comments {
			said := strings.Join(strings.Fields(group.Text()), " ") // a citation may go over two lines
			for _, m := range citation.FindAllStringSubmatch(said, -1) {
				for _, number := range cited.FindAllString(m[1], -1) {
					f(filepath.ToSlash(rel), files.Position(group.Pos()), number)
				}
			}
		}
		return nil
	})
}

// TestCitations: code cites what is there, and nothing that is only planned.
func TestCitations(t *testing.T) {
	p := readPage(t)
	there := p.sections
	for _, r := range p.rules {
		there[r.number] = r.held != planned
	}
	count := 0
	eachCitation(t, func(_ string, at token.Position, number string) {
		count++
		built, known := there[number]
		assert.True(t, known, "%s: docs/semantics.md has no %s", at, number)
		assert.True(t, built || !known, "%s: %s of docs/semantics.md is planned: take the mark away when the code keeps it", at, number)
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
		"after SEMANTICS 4.2, 30 seconds and 2 minutes": {"4.2"},
		"section 6.4": nil,
	} {
		var got []string
		for _, m := range citation.FindAllStringSubmatch(text, -1) {
			got = append(got, cited.FindAllString(m[1], -1)...)
		}
		assert.Equal(t, want, got, text)
	}
}

// uncited lists what no file cites yet that keeps rules: the folder of the file, and the section of its rules.
// The list only becomes shorter.
const (
	uncited     = "testdata/uncited.txt"
	mostUncited = 41
)

// TestEveryRuleIsCited: who reads the code of a rule finds the rule. The file that a patch changes cites the rule
// that the patch breaks, or its section.
func TestEveryRuleIsCited(t *testing.T) {
	sections, cites := map[string]string{}, map[[2]string]bool{}
	for _, r := range readPage(t).rules {
		sections[r.key] = r.number[:strings.LastIndexByte(r.number, '.')]
		sections[r.number] = sections[r.key]
	}
	eachCitation(t, func(file string, _ token.Position, number string) {
		cites[[2]string{file, number}] = true
		if section := sections[number]; section != "" {
			cites[[2]string{file, section}] = true
		}
	})
	text, err := os.ReadFile(uncited)
	require.NoError(t, err)
	allowed := map[string]bool{} // false until one is seen
	for line := range strings.Lines(string(text)) {
		allowed[strings.TrimSpace(line)] = false
	}
	assert.LessOrEqual(t, len(allowed), mostUncited, "cite the rule: %s takes no new lines", uncited)
	var missing []string
	for _, p := range patches(t) {
		file, _, err := p.Apply(root)
		section := sections[keyOf(p)]
		if err != nil || cites[[2]string{file, section}] { // TestEveryPatchApplies tells of the error
			continue
		}
		if pair := path.Dir(file) + " " + section; !contains(allowed, pair) {
			missing = append(missing, file+": "+p.In+" keeps a rule of section "+section+": cite it (SEMANTICS "+section+")")
		}
	}
	slices.Sort(missing)
	assert.Empty(t, strings.Join(slices.Compact(missing), "\n"))
	for pair, seen := range allowed {
		if !seen {
			t.Logf("%s: %q is cited: take the line away, and lower mostUncited", uncited, pair)
		}
	}
}

// contains reports whether a list has an item, and marks that as seen.
func contains(list map[string]bool, item string) bool {
	_, found := list[item]
	if found {
		list[item] = true
	}
	return found
}
