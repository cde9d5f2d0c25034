package processes_test

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/internal/processes"
	"github.com/ambit-tools/ambit/runtime/internal/redact"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/spool"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/runtimetest"
	"github.com/ambit-tools/ambit/runtime/wire"
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
	require.NoError(t, next.SweepSpool())
	_, _, err = next.Spooled(mark)
	require.NoError(t, err, "it may be that of a process of this executor")
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
	require.NoError(t, next.SweepSpool())

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
			require.NoError(t, set.SweepSpool())
			_, _, err = set.Spooled("m")
			require.ErrorIs(t, err, fs.ErrNotExist)
		}
	}
}

// A stubborn is a runner that cannot end some processes.
type stubborn struct {
	*runtimetest.FakeRunner
	mark string
}

func (s stubborn) Kill(_ context.Context, id runtime.ProcessID) error {
	if id.Mark == s.mark {
		return errors.New("it belongs to another namespace")
	}
	return nil
}

// TestLeft: of a process that recovery has ended there is what the spool has. Recovery removes what it found in the
// spool, but for that of a process that may still run.
// SEMANTICS 6.7.9, 6.7.10
func TestLeft(t *testing.T) {
	b := newBench(t, nil)
	cfg := b.config(b.runner)
	cfg.Runner, cfg.Spool = stubborn{b.runner, "runs"}, filepath.Join(b.dir, "spool")
	set, err := processes.Open(declared(t), new(sched.Scheduler), cfg)
	require.NoError(t, err)
	write := func(mark string, most int64) {
		s, err := spool.Folder(cfg.Spool).Create(mark, most)
		require.NoError(t, err)
		s.Write(process.Stdout, []byte("what it said"))
		require.NoError(t, s.Close())
	}
	write("runs", 100)
	write("whole", 100)
	write("cut", 4)
	write("unknown", 4)
	calls := []*history.Call{}
	for _, mark := range []string{"runs", "whole", "cut", "silent"} {
		calls = append(calls, &history.Call{ID: mark, Processes: []journal.Process{{ID: runtime.ProcessID{PID: 1, Mark: mark}}}})
	}
	var reported []string
	set.EndRecorded(t.Context(), calls, func(c *history.Call, _ error) { reported = append(reported, c.ID) })
	assert.Equal(t, []string{"runs"}, reported)
	write("new", 4)

	assert.True(t, calls[0].Runs)
	assert.Empty(t, set.Ends(calls[0]), "it may still write")
	end := func(i int) (*journal.Process, *process.Exit) {
		ends := set.Ends(calls[i])
		require.Len(t, ends, 1)
		return ends[0].Process, ends[0].Exit
	}
	p, e := end(1)
	assert.Equal(t, process.Lost, p.Exit.Cause)
	assert.Equal(t, "what it said", string(e.Stdout.Head)+string(e.Stdout.Tail))
	assert.NotEmpty(t, p.Exit.Stdout.SHA256)
	p, e = end(2)
	assert.Equal(t, "whid", string(e.Stdout.Head)+string(e.Stdout.Tail))
	assert.EqualValues(t, 12, p.Exit.Stdout.Size)
	assert.Empty(t, p.Exit.Stdout.SHA256, "nothing has hashed what is missing")
	p, e = end(3)
	assert.Equal(t, process.Lost, p.Exit.Cause, "a process that wrote nothing has an end, too")
	assert.Zero(t, p.Exit.Stdout.Size)
	assert.Empty(t, p.Exit.Stdout.SHA256)
	assert.Zero(t, e.Stdout.Size)

	require.NoError(t, set.SweepSpool())
	files, err := filepath.Glob(filepath.Join(cfg.Spool, "*.stdout"))
	require.NoError(t, err)
	for i := range files {
		files[i] = filepath.Base(files[i])
	}
	assert.Equal(t, []string{"new.stdout", "runs.stdout"}, files)
}

// TestKeep: the artifact has both streams without the sensitive values, also where a gap cuts one.
// SEMANTICS 6.6.9, 6.7.9
func TestKeep(t *testing.T) {
	b := newBench(t, nil)
	secrets := new(redact.Secrets)
	secrets.Collect(func() wire.Value { return secretText("hunter2") })
	e := &process.Exit{}
	e.Stdout = process.Output{Head: []byte("is hunter2, or hun"), Tail: []byte("ter2 and hunter2 x"), Size: 1000, Truncated: true}
	e.Stderr = process.Output{Head: []byte("a hunt"), Tail: []byte("er2 b"), Size: 11}
	store := new(runtime.MemoryArtifacts)
	ref, err := b.set.Keep(store, &runtime.Spec{}, secrets, e)
	require.NoError(t, err)
	data, err := store.Get(t.Context(), *ref)
	require.NoError(t, err)
	assert.Equal(t, `{"stdout":{"size":1000,"head":"is (sensitive), ","tail":"nd (sensitive) x"},"stderr":{"size":11,"head":"a (sensitive) b"}}`, string(data))

	schema := `{"properties":{"a":{"x-sensitive":true}}}`
	for _, row := range []struct {
		spec runtime.Spec
		e    process.Exit
	}{{runtime.Spec{}, process.Exit{}}, {runtime.Spec{OutputSchema: &schema}, *e}} {
		ref, err = b.set.Keep(store, &row.spec, secrets, &row.e)
		require.NoError(t, err)
		assert.Nil(t, ref)
	}
	_, err = b.set.Keep(fullStore{}, &runtime.Spec{}, secrets, e)
	require.ErrorIs(t, err, errFull)
}

var errFull = errors.New("the disk is full")

type fullStore struct{ runtime.ArtifactStore }

func (fullStore) Put(context.Context, runtime.ArtifactRef, []byte) error { return errFull }

type secretText string

func (s secretText) Walk(v wire.Visitor) {
	v.Visit(wire.Token{Kind: wire.KindString, Str: string(s), Sensitive: true})
}

// TestKeepHangs: a store that hangs holds up the end of a process for a second at most.
func TestKeepHangs(t *testing.T) {
	b := newBench(t, nil)
	synctest.Test(t, func(t *testing.T) {
		from := time.Now()
		_, err := b.set.Keep(slowStore{}, &runtime.Spec{}, new(redact.Secrets), &process.Exit{Stdout: process.Output{Head: []byte("a"), Size: 1}})
		var overdue *deadline.OverdueError
		require.ErrorAs(t, err, &overdue)
		assert.Equal(t, time.Second, time.Since(from))
	})
}

// A slowStore waits until it is given up.
type slowStore struct{ runtime.ArtifactStore }

func (slowStore) Put(ctx context.Context, _ runtime.ArtifactRef, _ []byte) error {
	<-ctx.Done()
	return ctx.Err()
}
