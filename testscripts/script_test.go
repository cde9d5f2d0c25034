// Package testscripts_test runs what a person types, as scripts: one per verb,
// per class of diagnostic and per outcome. The name of a script says its
// category first. "go test ./testscripts -update" rewrites expected output.
package testscripts_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/cmd/ambit/cli"
	"github.com/ambit-tools/ambit/testscripts/clerk"
	"github.com/ambit-tools/ambit/testscripts/probe"
)

var update = flag.Bool("update", false, "rewrite the expected output inside the scripts")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"ambit": func() { os.Exit(cli.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
		"probe": func() { os.Exit(probe.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
		"clerk": func() { os.Exit(clerk.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

func TestScripts(t *testing.T) {
	env := goEnvironment(t)
	testscript.Run(t, testscript.Params{
		Dir:                 ".",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Vars = append(e.Vars, env...)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":   cmdExits,
			"repeat":  cmdRepeat,
			"replace": cmdReplace,
		},
	})
}

// goEnvironment lets the go command inside a script use the caches of the user,
// and no network. AMBIT is this checkout.
func goEnvironment(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("go", "env", "-json", "GOCACHE", "GOMODCACHE").Output()
	require.NoError(t, err)
	var caches map[string]string
	require.NoError(t, json.Unmarshal(out, &caches))
	checkout, err := filepath.Abs("..")
	require.NoError(t, err)

	env := []string{"AMBIT=" + checkout, "GOPROXY=off", "GOSUMDB=off", "GOTOOLCHAIN=local", "GOFLAGS=", "GOWORK=off"}
	for name, dir := range caches {
		env = append(env, name+"="+dir)
	}
	return env
}

// cmdExits runs a command and requires its exit code: exits CODE COMMAND [ARG...]
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARG...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	have := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		have = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if have != want {
		ts.Fatalf("exit code %d, want %d", have, want)
	}
}

// cmdRepeat appends N copies of a text, in which \n is a line break, to a file: repeat N TEXT FILE
func cmdRepeat(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: repeat N TEXT FILE")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	f, err := os.OpenFile(ts.MkAbs(args[2]), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	ts.Check(err)
	defer f.Close()
	_, err = fmt.Fprint(f, strings.Repeat(strings.ReplaceAll(args[1], `\n`, "\n"), n))
	ts.Check(err)
}

// cmdReplace replaces a text, which must be there, in a file: replace OLD NEW FILE
func cmdReplace(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: replace OLD NEW FILE")
	}
	path := ts.MkAbs(args[2])
	content := ts.ReadFile(args[2])
	if !strings.Contains(content, args[0]) {
		ts.Fatalf("%s does not contain %q", args[2], args[0])
	}
	ts.Check(os.WriteFile(path, []byte(strings.ReplaceAll(content, args[0], args[1])), 0o644))
}
