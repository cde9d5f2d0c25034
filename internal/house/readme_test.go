package house

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/buildcache"
)

// blocks returns the code blocks of a page in one language.
func blocks(t *testing.T, page, language string) []string {
	t.Helper()
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	var out []string
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		out = append(out, m[1])
	}
	return out
}

// TestReadmeSnippets makes an application of the README's declaration, handler
// and policy, generates it and makes the README's calls, which print what it says.
func TestReadmeSnippets(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds programs")
	}
	dir, write := scratch(t, "readme")
	write("shop/tools.yaml", blocks(t, "README.md", "yaml")[0])
	write("shop/policy/refund.rego", blocks(t, "README.md", "rego")[0])
	calls := blocks(t, "README.md", "go")[2]
	program := strings.NewReplacer("SHOP", module+"/"+filepath.ToSlash(dir)+"/shop", "LINES", blocks(t, "README.md", "go")[1], "CALLS", calls)
	write("main.go", program.Replace(readmeProgram)+blocks(t, "README.md", "go")[0])

	goRun(t, ".", "run", "./cmd/ambit", "generate", filepath.Join(dir, "shop", "tools.yaml"))
	cmd := exec.Command("go", "run", ".")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	var want strings.Builder
	for line := range strings.Lines(calls) {
		if _, prints, ok := strings.Cut(line, ") // "); ok {
			want.WriteString(prints)
		}
	}
	require.Equal(t, 3, strings.Count(want.String(), "\n"))
	require.Equal(t, want.String(), string(out))
}

// scratch makes a folder inside the module, so that what is in it builds as a part of
// it, and below testdata, so that ./... does not see it. Its path is the same in each
// run, for the build cache, unless another run is under way.
func scratch(t *testing.T, name string) (dir string, write func(name, text string)) {
	t.Helper()
	require.NoError(t, os.MkdirAll("testdata", 0o755))
	dir = filepath.Join("testdata", name)
	err := os.Mkdir(dir, 0o755)
	if errors.Is(err, fs.ErrExist) {
		dir, err = os.MkdirTemp("testdata", name)
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir, func(name, text string) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
}

// goRun runs the go command in a folder.
func goRun(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "go %s: %s", strings.Join(args, " "), out)
	return string(out)
}

// readmeProgram is what the README leaves out around its handler.
const readmeProgram = `package main

import (
	"context"
	"fmt"
	"os"

	"SHOP"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/opa"
)

func main() {
	LINES
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	ctx := context.Background()
	CALLS
}

`

// TestReadmeCommands runs the README's first command and compares the shape of
// what it prints with what the README says.
func TestReadmeCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds programs")
	}
	line, _, _ := strings.Cut(blocks(t, "README.md", "sh")[0], "#")
	commands := strings.Fields(line)
	require.Equal(t, []string{"go", "run", "./examples/workspace"}, commands)
	out, err := exec.Command(commands[0], commands[1:]...).Output()
	require.NoError(t, err)
	duration := regexp.MustCompile(`\d+\.\d+ ms|\d+ entries, \d+ of`)
	spaces := regexp.MustCompile(` +`)
	plain := func(s string) string {
		return spaces.ReplaceAllString(duration.ReplaceAllString(s, "D"), " ")
	}
	for _, line := range strings.Split(strings.TrimSpace(blocks(t, "README.md", "text")[0]), "\n") {
		require.Contains(t, plain(string(out)), plain(line))
	}
}

// TestStartLine gives the example the line of a calls file that docs/start.md shows.
func TestStartLine(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds programs")
	}
	text, err := os.ReadFile("docs/start.md")
	require.NoError(t, err)
	line := regexp.MustCompile("`(\\{\"tool\": [^`]*)`").FindSubmatch(text)
	require.NotNil(t, line)
	cmd := exec.Command("go", "run", "./examples/workspace", "-json", "-calls", "-")
	cmd.Stdin = bytes.NewReader(line[1])
	out, err := cmd.Output()
	require.NoError(t, err)
	require.Contains(t, string(out), `"outcome":"completed"`)
}

// TestStartInit runs the command of docs/start.md for a new application, with another
// place for it, and with what a shell makes of its variable.
func TestStartInit(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds programs")
	}
	words := strings.Fields(blocks(t, "docs/start.md", "sh")[0])
	require.Equal(t, []string{"go", "run", "./cmd/ambit", "init", "--local", `"$PWD"`, "../shop"}, words)
	here, err := os.Getwd()
	require.NoError(t, err)
	app := filepath.Join(buildcache.Dir(t, "init"), "shop")
	words[5], words[6] = here, app
	goRun(t, ".", words[1:]...)
	goRun(t, app, "run", ".")
}

// TestPolicyPage checks, compiles and tests the policies that docs/policies.md shows.
func TestPolicyPage(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds programs")
	}
	const page = "docs/policies.md"
	dir, write := scratch(t, "policies")
	write("tools.yaml", blocks(t, page, "yaml")[0])
	for _, text := range blocks(t, page, "rego") {
		name, _, ok := strings.Cut(strings.TrimPrefix(text, "# "), "\n")
		require.True(t, ok && strings.HasSuffix(name, ".rego"), "a block of rego begins with its name: %s", text)
		write(name, text)
	}
	tools := filepath.Join(dir, "tools.yaml")
	goRun(t, ".", "run", "./cmd/ambit", "generate", tools)
	goRun(t, ".", "run", "./cmd/ambit", "check", tools)
	require.Contains(t, goRun(t, ".", "run", "./cmd/ambit", "policy", "test", filepath.Join(dir, "policy")), " 0 failed")

	text, err := os.ReadFile(page)
	require.NoError(t, err)
	schema, err := os.ReadFile(filepath.Join(dir, "policy", "ambit_gen", "ambit.schema.json"))
	require.NoError(t, err)
	var input struct {
		Properties map[string]struct{ Properties map[string]any }
	}
	require.NoError(t, json.Unmarshal(schema, &input))
	for name, part := range input.Properties {
		require.Contains(t, string(text), "`input."+name)
		if name == "modes" {
			continue // are the application's own
		}
		for member := range part.Properties {
			require.Contains(t, string(text), "`input."+name+"."+member)
		}
	}
}
