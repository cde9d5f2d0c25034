package mutants

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// root is where the module is, from here.
const root = "../.."

// A patch makes a mutant.
type patch struct {
	name   string   // of the file, without its ending
	breaks string   // the sentence
	tests  []string // packages
	file   string   // from the root of the module
	before string   // the lines that are replaced, with those around them
	after  string
}

// key returns the key of the sentence that p breaks.
func (p *patch) key() string {
	key, _, _ := strings.Cut(p.name, "-")
	return key
}

// patches reads all patches.
func patches(t *testing.T) []*patch {
	files, err := filepath.Glob("testdata/*.patch")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	list := make([]*patch, len(files))
	for i, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		list[i], err = parse(string(text))
		require.NoError(t, err, file)
		list[i].name = strings.TrimSuffix(filepath.Base(file), ".patch")
	}
	return list
}

// parse reads a patch: two lines of our own, and one hunk of a unified diff
// that changes one line. Line numbers are not looked at.
func parse(text string) (*patch, error) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) < 6 {
		return nil, fmt.Errorf("it has %d lines: want a head of five and a hunk", len(lines))
	}
	p := &patch{}
	var tests string
	for i, head := range []struct {
		prefix string
		rest   *string
	}{{"# ", &p.breaks}, {"# tests: ", &tests}, {"--- a/", new(string)}, {"+++ b/", &p.file}, {"@@ ", new(string)}} {
		var ok bool
		if *head.rest, ok = strings.CutPrefix(lines[i], head.prefix); !ok {
			return nil, fmt.Errorf("line %d: %q does not begin with %q", i+1, lines[i], head.prefix)
		}
	}
	p.tests = strings.Fields(tests)
	if len(p.tests) == 0 {
		return nil, fmt.Errorf("it names no package whose tests must notice")
	}
	return p, p.hunk(lines[5:])
}

// hunk reads the lines of the hunk.
func (p *patch) hunk(lines []string) error {
	removed, added := 0, 0
	var before, after strings.Builder
	for _, line := range lines {
		switch {
		case line == "": // an editor has taken the blank of an empty line
			before.WriteString("\n")
			after.WriteString("\n")
		case line[0] == ' ':
			before.WriteString(line[1:] + "\n")
			after.WriteString(line[1:] + "\n")
		case line[0] == '-':
			removed++
			before.WriteString(line[1:] + "\n")
		case line[0] == '+':
			added++
			after.WriteString(line[1:] + "\n")
		default:
			return fmt.Errorf("%q does not belong into a hunk: there is one", line)
		}
	}
	if removed > 1 || added > 1 || removed+added == 0 {
		return fmt.Errorf("it takes %d lines and adds %d: a mutant is a change of one line", removed, added)
	}
	p.before, p.after = before.String(), after.String()
	return nil
}

// apply returns the file that p changes, changed.
func (p *patch) apply() (string, error) {
	source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(p.file)))
	if err != nil {
		return "", err
	}
	switch n := strings.Count(string(source), p.before); n {
	case 1:
		return strings.Replace(string(source), p.before, p.after, 1), nil
	case 0:
		return "", fmt.Errorf("%s: what it changes is not there any more: make the patch anew", p.file)
	default:
		return "", fmt.Errorf("%s: what it changes is there %d times: add lines around it", p.file, n)
	}
}

func TestEveryPatchApplies(t *testing.T) {
	for _, p := range patches(t) {
		if _, err := p.apply(); err != nil {
			t.Errorf("%s: %v", p.name, err)
		}
	}
}

func TestPatchIsAChangeOfOneLine(t *testing.T) {
	head := "# 4 a: b\n# tests: ./x\n--- a/x.go\n+++ b/x.go\n@@ -1,3 +1,3 @@\n"
	p, err := parse(head + " a\n-b\n+c\n\n d\n")
	require.NoError(t, err)
	require.Equal(t, &patch{breaks: "4 a: b", tests: []string{"./x"}, file: "x.go", before: "a\nb\n\nd\n", after: "a\nc\n\nd\n"}, p)
	for _, text := range []string{
		"", head, head + " a\n b\n", head + "-a\n-b\n", head + "+a\n+b\n", head + "-a\n@@ -9 +9 @@\n-b\n",
		strings.Replace(head, "# 4", "4", 1) + "-a\n", strings.Replace(head, " ./x", "", 1) + "-a\n", strings.Replace(head, "+++ b/", "+++ ", 1) + "-a\n",
	} {
		_, err := parse(text)
		require.Error(t, err, text)
	}
}
