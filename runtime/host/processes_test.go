package host_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/host"
	"github.com/ambit-tools/ambit/runtime/runtimetest"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// commandHost is the configuration of a host with one tool that runs a program of dir/bin.
func commandHost(t *testing.T, dir string) host.Config {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "bin"), 0o700))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "work"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bin", "tool"), []byte("a program"), 0o700)) //nolint:gosec // a program
	spec := &runtime.Spec{
		Name: "look", Version: "1.0.0", Effect: runtime.SideEffectRead, Pin: "3f2a",
		Command: &runtime.Command{Program: filepath.Join(dir, "bin", "tool"), Form: runtime.FormLines, Caches: []runtime.Variable{{Name: "CACHE", Value: "c"}}},
	}
	argv := func(wire.Value) ([]string, error) { return []string{"tool"}, nil }
	allow := runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	})
	return host.Config{
		Tools:  []*runtime.Tool{runtime.NewDynamicCommandTool(spec, codec{}, codec{}, argv, nil)},
		Policy: allow, Dir: filepath.Join(dir, "store"), Workspace: filepath.Join(dir, "work"),
	}
}

// TestCommands: a host runs commands, keeps everything that it stores out of their reach, and has a folder for
// their caches.
func TestCommands(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	cfg := commandHost(t, dir)
	var spec process.Spec
	runner := &runtimetest.FakeRunner{Script: func(job *process.Job) runtimetest.Act {
		spec = *job.Spec
		return runtimetest.Act{Out: "seen"}
	}}
	cfg.Runner, cfg.Processes = runner, 2
	h, err := host.Open(t.Context(), cfg)
	require.NoError(t, err)
	h.SetProcesses(1)
	run, err := h.Executor.Session(engine.SessionConfig{ID: "s", Principal: "ada"}).StartRun(t.Context(), engine.RunConfig{})
	require.NoError(t, err)
	out := run.Turn(engine.TurnConfig{}).Execute(t.Context(), runtime.Call{ID: "c", Tool: "look", Input: []byte(`{}`)})
	assert.Equal(t, runtime.Completed, out.Kind, out.Message)
	assert.Contains(t, string(out.Output), "seen")
	require.NoError(t, h.Close(t.Context()))

	assert.Equal(t, filepath.Join(dir, "work"), spec.Workspace)
	assert.Equal(t, []string{filepath.Join(dir, "store", "ambit.db.caches", "look", "c")}, spec.Caches)
	stored, err := filepath.Glob(filepath.Join(dir, "store", "*"))
	require.NoError(t, err)
	require.NotEmpty(t, stored)
	for _, path := range stored {
		if path != filepath.Join(dir, "store", "ambit.db.caches") {
			assert.True(t, slices.Contains(spec.Protected, path), "%s is in reach of commands that read it", path)
		}
	}
	assert.Contains(t, spec.Protected, filepath.Join(dir, "store"))
}

// TestStoreInReach: a store that a command could read stops the start.
func TestStoreInReach(t *testing.T) {
	dir := t.TempDir()
	cfg := commandHost(t, dir)
	cfg.Runner = &runtimetest.FakeRunner{}
	cfg.Tools[0].Spec().Command.Reads = []string{cfg.Dir}
	_, err := host.Open(t.Context(), cfg)
	require.ErrorContains(t, err, "which the command may reach: move it")
	cfg = commandHost(t, dir)
	cfg.Processes = -1
	_, err = host.Open(t.Context(), cfg)
	require.ErrorContains(t, err, "Config.Processes is negative")
}

// TestNoEnter: a host without a runner makes one of package isolate, which needs isolate.Enter in main.
func TestNoEnter(t *testing.T) {
	_, err := host.Open(t.Context(), commandHost(t, t.TempDir()))
	require.ErrorContains(t, err, `tool "look" is a command: isolate: call isolate.Enter() in the first line of main`)
}
