package gen_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/buildcache"
)

// module makes a module in a temporary folder that uses this checkout, and
// returns the folder. It needs no network: what this module needs is there.
func module(t *testing.T, name string) string {
	t.Helper()
	dir := buildcache.Dir(t, name)
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	write(t, dir, "go.mod", fmt.Appendf(nil, "module %s\n\ngo 1.26.0\n\nrequire github.com/ambit-tools/ambit v0.0.0\n\nreplace github.com/ambit-tools/ambit => %s\n", name, root))
	return dir
}

func write(t *testing.T, dir, name string, content []byte) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, content, 0o644))
}

// run runs a command in a folder and returns what it prints.
func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s %s\n%s", name, strings.Join(args, " "), out)
	return string(out)
}

// TestPrograms compiles what every golden case generates, has go vet look at
// it, and runs the programs of the cases: one build for all of them.
func TestPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds programs")
	}
	dir := module(t, "test")
	all := goldens(t, "*.txtar")
	for _, g := range all {
		pkg := ""
		for _, f := range generate(t, g.file("tools.yaml")) {
			if pkg == "" {
				pkg = packageOf(f.Content)
			}
			write(t, dir, g.name+"/"+pkg+"/"+f.Name, f.Content)
		}
		if main := g.file("main/main.go"); main != nil {
			write(t, dir, g.name+"/main/main.go", main)
		}
	}
	run(t, dir, "go", "vet", "./...")
	if path, err := exec.LookPath("staticcheck"); err == nil {
		require.Empty(t, run(t, dir, path, "-checks", "all", "./..."))
	}
	for _, g := range all {
		if g.file("main/main.go") == nil {
			continue
		}
		t.Run(g.name, func(t *testing.T) {
			g.expect(t, "stdout.txt", []byte(run(t, dir, "go", "run", "./"+g.name+"/main")))
			g.save(t)
		})
	}
}

// packageOf reads the package clause of a Go file.
func packageOf(source []byte) string {
	for line := range strings.Lines(string(source)) {
		if name, ok := strings.CutPrefix(line, "package "); ok {
			return strings.TrimSpace(name)
		}
	}
	return ""
}
