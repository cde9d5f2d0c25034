package processes_test

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/internal/processes"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/process"
	"github.com/ambit-tools/ambit/runtime/runtimetest"
)

// TestSpooled: what a process wrote is found by the next executor, until its end is durable. A process that
// wrote nothing has no file.
func TestSpooled(t *testing.T) {
	b := newBench(t, nil)
	cfg := b.config(b.runner)
	cfg.Spool = filepath.Join(b.dir, "spool")
	set, err := processes.Open(declared(t), new(sched.Scheduler), cfg)
	require.NoError(t, err)
	b.set = set
	next, err := processes.Open(declared(t), new(sched.Scheduler), cfg)
	require.NoError(t, err)

	var mark string
	b.runner.Script = func(job *process.Job) runtimetest.Act {
		mark = job.Mark
		return runtimetest.Act{Out: "said", Err: "complained"}
	}
	_, err = b.run(t, "text", `{"words":["a"]}`)
	require.NoError(t, err)
	out, errs, err := next.Spooled(mark)
	require.NoError(t, err)
	assert.Equal(t, "said\n", string(out.Head)+string(out.Tail))
	assert.Equal(t, "complained\n", string(errs.Head)+string(errs.Tail))
	require.NoError(t, next.SweepSpool(func(m string) bool { return m == mark }))
	set.Unspool(mark)
	_, _, err = next.Spooled(mark)
	require.ErrorIs(t, err, fs.ErrNotExist)

	b.runner.Script = func(job *process.Job) runtimetest.Act {
		mark = job.Mark
		return runtimetest.Act{}
	}
	_, err = b.run(t, "text", `{"words":["a"]}`)
	require.NoError(t, err)
	_, _, err = next.Spooled(mark)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, next.SweepSpool(func(string) bool { return false }))

	cfg.Spool = filepath.Join(cfg.Workspace, "spool")
	_, err = processes.Open(declared(t), new(sched.Scheduler), cfg)
	require.ErrorContains(t, err, "which the command may reach")
}

// TestNoSpool: a spool that cannot be made costs nothing but itself, and without a folder there is none.
func TestNoSpool(t *testing.T) {
	for _, folder := range []string{"", "file/below"} {
		b := newBench(t, acts(runtimetest.Act{Out: strings.Repeat("x", 100)}))
		cfg := b.config(b.runner)
		if folder != "" {
			b.write(t, "file", "no folder")
			cfg.Spool = filepath.Join(b.dir, folder)
		}
		set, err := processes.Open(declared(t), new(sched.Scheduler), cfg)
		require.NoError(t, err)
		b.set = set
		_, err = b.run(t, "text", `{"words":["a"]}`)
		require.NoError(t, err)
		set.Unspool("m")
		if folder == "" {
			require.NoError(t, set.SweepSpool(nil))
		}
	}
}
