package mutants

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
)

func TestMain(m *testing.M) { battery.Main(m) }

// root is where the module is, from here.
const root = "../.."

// patience bounds the tests of a mutant: one that never ends is noticed too.
const patience = "10m"

func patches(t *testing.T) []*Patch {
	list, err := Read("testdata")
	require.NoError(t, err)
	return list
}

func TestEveryPatchApplies(t *testing.T) {
	for _, p := range patches(t) {
		if _, _, err := p.Apply(root); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
}

// TestMutants builds the mutants that battery.Picks names, and wants a test of each to fail. The same tests pass
// without any mutant.
func TestMutants(t *testing.T) {
	whole := &programs{dir: t.TempDir()}
	for _, p := range patches(t) {
		if !battery.Picks(t, p.Name) {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			overlay, err := p.Overlay(root, dir)
			require.NoError(t, err)
			for _, tests := range p.Tests {
				whole.requirePass(t, tests, p.Battery)
				binary, err := Build(root, tests.Package, overlay, dir)
				require.NoError(t, err)
				if passed, output := run(t, binary, tests, p.Battery); !passed {
					t.Logf("noticed by %s in %s:\n%.300s", tests.Pattern, tests.Package, output)
					return
				}
			}
			t.Errorf("none of %v notices that this is broken: %s", p.Tests, p.Breaks)
		})
	}
}

// programs are those of the tests of packages, without any mutant. Each is built once, and its tests are run once.
type programs struct {
	dir          string
	built, tried sync.Map // of funcs, by package and by tests
}

// requirePass requires that tests pass without any mutant.
func (p *programs) requirePass(t *testing.T, tests Tests, size string) {
	build, _ := p.built.LoadOrStore(tests.Package, sync.OnceValues(func() (string, error) {
		dir := filepath.Join(p.dir, strings.ReplaceAll(tests.Package, "/", "_"))
		if err := os.Mkdir(dir, 0o700); err != nil {
			return "", err
		}
		return Build(root, tests.Package, "", dir)
	}))
	binary, err := build.(func() (string, error))()
	require.NoError(t, err)
	try, _ := p.tried.LoadOrStore(tests.Package+" "+tests.Pattern+" "+size, sync.OnceValues(func() (bool, string) { return run(t, binary, tests, size) }))
	passed, output := try.(func() (bool, string))()
	require.True(t, passed, "%s of %s fails without any mutant:\n%s", tests.Pattern, tests.Package, output)
}

// run runs the tests of a program, up to the first that fails.
func run(t *testing.T, binary string, tests Tests, size string) (passed bool, output string) {
	cmd, release := Command(binary, patience, "-test.failfast", "-test.run", tests.Pattern)
	defer release()
	cmd.Dir, cmd.Env = filepath.Join(root, filepath.FromSlash(tests.Package)), battery.Env(size)
	text, err := cmd.CombinedOutput()
	require.False(t, err != nil && cmd.ProcessState == nil, "the tests of %s cannot be run: %v", tests.Package, err)
	require.NotContains(t, string(text), "no tests to run", "%s has none of %q", tests.Package, tests.Pattern)
	return err == nil, string(text)
}

// TestTestsAreThere: the packages and tests that patches name exist.
func TestTestsAreThere(t *testing.T) {
	listed := map[string]string{}
	for _, p := range patches(t) {
		for _, tests := range p.Tests {
			if _, known := listed[tests.Package]; !known {
				files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(tests.Package), "*_test.go"))
				require.NoError(t, err)
				listed[tests.Package] = textOf(t, files)
			}
			names, _, _ := strings.Cut(tests.Pattern, "/")
			for name := range strings.SplitSeq(strings.Trim(names, "^$()"), "|") {
				require.Contains(t, listed[tests.Package], "func "+name, "%s names a test of %s", p.Name, tests.Package)
			}
		}
	}
}

// textOf returns the texts of files.
func textOf(t *testing.T, files []string) string {
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		all.Write(text)
	}
	return all.String()
}
