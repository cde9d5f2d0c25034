package mutants

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// specification is the page that the rules are read from.
const specification = root + "/docs/semantics.md"

// A rule is a numbered sentence of the specification.
type rule struct {
	number string // such as 4.2.1
	text   string // without markup
	tests  []string
	key    string // of the patches that break it; empty: there is none
	as     string // the number of a rule whose patches break this one too
	held   string // what the column says when it has neither
}

// planned is what the page says of a rule that no code keeps yet.
const planned = "*planned*"

// noMutant is what the page says of a rule that no patch breaks.
var noMutant = regexp.MustCompile(`^none: .+$`)

// A page is the specification: its rules in their order, and its sections, those of
// which every rule is planned marked.
type page struct {
	rules    []*rule
	sections map[string]bool // false: every rule of it is planned
}

var (
	heading = regexp.MustCompile(`^##+ (\d+(?:\.\d+)?)\.? `)
	number  = regexp.MustCompile(`^\d+\.\d+\.\d+$`)
)

// readPage reads the specification.
func readPage(t *testing.T) *page {
	text, err := os.ReadFile(specification)
	require.NoError(t, err)
	p := &page{sections: map[string]bool{}}
	section := ""
	for line := range strings.Lines(string(text)) {
		if m := heading.FindStringSubmatch(line); m != nil {
			section = m[1]
			p.sections[section] = p.sections[section] || false
			continue
		}
		cells := strings.Split(strings.Trim(line, "|\n "), " |")
		if first := strings.TrimSpace(cells[0]); !number.MatchString(first) {
			continue
		}
		r := newRule(t, cells)
		require.Equal(t, section, r.number[:strings.LastIndexByte(r.number, '.')], "rule %s is not where its number says", r.number)
		p.rules = append(p.rules, r)
		if r.held != planned {
			chapter, _, _ := strings.Cut(section, ".")
			p.sections[section], p.sections[chapter] = true, true
		}
	}
	require.NotEmpty(t, p.rules)
	return p
}

// newRule reads the row of a rule.
func newRule(t *testing.T, cells []string) *rule {
	require.Len(t, cells, 4, "the row of rule %s has number, sentence, tests and mutant", cells[0])
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	r := &rule{number: cells[0], text: strings.ReplaceAll(cells[1], "`", "")}
	for name := range strings.SplitSeq(cells[2], ", ") {
		if name != "" {
			r.tests = append(r.tests, strings.Trim(name, "`"))
		}
	}
	mutant := cells[3]
	switch as, yes := strings.CutPrefix(mutant, "as "); {
	case yes:
		r.as = as
	case strings.HasPrefix(mutant, "`"):
		r.key = strings.Trim(mutant, "`")
	default:
		r.held = mutant
	}
	return r
}

// A catalog knows the tests of the module by the names that the specification has for them.
type catalog map[string]string // the packages, as patches name them

var (
	testFunc = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	caseName = regexp.MustCompile(`(?m)^- name: (\S+)`)
)

// readCatalog reads all tests, scenarios and scripts.
func readCatalog(t *testing.T) catalog {
	c := catalog{}
	eachFile(t, func(file string) error {
		if !strings.HasSuffix(file, "_test.go") && !strings.HasSuffix(file, ".yaml") && !strings.HasSuffix(file, ".txtar") {
			return nil
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(file)
		c.add(filepath.ToSlash(name), string(text))
		return err
	})
	return c
}

// eachFile hands f the files of the repository, without folders such as .git and .ci, where the browser of the console's tests may be
// installed at the same time.
func eachFile(t *testing.T, f func(name string) error) {
	require.NoError(t, filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != root && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case d.IsDir():
			return nil
		}
		return f(name)
	}))
}

func (c catalog) add(name, text string) {
	dir, base := path.Split(name)
	switch dir = strings.TrimSuffix(dir, "/"); {
	case dir == "runtime/scenario/testdata":
		for _, m := range caseName.FindAllStringSubmatch(text, -1) {
			c[base+"/"+m[1]] = "./runtime/scenario"
		}
	case dir == "testscripts" && path.Ext(base) == ".txtar":
		c[base] = "./testscripts"
	case strings.HasSuffix(base, "_test.go"):
		for _, m := range testFunc.FindAllStringSubmatch(text, -1) {
			short := strings.TrimPrefix(dir, "runtime/") + "."
			if dir == "runtime" || dir == "runtime/engine" {
				short = ""
			}
			c[short+m[1]] = "./" + dir
		}
	}
}
