package mutant

import (
	"path/filepath"
	"testing"

	"github.com/ambit-tools/ambit/internal/battery"
)

// Each reads the patches of a directory, each a subtest, and hands f the test binary
// of a package that is built with one. It builds the mutants that battery.Picks
// names, and only sees that the other patches apply.
func Each(t *testing.T, root, dir, pkg string, f func(t *testing.T, p *Patch, binary string)) {
	t.Helper()
	list, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		t.Run(p.Name, func(t *testing.T) {
			dir := t.TempDir()
			overlay, err := p.Overlay(root, dir)
			if err != nil {
				t.Fatal(err)
			}
			if !battery.Picks(t, p.Name) {
				return
			}
			binary, err := Build(root, pkg, overlay, dir)
			if err != nil {
				t.Fatal(err)
			}
			f(t, p, binary)
		})
	}
}

// Noticed builds the patches of testdata/mutants, as Each does, into the tests of a package, and
// wants the test that a patch names to fail, or not to end within a time such as 5m. env is the
// environment of the test, as battery.Env returns it; nil is that of this process.
func Noticed(t *testing.T, root, pkg, within string, env []string) {
	t.Helper()
	NoticedIn(t, root, ".", pkg, within, env)
}

// NoticedIn is Noticed for the patches of a package in another folder, in which its tests run.
func NoticedIn(t *testing.T, root, folder, pkg, within string, env []string) {
	t.Helper()
	Each(t, root, filepath.Join(folder, "testdata/mutants"), pkg, func(t *testing.T, p *Patch, binary string) {
		test, release := Command(binary, within, "-test.run", "^("+p.Tests[0]+")$")
		defer release()
		test.Dir, test.Env = folder, env
		out, err := test.CombinedOutput()
		if err == nil {
			t.Fatalf("no test notices that %s", p.Breaks)
		}
		t.Logf("noticed:\n%s", out[:min(len(out), 300)])
	})
}
