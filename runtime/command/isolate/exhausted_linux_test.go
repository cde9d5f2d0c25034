package isolate_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ambit-tools/ambit/runtime/command/isolate"
	"github.com/ambit-tools/ambit/runtime/command/process"
)

// TestTheHostRunsOut runs processes where the disk is full, where no process and where no descriptor is
// left: nothing runs, and the error says that the host lacks something. Each is a host that the test
// makes: a file system in memory, and limits of a user.
func TestTheHostRunsOut(t *testing.T) {
	dir, err := os.MkdirTemp("", "out")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o777))
	own := func(id int) []syscall.SysProcIDMap {
		return []syscall.SysProcIDMap{{ContainerID: 0, HostID: id, Size: 1}}
	}
	nobody := &syscall.SysProcAttr{}
	if os.Getuid() == 0 { // whose processes the kernel does not limit
		nobody.Credential = &syscall.Credential{Uid: 65534, Gid: 65534}
	}
	for what, attr := range map[string]*syscall.SysProcAttr{
		"disk":      {Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS, UidMappings: own(os.Getuid()), GidMappings: own(os.Getgid())},
		"processes": nobody, "descriptors": {},
	} {
		t.Run(what, func(t *testing.T) {
			if what == "disk" {
				forms()[0].open(t) // it needs namespaces, too
			}
			c := exec.Command("/proc/self/exe")
			c.Env = append(os.Environ(), "AMBIT_ACT=out of "+what, "TMPDIR="+dir)
			c.SysProcAttr = attr
			out, err := c.CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.Equal(t, "nothing ran, for want of resources\n", string(out))
		})
	}
}

// outOf uses something up and runs a process.
func outOf(what string) error {
	f := forms()[2]
	r, err := isolate.New(isolate.Options{})
	if err != nil {
		return err
	}
	r.Host() // the self-test has what it needs
	sh, err := process.Find("sh", "/usr/bin:/bin")
	if err != nil {
		return err
	}
	job := &process.Job{Spec: &process.Spec{Tier: f.tier}, Program: sh, Argv: []string{"sh", "-c", "echo ran"}}
	switch what {
	case "disk":
		err = unix.Mount("tmpfs", os.TempDir(), "tmpfs", 0, "nr_inodes=1")
	case "processes":
		spareThreads()
		err = unix.Setrlimit(unix.RLIMIT_NPROC, &unix.Rlimit{})
	case "descriptors":
		err = unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 3, Max: 3})
	}
	if err != nil {
		return err
	}
	exit, err := r.Run(context.Background(), job)
	if exit != nil || !errors.Is(err, process.ErrResources) {
		return fmt.Errorf("%+v, %w", exit, err)
	}
	fmt.Println("nothing ran, for want of resources")
	return nil
}

// spareThreads lets this program have threads that it needs later: without one that it could start, it
// would end.
func spareThreads() {
	var at, all sync.WaitGroup
	at.Add(50)
	for range 50 {
		all.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			at.Done()
			at.Wait()
		})
	}
	all.Wait()
}
