package processes_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/isolate"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/internal/bind"
	"github.com/ambit-tools/ambit/runtime/internal/processes"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
	"github.com/ambit-tools/ambit/runtime/runtimetest"
)

func TestMain(m *testing.M) {
	isolate.Enter()
	battery.Main(m)
}

// declared returns the tools of testdata/commands.yaml, or those with the names.
func declared(t *testing.T, names ...string) []tools.Tool {
	t.Helper()
	src, err := os.ReadFile("testdata/commands.yaml")
	require.NoError(t, err)
	file, err := dsl.Parse("commands.yaml", src)
	require.NoError(t, err)
	all, err := dynamic.Tools(file, nil)
	require.NoError(t, err)
	var list []tools.Tool
	for _, tool := range all {
		if len(names) == 0 || slices.Contains(names, tool.Spec().Name) {
			list = append(list, tools.Tool{Spec: tool.Spec(), Hooks: tool.Hooks(bind.Access{}), Index: len(list)})
		}
	}
	return list
}

// A host is a folder with a program, and variables that lead to it.
type host struct {
	dir  string
	vars map[string]string
}

func newHost(t *testing.T) host {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for _, d := range []string{"bin", "data", "workspace"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, d), 0o700))
	}
	h := host{dir, map[string]string{"TOOLS": filepath.Join(dir, "bin"), "DATA": filepath.Join(dir, "data"), "TOKEN": "secret"}}
	h.write(t, "bin/tool", "no script")
	return h
}

func (h host) write(t *testing.T, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o700)) //nolint:gosec // a program
}

// config is a configuration with which all commands open.
func (h host) config(r process.Runner) processes.Config {
	return processes.Config{
		Runner: r, Workspace: filepath.Join(h.dir, "workspace"), Caches: filepath.Join(h.dir, "caches"),
		Protected: []string{filepath.Join(h.dir, "store")},
		Variable:  func(name string) (string, bool) { v, set := h.vars[name]; return v, set },
	}
}

// A bench runs acts as the commands of testdata/commands.yaml.
type bench struct {
	host
	runner *runtimetest.FakeRunner
	list   []tools.Tool
	set    *processes.Set
}

// act makes the processes of all jobs do what a says.
func newBench(t *testing.T, act func(*process.Job) runtimetest.Act) *bench {
	t.Helper()
	b := &bench{host: newHost(t), runner: &runtimetest.FakeRunner{Script: act}, list: declared(t)}
	var err error
	b.set, err = processes.Open(b.list, new(sched.Scheduler), b.config(b.runner))
	require.NoError(t, err)
	return b
}

func acts(a runtimetest.Act) func(*process.Job) runtimetest.Act {
	return func(*process.Job) runtimetest.Act { return a }
}

// attempt decodes an input of a tool and plans its process.
func (b *bench) attempt(t *testing.T, name, input string) (*processes.Command, *processes.Attempt) {
	t.Helper()
	for i := range b.list {
		if b.list[i].Spec.Name == name {
			in, bad := b.list[i].Decode([]byte(input))
			require.Empty(t, bad)
			_, plan := processes.Plan(&b.list[i], in)
			return b.set.Of(i), &processes.Attempt{Session: "s", Call: "c", Number: 1, Input: in, Argv: plan.Argv, Due: time.Unix(1e9, 0)}
		}
	}
	require.FailNow(t, "there is no tool "+name)
	return nil, nil
}

// stats returns the figures of processes.
func (b *bench) stats() (stats runtime.Stats) {
	b.set.Measure(&stats)
	return stats
}

// run runs a command.
func (b *bench) run(t *testing.T, name, input string) (processes.Result, error) {
	t.Helper()
	c, a := b.attempt(t, name, input)
	return c.Run(t.Context(), a)
}
