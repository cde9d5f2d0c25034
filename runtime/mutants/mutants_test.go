package mutants

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime/internal/mutant"
)

// patience bounds the tests of a mutant: one that never ends is noticed too.
const patience = "5m"

// TestMutants: the tests that the page names for a rule notice each patch that breaks it.
func TestMutants(t *testing.T) {
	known, rules := readCatalog(t), map[string]*rule{}
	for _, r := range readPage(t).rules {
		rules[r.key] = r
	}
	list := slices.DeleteFunc(patches(t), func(p *mutant.Patch) bool { return !battery.Picks(t, p.Name) })
	whole := &programs{dir: t.TempDir()}
	for _, p := range list {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			own := suite{}
			own.add(known, rules[keyOf(p)].tests, p.Tests)
			own.requirePass(t, whole)
			if !own.notices(t, p) {
				t.Errorf("no test that rule %s names in %v notices that this is broken: %s", rules[keyOf(p)].number, p.Tests, p.Breaks)
			}
		})
	}
}

// TestMutantsOfOtherRules: a rule that the mutant of another one breaks has a test of its own that
// notices one of the patches of that mutant.
func TestMutantsOfOtherRules(t *testing.T) {
	known, keys, all := readCatalog(t), map[string]string{}, readPage(t).rules
	for _, r := range all {
		keys[r.number] = r.key
	}
	list := slices.DeleteFunc(slices.Clone(all), func(r *rule) bool { return r.as == "" || !battery.Picks(t, r.number) })
	whole := &programs{dir: t.TempDir()}
	for _, r := range list {
		t.Run(r.number, func(t *testing.T) {
			t.Parallel()
			own := suite{}
			own.add(known, r.tests, nil)
			own.requirePass(t, whole)
			if !slices.ContainsFunc(patches(t), func(p *mutant.Patch) bool { return keyOf(p) == keys[r.as] && own.notices(t, p) }) {
				t.Errorf("no test that rule %s names notices a patch of rule %s", r.number, r.as)
			}
		})
	}
}

// A suite is some of the tests of each of some packages: patterns for -test.run.
type suite map[string][]string

// add adds those of the tests that are in one of the packages; no packages are all of them.
func (s suite) add(known catalog, tests, packages []string) {
	for _, name := range tests {
		if pkg := known[name]; pkg != "" && (packages == nil || slices.Contains(packages, pkg)) {
			s[pkg] = append(s[pkg], pattern(pkg, name))
		}
	}
}

// pattern returns what selects a test that the page names: a function, a case or a script.
func pattern(pkg, name string) string {
	switch file, item, isCase := strings.Cut(name, "/"); {
	case isCase && strings.HasSuffix(file, ".yaml"):
		return "^TestCases$/^" + regexp.QuoteMeta(file) + "$/^" + regexp.QuoteMeta(item) + "$"
	case pkg == "./testscripts" && strings.HasSuffix(name, ".txtar"):
		return "^TestScripts$/^" + regexp.QuoteMeta(strings.TrimSuffix(name, ".txtar")) + "$"
	}
	return "^" + name[strings.LastIndexByte(name, '.')+1:] + "$"
}

// requirePass requires that the tests pass without any mutant.
func (s suite) requirePass(t *testing.T, whole *programs) {
	for pkg, patterns := range s {
		passed, output := run(t, pkg, whole.of(t, pkg), patterns)
		require.True(t, passed, "tests of %s fail without any mutant:\n%s", pkg, output)
	}
}

// notices reports whether one of the tests fails with a patch.
func (s suite) notices(t *testing.T, p *mutant.Patch) bool {
	dir := t.TempDir()
	overlay, err := p.Overlay(root, dir)
	require.NoError(t, err)
	for _, pkg := range slices.Sorted(maps.Keys(s)) {
		binary, err := mutant.Build(root, pkg, overlay, dir)
		require.NoError(t, err)
		passed, output := run(t, pkg, binary, s[pkg])
		if !passed {
			t.Logf("%s is noticed by %s in %s", p.Name, first(output), pkg)
			return true
		}
	}
	return false
}

// programs are those of the tests of packages, without any mutant. Each is built once.
type programs struct {
	dir   string
	built sync.Map // of func() (string, error), by package
}

// of returns the program of a package.
func (p *programs) of(t *testing.T, pkg string) string {
	once, _ := p.built.LoadOrStore(pkg, sync.OnceValues(func() (string, error) {
		dir := filepath.Join(p.dir, strings.ReplaceAll(pkg, "/", "_"))
		if err := os.Mkdir(dir, 0o700); err != nil {
			return "", err
		}
		return mutant.Build(root, pkg, "", dir)
	}))
	binary, err := once.(func() (string, error))()
	require.NoError(t, err)
	return binary
}

// run runs the tests of a package that patterns select, up to the first that fails.
func run(t *testing.T, pkg, binary string, patterns []string) (passed bool, output string) {
	tests, release := mutant.Command(binary, patience, "-test.failfast", "-test.run", strings.Join(patterns, "|"))
	defer release()
	tests.Dir, tests.Env = filepath.Join(root, filepath.FromSlash(pkg)), battery.Env("")
	text, err := tests.CombinedOutput()
	require.False(t, err != nil && tests.ProcessState == nil, "the tests of %s cannot be run: %v", pkg, err)
	require.NotContains(t, string(text), "no tests to run", "%s has none of %q", pkg, patterns)
	return err == nil, string(text)
}

var failed = regexp.MustCompile(`--- FAIL: (\S+)`)

// first returns the innermost name of the test that failed first.
func first(output string) string {
	if names := failed.FindAllStringSubmatch(output, -1); names != nil {
		return names[len(names)-1][1]
	}
	line, _, _ := bytes.Cut([]byte(output), []byte("\n"))
	return string(line) // it panicked, or did not end
}
