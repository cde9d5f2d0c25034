// Package mutant makes mutants of this module: programs in which one line is
// broken, to see that a test notices. It is for tests. A mutant is kept as a
// patch, so that what it breaks is read where it is broken, and one that does not
// fit the code any more is an error.
package mutant

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A Patch makes a mutant.
type Patch struct {
	Name   string   // of the file, without its ending
	Breaks string   // what it breaks, in a sentence
	Tests  []string // what has to notice, at least one
	File   string   // from the root of the module
	Before string   // the lines that are replaced, with those around them
	After  string
}

// Read reads the patches of a directory, which has some.
func Read(dir string) ([]*Patch, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.patch"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("there are no patches in %q: %w", dir, os.ErrNotExist)
	}
	list := make([]*Patch, len(files))
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if list[i], err = Parse(string(text)); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		list[i].Name = strings.TrimSuffix(filepath.Base(file), ".patch")
	}
	return list, nil
}

// Parse reads a patch: two lines of our own, and one hunk of a unified diff
// that changes one line. Line numbers are not looked at.
func Parse(text string) (*Patch, error) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) < 6 {
		return nil, fmt.Errorf("it has %d lines: want a head of five and a hunk", len(lines))
	}
	p := &Patch{}
	var tests string
	for i, head := range []struct {
		prefix string
		rest   *string
	}{{"# ", &p.Breaks}, {"# tests: ", &tests}, {"--- a/", new(string)}, {"+++ b/", &p.File}, {"@@ ", new(string)}} {
		var ok bool
		if *head.rest, ok = strings.CutPrefix(lines[i], head.prefix); !ok {
			return nil, fmt.Errorf("line %d: %q does not begin with %q", i+1, lines[i], head.prefix)
		}
	}
	p.Tests = strings.Fields(tests)
	if len(p.Tests) == 0 {
		return nil, fmt.Errorf("it names no package whose tests must notice")
	}
	return p, p.hunk(lines[5:])
}

// hunk reads the lines of the hunk.
func (p *Patch) hunk(lines []string) error {
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
	p.Before, p.After = before.String(), after.String()
	return nil
}

// Apply returns the file that p changes, changed. Root is where the module is.
func (p *Patch) Apply(root string) (string, error) {
	source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(p.File)))
	if err != nil {
		return "", err
	}
	switch n := strings.Count(string(source), p.Before); n {
	case 1:
		return strings.Replace(string(source), p.Before, p.After, 1), nil
	case 0:
		return "", fmt.Errorf("%s: what it changes is not there any more: make the patch anew", p.File)
	default:
		return "", fmt.Errorf("%s: what it changes is there %d times: add lines around it", p.File, n)
	}
}

// Overlay writes into dir the mutant and what puts it in the place of the
// original, of which it returns the path: what Build takes.
func (p *Patch) Overlay(root, dir string) (path string, err error) {
	text, err := p.Apply(root)
	if err != nil {
		return "", err
	}
	original, err := filepath.Abs(filepath.Join(root, filepath.FromSlash(p.File)))
	if err != nil {
		return "", err
	}
	mutant := filepath.Join(dir, "mutant.go")
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {original: mutant}})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(mutant, []byte(text), 0o600); err != nil {
		return "", err
	}
	path = filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, replace, 0o600)
}

// Build builds the tests of a package into dir, with an overlay unless that is
// empty, and returns their program. What does not compile is no mutant, and must
// not pass for one that was noticed.
func Build(root, pkg, overlay, dir string) (binary string, err error) {
	binary = filepath.Join(dir, "mutant.test")
	build := exec.Command("go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", overlay, "-o", binary, pkg)
	build.Dir = root
	if text, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s does not compile: %w\n%s", pkg, err, text)
	}
	return binary, nil
}
