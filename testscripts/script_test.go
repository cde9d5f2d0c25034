// Package testscripts_test runs what a person types, as scripts: one per verb,
// per class of diagnostic and per outcome. The name of a script says its
// category first; TestEveryOutcomeHasAScript and TestEveryVerbHasAScript hold
// what there has to be. "go test ./testscripts -update" rewrites expected output.
package testscripts_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/cmd/ambit/cli"
	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/internal/buildcache"
	"github.com/ambit-tools/ambit/runtime/command/isolate"
	"github.com/ambit-tools/ambit/testscripts/clerk"
	"github.com/ambit-tools/ambit/testscripts/probe"
)

var update = flag.Bool("update", false, "rewrite the expected output inside the scripts")

func TestMain(m *testing.M) {
	isolate.Enter()
	testscript.Main(m, map[string]func(){
		"ambit": func() { os.Exit(cli.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
		"probe": func() { os.Exit(probe.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
		"clerk": func() { os.Exit(clerk.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },

		"fulldisk": fullDisk,
		"atonce":   atOnce,
	})
}

func TestScripts(t *testing.T) {
	env := goEnvironment(t)
	testscript.Run(t, testscript.Params{
		Dir:                 ".",
		WorkdirRoot:         buildcache.Dir(t, "scripts"),
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Vars = append(append(e.Vars, env...), "LF=\n")
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name != "battery" {
				return false, fmt.Errorf("there is no condition %q", name)
			}
			return battery.Full(t), nil
		},
		Cmds: commands(),
	})
}

// goEnvironment lets the go command inside a script use the caches of the user, and
// no network unless AMBIT_BATTERY is set: go mod tidy needs modules that no build
// fetches. AMBIT is this checkout.
func goEnvironment(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("go", "env", "-json", "GOCACHE", "GOMODCACHE").Output()
	require.NoError(t, err)
	var caches map[string]string
	require.NoError(t, json.Unmarshal(out, &caches))
	checkout, err := filepath.Abs("..")
	require.NoError(t, err)

	// Programs are linked without debug information, in two thirds of the time; short processes need not collect.
	env := []string{"AMBIT=" + checkout, "GOTOOLCHAIN=local", "GOFLAGS=-ldflags=-w", "GOWORK=off", "GOGC=400"}
	if !battery.Full(t) {
		env = append(env, "GOPROXY=off", "GOSUMDB=off")
	}
	for name, dir := range caches {
		env = append(env, name+"="+dir)
	}
	return env
}
