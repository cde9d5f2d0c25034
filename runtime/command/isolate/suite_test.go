//go:build unix

package isolate_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/isolate"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/runtimetest"
)

// TestSuite holds the runner to the suite in each form of the box that the host can build; a plain run
// takes the weakest box alone, which every host builds that builds one.
func TestSuite(t *testing.T) {
	list := forms()
	if !battery.Full(t) {
		list = list[1:2]
	}
	for _, f := range list {
		t.Run(f.name, func(t *testing.T) {
			r := f.open(t)
			sh := find(t, "sh")
			runtimetest.TestRunner(t, func(*testing.T) (process.Runner, func(runtimetest.Act) *process.Job) {
				return r, func(a runtimetest.Act) *process.Job {
					spec := &process.Spec{Tier: f.tier, Limits: runtime.ProcessLimits{}.Defaults(time.Minute)}
					return &process.Job{Spec: spec, Program: sh, Argv: []string{"sh", "-c", a.Script()}}
				}
			})
		})
	}
}

// A form is a way to run a process.
type form struct {
	name  string
	tier  runtime.Tier
	plain bool
}

func forms() []form {
	return []form{{"box", runtime.TierSandbox, false}, {"box without namespaces", runtime.TierSandbox, true}, {"process", runtime.TierProcess, true}}
}

// open makes the runner of a form, or skips the test by the name of what the host lacks.
func (f form) open(t testing.TB) *isolate.Runner {
	t.Helper()
	r, err := isolate.New(isolate.Options{WithoutNamespaces: f.plain})
	require.NoError(t, err)
	h := r.Host()
	require.NotContains(t, h.WhyNot, "got out", "the self-test finds a hole: that is no reason to skip")
	if f.tier == runtime.TierSandbox && !h.Sandbox {
		t.Skip("this host builds no sandbox: " + h.WhyNot)
	}
	if f.tier == runtime.TierSandbox && !f.plain && !h.Namespaces {
		t.Skip("this host gives no namespaces: " + h.WhyNot)
	}
	return r
}

func find(t *testing.T, name string) *process.Program {
	t.Helper()
	p, err := process.Find(name, "/usr/bin:/bin")
	require.NoError(t, err)
	return p
}

// TestMissingFolder: a job whose folder or cache is gone ends as one that the host lacks something for, before anything runs.
func TestMissingFolder(t *testing.T) {
	f := forms()[2]
	r := f.open(t)
	missing := filepath.Join(t.TempDir(), "missing")
	for _, job := range []process.Job{
		{Spec: &process.Spec{Tier: f.tier}, Dir: missing}, {Spec: &process.Spec{Tier: f.tier, Caches: []string{missing}}},
	} {
		job.Program, job.Argv = find(t, "sh"), []string{"sh", "-c", "echo ran"}
		exit, err := r.Run(t.Context(), &job)
		require.ErrorIs(t, err, process.ErrResources)
		require.ErrorContains(t, err, missing)
		require.Nil(t, exit)
	}
}

// TestMissingPrivateFolders: a job ends likewise when the folder for private folders is gone.
func TestMissingPrivateFolders(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "boxes")
	for _, f := range forms() {
		require.NoError(t, os.Mkdir(dir, 0o700))
		r, err := isolate.New(isolate.Options{Folder: dir, WithoutNamespaces: f.plain})
		require.NoError(t, err)
		spec := &process.Spec{
			Tier: f.tier, Limits: runtime.ProcessLimits{Scratch: 1 << 20}, Accepts: map[runtime.LimitName]runtime.Level{runtime.LimitScratch: runtime.LevelWatched}, // there must be room for it
		}
		job := process.Job{Spec: spec, Program: find(t, "sh"), Argv: []string{"sh", "-c", "echo ran"}}
		_, held := r.Enforces(spec) // as an executor asks when it opens
		require.NoError(t, os.Remove(dir))
		if held != nil {
			t.Logf("this host builds no %s: %v", f.name, held)
			continue
		}
		exit, err := r.Run(t.Context(), &job)
		require.ErrorIs(t, err, process.ErrResources, f.name)
		require.ErrorContains(t, err, dir)
		require.Nil(t, exit)
	}
}

// TestReachOfTheRunner: the private folders of others and what each box reads are no places for a
// store, a cache or the folder of the runner.
func TestReachOfTheRunner(t *testing.T) {
	dir := t.TempDir()
	r, err := isolate.New(isolate.Options{Folder: dir})
	require.NoError(t, err)
	_, err = r.Enforces(&process.Spec{Tier: runtime.TierProcess, Reads: []string{filepath.Dir(dir)}})
	require.ErrorContains(t, err, dir)
	if goruntime.GOOS == "linux" {
		for _, spec := range []process.Spec{{Protected: []string{"/usr/share/store.db"}}, {Caches: []string{"/usr/share/cache"}}} {
			_, err = r.Enforces(&spec)
			require.ErrorContains(t, err, "/usr/share/")
		}
	}
}

// TestCaches: a cache is written and kept, and nothing beside it is.
func TestCaches(t *testing.T) {
	for _, f := range forms() {
		t.Run(f.name, func(t *testing.T) {
			r := f.open(t)
			dir := t.TempDir()
			cache := filepath.Join(dir, "cache")
			require.NoError(t, os.Mkdir(cache, 0o700))
			for _, want := range []string{"", "once\n"} {
				exit, err := r.Run(t.Context(), &process.Job{
					Spec:    &process.Spec{Tier: f.tier, Caches: []string{cache}, Limits: runtime.ProcessLimits{}.Defaults(time.Minute)},
					Program: find(t, "sh"), Env: []string{"CACHE=" + cache},
					Argv: []string{"sh", "-c", "cat $CACHE/note 2>/dev/null; echo once > $CACHE/note; echo x > $CACHE/../beside 2>/dev/null; true"},
				})
				require.NoError(t, err)
				require.Equal(t, want, string(exit.Stdout.Head), "%s", exit.Stderr.Head)
			}
			_, err := os.Stat(filepath.Join(dir, "beside"))
			require.Equal(t, f.tier == runtime.TierSandbox, os.IsNotExist(err), "only a box holds it")
		})
	}
}

// TestLoopbackIsRefusedWithoutNamespaces: what needs them is refused, not weakened.
func TestLoopbackIsRefusedWithoutNamespaces(t *testing.T) {
	f := forms()[1]
	r := f.open(t)
	spec := &process.Spec{Network: runtime.NetworkLoopback}
	_, err := r.Enforces(spec)
	require.ErrorContains(t, err, "loopback")
	exit, err := r.Run(t.Context(), &process.Job{Spec: spec, Program: find(t, "sh"), Argv: []string{"sh", "-c", "echo ran"}})
	require.Nil(t, exit)
	require.ErrorContains(t, err, "loopback")
}

// TestEnter: a program that does not begin with Enter gets no runner, and neither does one of its
// shims that has come to the application: it would start the application again for each process.
func TestEnter(t *testing.T) {
	for name, want := range map[string]string{"app": "call isolate.Enter() in the first line of main, and of TestMain", "ambit-shim": "this process is a shim"} {
		isolate.WithoutEnter(name, func() {
			_, err := isolate.New(isolate.Options{})
			require.ErrorContains(t, err, want)
		})
	}
}

// TestWhatTheHostRanOutOf: a full disk, and no more processes, memory or descriptors are told from
// other errors, across the socket too.
func TestWhatTheHostRanOutOf(t *testing.T) {
	for errno, lacks := range map[syscall.Errno]bool{
		syscall.ENOSPC: true, syscall.EDQUOT: true, syscall.EAGAIN: true, syscall.ENOMEM: true, syscall.EMFILE: true, syscall.ENFILE: true,
		syscall.EACCES: false, syscall.EPERM: false, syscall.ENOENT: false, syscall.EINVAL: false,
	} {
		reported, own := isolate.Failed(fmt.Errorf("stage: %w", errno))
		require.Equal(t, lacks, errors.Is(reported, process.ErrResources), "%v", reported)
		require.Equal(t, lacks, errors.Is(own, process.ErrResources), "%v", own)
		require.ErrorContains(t, reported, errno.Error())
	}
}
