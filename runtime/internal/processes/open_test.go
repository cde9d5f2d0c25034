package processes_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/internal/bind"
	"github.com/ambit-tools/ambit/runtime/internal/processes"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
	"github.com/ambit-tools/ambit/runtime/runtimetest"
)

// TestJobs compares what a runner is given with the declaration and the host.
func TestJobs(t *testing.T) {
	var jobs []*process.Job
	b := newBench(t, func(job *process.Job) runtimetest.Act {
		jobs = append(jobs, job)
		return runtimetest.Act{}
	})
	for _, name := range []string{"text", "lines"} {
		_, err := b.run(t, name, "{}")
		require.NoError(t, err)
	}
	text, lines := jobs[0], jobs[1]
	assert.Equal(t, filepath.Join(b.dir, "bin", "tool"), text.Program.Path)
	assert.Equal(t, []string{"tool", "--words"}, text.Argv)
	assert.ElementsMatch(t, []string{"PATH=" + b.vars["TOOLS"], "TOKEN=secret", "MODE=fast"}, text.Env)
	assert.Equal(t, filepath.Join(b.dir, "workspace"), text.Dir)
	assert.Equal(t, 3*time.Second, text.Grace)
	assert.Equal(t, processes.DefaultGrace, lines.Grace)
	assert.Equal(t, runtime.ProcessLimits{
		Memory: 512 << 20, Processes: 7, CPU: 20 * time.Second, File: 256 << 20, Scratch: 256 << 20, Files: 256, Output: 400,
	}, text.Spec.Limits)
	assert.Equal(t, runtime.TierSandbox, text.Spec.Tier)
	assert.Equal(t, runtime.LevelEnforced, text.Spec.Accepts[runtime.LimitProcesses])
	assert.Equal(t, []string{filepath.Join(b.dir, "store")}, text.Spec.Protected)

	cache := filepath.Join(b.dir, "caches", "lines", "build")
	assert.Contains(t, lines.Env, "CACHE="+cache)
	assert.Equal(t, []string{cache}, lines.Spec.Caches)
	assert.DirExists(t, cache)
	assert.Equal(t, []string{b.vars["DATA"]}, lines.Spec.Reads)

	assert.NotEqual(t, text.Mark, lines.Mark)
	assert.Greater(t, len(text.Mark), 20)
	assert.Nil(t, b.set.Of(99))
	assert.Equal(t, runtime.LevelEnforced, b.set.Of(0).Levels.Of(runtime.LimitMemory).Level)
}

// TestOpenNamesAllThatLacks: one error names every tool that cannot run, with all reasons.
func TestOpenNamesAllThatLacks(t *testing.T) {
	h := newHost(t)
	delete(h.vars, "TOKEN")
	h.vars["DATA"] = "data"
	cfg := h.config(new(runtimetest.FakeRunner))
	cfg.Caches = ""
	_, err := processes.Open(declared(t), new(sched.Scheduler), cfg)
	for _, want := range []string{
		`tool "text": env: TOKEN takes $TOKEN of the host, which is not set`,
		`tool "lines": reads: $DATA is "data", which is no absolute path`,
		"it declares caches and the executor has no folder for them",
	} {
		require.ErrorContains(t, err, want)
	}
	h.vars["DATA"] = filepath.Join(h.dir, "nowhere")
	_, err = processes.Open(declared(t), new(sched.Scheduler), h.config(new(runtimetest.FakeRunner)))
	require.ErrorIs(t, err, os.ErrNotExist, "what is read must exist")
}

// TestOpenRefuses what a host, or a declaration in Go, may have wrong.
func TestOpenRefuses(t *testing.T) {
	for _, c := range []struct {
		name, want string
		setup      func(h *host, cfg *processes.Config, c *runtime.Command, t *testing.T)
	}{
		{"no runner", "the executor has no runner", func(_ *host, cfg *processes.Config, _ *runtime.Command, _ *testing.T) { cfg.Runner = nil }},
		{"no program", "command_not_found", func(_ *host, _ *processes.Config, c *runtime.Command, _ *testing.T) { c.Program = "nothing" }},
		{"a script", "begins with #!", func(h *host, _ *processes.Config, _ *runtime.Command, t *testing.T) {
			h.write(t, "bin/tool", "#!/bin/sh")
		}},
		{"a program that tools may write", "which tools may write", func(h *host, _ *processes.Config, _ *runtime.Command, t *testing.T) {
			h.vars["TOOLS"] = filepath.Join(h.dir, "workspace")
			h.write(t, "workspace/tool", "a program")
		}},
		{"a relative workspace", "no absolute path", func(_ *host, cfg *processes.Config, _ *runtime.Command, _ *testing.T) { cfg.Workspace = "workspace" }},
		{"a folder without a workspace", "the executor has none", func(_ *host, cfg *processes.Config, c *runtime.Command, _ *testing.T) {
			cfg.Workspace, c.Dir = "", "src"
		}},
		{"a folder outside", "is not below the workspace", func(_ *host, _ *processes.Config, c *runtime.Command, _ *testing.T) { c.Dir = "../data" }},
		{"a cache outside", "is no name of a folder", func(_ *host, _ *processes.Config, c *runtime.Command, _ *testing.T) {
			c.Caches = []runtime.Variable{{Name: "X", Value: ".."}}
		}},
		{"a store that is read", "which the command may reach", func(h *host, cfg *processes.Config, c *runtime.Command, _ *testing.T) {
			cfg.Protected, c.Reads = []string{filepath.Join(h.dir, "data", "store")}, []string{"$DATA"}
		}},
		{"a long grace", "stop_grace is 5s", func(_ *host, _ *processes.Config, c *runtime.Command, _ *testing.T) { c.StopGrace = 5 * time.Second }},
		{"an exit code", "an exit code is 0 to 255", func(_ *host, _ *processes.Config, c *runtime.Command, _ *testing.T) {
			c.Exits = []runtime.ExitCode{{Code: 256}}
		}},
		{"a weak limit", "the limit processes is advisory here", func(_ *host, cfg *processes.Config, _ *runtime.Command, _ *testing.T) {
			cfg.Runner = &runtimetest.FakeRunner{Host: func(s *process.Spec) (process.Enforcement, error) {
				e := process.Enforcement{Limits: []process.LimitLevel{{Name: runtime.LimitProcesses, Level: runtime.LevelAdvisory}}}
				return e, e.Holds(s)
			}}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, list := newHost(t), declared(t, "text")
			cfg := h.config(new(runtimetest.FakeRunner))
			command := *list[0].Spec.Command
			c.setup(&h, &cfg, &command, t)
			list[0].Spec.Command = &command
			_, err := processes.Open(list, new(sched.Scheduler), cfg)
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, err, `tool "text"`)
		})
	}
	_, err := processes.Open([]tools.Tool{{Spec: &runtime.Spec{Name: "x"}, Hooks: &bind.Hooks{Command: &bind.Command{}}}}, nil, processes.Config{})
	require.ErrorContains(t, err, "no declaration of one")
}

// TestOpenWithoutCommands needs nothing of the host.
func TestOpenWithoutCommands(t *testing.T) {
	set, err := processes.Open([]tools.Tool{{Hooks: &bind.Hooks{}}}, new(sched.Scheduler), processes.Config{})
	require.NoError(t, err)
	assert.Nil(t, set.Of(0))
	var stats runtime.Stats
	set.Measure(&stats)
	assert.Empty(t, stats)
	var none *processes.Set
	assert.Nil(t, none.Of(0))
}

// TestPlan: what a policy sees is what was declared, and needs no program.
func TestPlan(t *testing.T) {
	list := declared(t)
	in, bad := list[0].Decode([]byte(`{"words":["a b","c"]}`))
	require.Empty(t, bad)
	seen, plan := processes.Plan(&list[0], in)
	assert.Equal(t, in.(*runtime.PlannedInput).Value, seen, "a policy sees the value")
	assert.Equal(t, &runtime.Invocation{Program: "tool", Argv: []string{"tool", "--words", "a b", "c"}, Env: []string{"MODE", "PATH", "TOKEN"}}, plan)

	script := declared(t, "script")
	in, bad = script[0].Decode([]byte(`{"script":"-x; echo"}`))
	require.Empty(t, bad)
	_, plan = processes.Plan(&script[0], in)
	assert.Equal(t, &runtime.Invocation{Program: "sh", Argv: []string{"sh", "-c", "--", "-x; echo"}, Tier: runtime.TierProcess, Script: "-x; echo"}, plan)

	_, plan = processes.Plan(&list[0], nil)
	assert.Equal(t, "tool", plan.Program)
	assert.Nil(t, plan.Argv, "there is no input")

	_, plan = processes.Plan(&tools.Tool{Spec: &runtime.Spec{}, Hooks: &bind.Hooks{}}, nil)
	assert.Nil(t, plan)
}

// TestBinding: consent to an invocation is consent to the file, its contents and each argument.
func TestBinding(t *testing.T) {
	b := newBench(t, nil)
	binding := func(b *bench, argv ...string) string { return b.set.Of(0).Binding(&runtime.Invocation{Argv: argv}) }
	first := binding(b, "tool", "a b")
	assert.Len(t, first, 64)
	assert.Equal(t, first, binding(b, "tool", "a b"))
	assert.NotEqual(t, first, binding(b, "tool", "a", "b"))

	b.write(t, "bin/tool", "another program")
	require.ErrorIs(t, b.set.Of(0).Changed(), process.ErrProgramChanged)
	changed := binding(b, "tool", "a b")
	assert.NotEqual(t, first, changed, "an approval in hand does not cover it")
	set, err := processes.Open(declared(t), new(sched.Scheduler), b.config(b.runner))
	require.NoError(t, err)
	require.NoError(t, set.Of(0).Changed())
	b.set = set
	assert.NotEqual(t, first, binding(b, "tool", "a b"))
	assert.NotEqual(t, changed, binding(b, "tool", "a b"))
}
