package mutants

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
	Name    string   // of the file, without its ending
	Breaks  string   // what it breaks, in a sentence
	Tests   []Tests  // of which one must notice, at least one
	Battery string   // what the variable of internal/battery is for them; empty: a plain run
	In      string   // the declaration that it changes, as Declarations names it
	Before  []string // the lines that are replaced, with those around them
	After   []string
	And     *Patch // the change of a further file, with In, Before, After and And; nil: none
}

// Tests are the tests of a package that a pattern of go test -run selects.
type Tests struct{ Package, Pattern string }

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

// Parse reads a patch: a sentence, tests, and the lines of a hunk that changes one line. A "# tests:" line names a
// package and a pattern, and there may be several. Where a second mechanism stands behind the first, a further "@@" and
// a hunk take it away too, in another file.
//
//	# 4: a sentence that it breaks
//	# tests: ./runtime/engine ^TestLedger$
//	# battery: 1500
//	@@ (*ledger).write
//	 	l.mu.Lock()
//	-	kept := b.err != nil
//	+	kept := true
func Parse(text string) (*Patch, error) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	p := &Patch{}
	for i, line := range lines {
		tests, isTests := strings.CutPrefix(line, "# tests: ")
		size, isSize := strings.CutPrefix(line, "# battery: ")
		sentence, isSentence := strings.CutPrefix(line, "# ")
		in, isHunk := strings.CutPrefix(line, "@@ ")
		switch {
		case isTests:
			pkg, pattern, ok := strings.Cut(tests, " ")
			if !ok || !strings.HasPrefix(pkg, "./") {
				return nil, fmt.Errorf("line %d: %q: want a package that begins with ./ and a pattern", i+1, line)
			}
			p.Tests = append(p.Tests, Tests{pkg, pattern})
		case isSize:
			p.Battery = size
		case isSentence && p.Breaks == "":
			p.Breaks = sentence
		case isHunk && (p.Breaks == "" || p.Tests == nil):
			return nil, fmt.Errorf("line %d: the hunk comes before the sentence and the tests", i+1)
		case isHunk:
			p.In = in
			return p, p.hunk(lines[i+1:])
		default:
			return nil, fmt.Errorf("line %d: %q is no line of a head", i+1, line)
		}
	}
	return nil, fmt.Errorf("it has no hunk: a line that begins with @@ and names a declaration")
}

// hunk reads the lines of the hunk.
func (p *Patch) hunk(lines []string) error {
	removed, added := 0, 0
	for i, line := range lines {
		if in, further := strings.CutPrefix(line, "@@ "); further {
			p.And = &Patch{In: in}
			if err := p.And.hunk(lines[i+1:]); err != nil {
				return err
			}
			break
		}
		op, text := byte(' '), "" // an editor has taken the blank of an empty line
		if line != "" {
			op, text = line[0], line[1:]
		}
		switch op {
		case ' ':
			p.Before, p.After = append(p.Before, text), append(p.After, text)
		case '-':
			removed++
			p.Before = append(p.Before, text)
		case '+':
			added++
			p.After = append(p.After, text)
		default:
			return fmt.Errorf("%q does not belong into a hunk: there is one", line)
		}
	}
	switch {
	case removed > 1 || added > 1 || removed+added == 0:
		return fmt.Errorf("it takes %d lines and adds %d: a mutant is a change of one line", removed, added)
	case len(p.Before) == 0:
		return fmt.Errorf("it adds a line and names none beside it")
	}
	return nil
}

// Apply returns the file that p changes, from the root of the module, and its text as
// changed, without And.
func (p *Patch) Apply(root string) (file, text string, err error) {
	list, err := Declarations(root, p.In)
	if err != nil {
		return "", "", err
	}
	found := 0
	for _, d := range list {
		for _, at := range d.find(p.Before) {
			file, text = d.File, d.replace(at, len(p.Before), p.After)
			found++
		}
	}
	switch {
	case len(list) == 0:
		return "", "", fmt.Errorf("there is no %s any more: name the declaration that has the text", p.In)
	case found == 0:
		return "", "", fmt.Errorf("%s: what it changes is not there any more: make the patch anew", p.In)
	case found > 1:
		return "", "", fmt.Errorf("%s: what it changes is there %d times: add lines around it, or the package (%s.%s)", p.In, found, list[0].Package, p.In)
	}
	return file, text, nil
}

// Overlay writes into dir the mutant and what puts it in the place of the
// original, of which it returns the path: what Build takes.
func (p *Patch) Overlay(root, dir string) (path string, err error) {
	files := map[string]string{}
	for ; p != nil; p = p.And {
		file, text, err := p.Apply(root)
		if err != nil {
			return "", err
		}
		original, err := filepath.Abs(filepath.Join(root, filepath.FromSlash(file)))
		if err != nil {
			return "", err
		}
		if files[original] != "" {
			return "", fmt.Errorf("%s: it changes %s twice: a mutant changes one line of a file", p.In, file)
		}
		mutant := filepath.Join(dir, fmt.Sprintf("mutant%d.go", len(files)))
		files[original] = mutant
		if err := os.WriteFile(mutant, []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	replace, err := json.Marshal(map[string]map[string]string{"Replace": files})
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, replace, 0o600)
}

// Build builds the tests of a package into dir, with an overlay unless that is
// empty, and returns their program. A mutant that does not compile is an error: it must
// not count as one that a test has noticed.
func Build(root, pkg, overlay, dir string) (binary string, err error) {
	binary = filepath.Join(dir, "mutant.test")
	build := exec.Command("go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", overlay, "-o", binary, pkg)
	build.Dir = root
	if text, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s does not compile: %w\n%s", pkg, err, text)
	}
	return binary, nil
}
