package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/internal/buildcache"
	"github.com/ambit-tools/ambit/runtime/command/isolate"
)

// guide is the folder of the program that docs/commands.md makes: in the module, so that it builds, and
// in a folder that ./... and git do not see.
const guide = "../../testdata/commands"

// TestGuide does what docs/commands.md says: it generates the declaration, builds the program beside the
// policy, and lets it search, test and run a script in a checkout.
func TestGuide(t *testing.T) {
	if !battery.Full(t) {
		t.Skip("it builds a program, and compiles a part of the standard library")
	}
	runner, err := isolate.New(isolate.Options{})
	require.NoError(t, err)
	if !runner.Host().Namespaces {
		t.Skip("go_test of the guide needs namespaces")
	}
	if err := os.MkdirAll(guide, 0o755); err != nil {
		t.Skipf("this user cannot write into the checkout: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(guide)) })
	page, err := os.ReadFile("../../docs/commands.md")
	require.NoError(t, err)
	block := func(language string) string {
		m := regexp.MustCompile("(?s)```" + language + "\n(.*?)```").FindSubmatch(page)
		require.NotNil(t, m, language)
		return string(m[1])
	}
	write := func(name, text string) {
		path := filepath.Join(guide, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	write("devtools/tools.yaml", block("yaml"))
	write("devtools/policy/shell.rego", block("rego"))
	write("main.go", strings.Replace(block("go"), "example.com/agent/", "github.com/ambit-tools/ambit/testdata/commands/", 1))
	out, err := exec.Command("go", "run", "../../cmd/ambit", "generate", guide+"/devtools/tools.yaml").CombinedOutput()
	require.NoError(t, err, "%s", out)

	dir := t.TempDir()
	work, program := filepath.Join(dir, "checkout"), filepath.Join(dir, "agent")
	require.NoError(t, os.Mkdir(work, 0o755))
	require.NoError(t, checkout(work))
	test := "package sums\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) {\n\tif Sum(1, 2) != 3 {\n\t\tt.Fatal()\n\t}\n}\n" // which compiles less than that with a server
	require.NoError(t, os.WriteFile(filepath.Join(work, "sum_test.go"), []byte(test), 0o644))
	require.NoError(t, buildcache.Copy(guide, program))
	modules, err := exec.Command("go", "env", "GOMODCACHE").Output()
	require.NoError(t, err)
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), program, work, filepath.Join(dir, "state"))
	cmd.Dir = guide
	cmd.Env = append(os.Environ(), "GOMODCACHE="+strings.TrimSpace(string(modules)))
	out, err = cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	require.Len(t, lines, 4, "%s", out)
	for i, want := range []string{`git_diff completed {"stdout":"diff --git`, `text_find completed {"lines":`, `go_test completed {"lines":`, `shell completed {"stdout":"3\n"`} {
		require.Contains(t, lines[i], want)
	}
	require.Contains(t, lines[2], `"Action":"pass"`)
}
