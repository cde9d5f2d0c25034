package mutant

import (
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
