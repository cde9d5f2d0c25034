package ambit_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// blocks returns the code blocks of README.md in one language.
func blocks(t *testing.T, language string) []string {
	t.Helper()
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	var out []string
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		out = append(out, m[1])
	}
	return out
}

// TestReadmeSnippets makes an application of the README's declaration, handler
// and policy, generates it and makes two calls.
func TestReadmeSnippets(t *testing.T) {
	// Inside the module, so that it builds as a part of it, and below testdata,
	// so that ./... does not see it.
	require.NoError(t, os.MkdirAll("testdata", 0o755))
	dir, err := os.MkdirTemp("testdata", "readme")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	write := func(name, text string) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	write("shop/tools.yaml", blocks(t, "yaml")[0])
	write("shop/policy/refund.rego", blocks(t, "rego")[0])
	write("main.go", strings.ReplaceAll(readmeProgram, "SHOP", module+"/"+filepath.ToSlash(dir)+"/shop")+blocks(t, "go")[0])

	run := func(args ...string) string {
		out, err := exec.Command("go", args...).CombinedOutput()
		require.NoError(t, err, "go %s: %s", strings.Join(args, " "), out)
		return string(out)
	}
	run("run", "./cmd/ambit", "generate", filepath.Join(dir, "shop", "tools.yaml"))
	require.Equal(t, "completed {\"receipt\":\"R-AB-1234\"}\ndenied policy_denied\n", run("run", "./"+dir, filepath.Join(dir, "shop", "policy")))
}

// readmeProgram is what the README leaves out around its handler.
const readmeProgram = `package main

import (
	"context"
	"fmt"
	"os"

	"SHOP"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/opa"
)

func must[T any](v T, err error) T {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	return v
}

func main() {
	reg := must(runtime.NewRegistry(shop.Tools(desk{})...))
	policy := must(opa.Load(os.DirFS(os.Args[1]), reg))
	exec := must(runtime.NewExecutor(reg, policy))
	ctx := context.Background()
	turn := must(exec.Session(runtime.SessionConfig{Principal: "agent"}).StartRun(ctx, runtime.RunConfig{})).Turn(runtime.TurnConfig{})
	small := turn.Execute(ctx, runtime.Call{Tool: shop.RefundName, Input: []byte(` + "`" + `{"order": "AB-1234", "cents": 1999}` + "`" + `)})
	fmt.Println(small.Kind, string(small.Output))
	large := turn.Execute(ctx, runtime.Call{Tool: shop.RefundName, Input: []byte(` + "`" + `{"order": "AB-1234", "cents": 2001}` + "`" + `)})
	fmt.Println(large.Kind, large.Reason)
}

`

// TestReadmeCommands runs the README's first command and compares the shape of
// what it prints with what the README says.
func TestReadmeCommands(t *testing.T) {
	commands := strings.Fields(strings.Split(blocks(t, "sh")[0], "\n")[0])
	require.Equal(t, []string{"go", "run", "./examples/workspace"}, commands)
	out, err := exec.Command(commands[0], commands[1:]...).Output()
	require.NoError(t, err)
	duration := regexp.MustCompile(`\d+\.\d+ ms`)
	spaces := regexp.MustCompile(` +`)
	plain := func(s string) string {
		return spaces.ReplaceAllString(duration.ReplaceAllString(s, "D"), " ")
	}
	for _, line := range strings.Split(strings.TrimSpace(blocks(t, "text")[0]), "\n") {
		require.Contains(t, plain(string(out)), plain(line))
	}
}
