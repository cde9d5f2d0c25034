package isolate_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

func call(n, a, b, c, d, e uintptr) error {
	_, _, errno := unix.Syscall6(n, a, b, c, d, e, 0)
	if errno == 0 {
		return nil
	}
	return errno
}

// refused says whether the call itself was: another error means that it has reached the kernel.
func refused(err error) error {
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EACCES) {
		return err
	}
	return nil
}

func ofParent(file string) string { return "/proc/" + strconv.Itoa(os.Getppid()) + "/" + file }

// attacksOnProcesses are about other processes, first of all the one above.
var attacksOnProcesses = []attack{
	{name: "signal the agent", do: func(e target) error {
		if e.Agent == os.Getpid() || e.Agent == os.Getppid() && e.Agent == 1 {
			return errors.New("the number is that of a process of the box")
		}
		return syscall.Kill(e.Agent, 0)
	}},
	{name: "signal the process above", do: func(target) error { return syscall.Kill(os.Getppid(), 0) }},
	{name: "the environment of the agent", do: func(e target) error {
		text, err := os.ReadFile("/proc/" + strconv.Itoa(e.Agent) + "/environ")
		if err == nil && !bytes.Contains(text, []byte("TOPSECRET")) {
			return errors.New("it is that of another process")
		}
		return err
	}},
	{name: "a secret in the own environment", do: func(target) error {
		if os.Getenv("TOPSECRET") == "" {
			return errors.New("not inherited")
		}
		return nil
	}},
	{name: "ptrace the process above", unboxed: never, do: func(target) error {
		runtime.LockOSThread()
		return syscall.PtraceAttach(os.Getppid())
	}},
	{name: "open the memory of the process above", do: func(target) error {
		f, err := os.OpenFile(ofParent("mem"), os.O_RDWR, 0)
		if err == nil {
			f.Close()
		}
		return err
	}},
	{name: "read the memory of the process above", do: func(target) error {
		var b [8]byte
		local := []unix.Iovec{{Base: &b[0], Len: 8}}
		_, err := unix.ProcessVMReadv(os.Getppid(), local, []unix.RemoteIovec{{Base: 0x400000, Len: 8}}, 0)
		return refused(err)
	}},
	{name: "the root of the process above", do: func(e target) error { _, err := os.ReadFile(ofParent("root") + e.Secret); return err }},
	{name: "a descriptor of the process above", do: func(target) error {
		fd, err := unix.PidfdOpen(os.Getppid(), 0)
		if err != nil {
			return err
		}
		_, err = unix.PidfdGetfd(fd, 3, 0)
		return refused(err)
	}},
	{name: "the limits of the process above", do: func(target) error { // sets what is set
		var old unix.Rlimit
		if err := unix.Prlimit(os.Getppid(), unix.RLIMIT_CORE, nil, &old); err != nil {
			return err
		}
		return unix.Prlimit(os.Getppid(), unix.RLIMIT_CORE, &old, nil)
	}},
	{name: "the processors of the agent", do: func(e target) error { // sets what is set
		var set unix.CPUSet
		if err := unix.SchedGetaffinity(e.Agent, &set); err != nil {
			return err
		}
		return unix.SchedSetaffinity(e.Agent, &set)
	}},
	{name: "the priority of the agent", do: func(e target) error {
		p, err := unix.Getpriority(unix.PRIO_PROCESS, e.Agent)
		if err != nil {
			return err
		}
		return unix.Setpriority(unix.PRIO_PROCESS, e.Agent, 20-p)
	}},
}

// attacksOnKernel are calls that change the host or have been the way out of boxes.
var attacksOnKernel = []attack{
	{name: "capabilities", unboxed: asRoot, do: func(target) error {
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var have [2]unix.CapUserData
		if err := unix.Capget(&header, &have[0]); err != nil {
			return err
		}
		if have[0].Effective|have[0].Permitted|have[1].Effective|have[1].Permitted == 0 {
			return errors.New("none")
		}
		return nil
	}},
	{name: "new privileges by a program", do: func(target) error {
		if on, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); err != nil || on == 1 {
			return errors.New("no_new_privs")
		}
		return nil
	}},
	{name: "a user namespace by unshare", do: func(target) error { // not of this process: it has threads
		return refused(call(unix.SYS_UNSHARE, unix.CLONE_NEWUSER, 0, 0, 0, 0))
	}},
	{name: "a user namespace by clone", do: func(target) error {
		c := exec.Command("/bin/true")
		c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER}
		return c.Run()
	}},
	{name: "clone3", do: func(target) error { // with a size that no kernel takes
		var args [8]uint64
		return refused(call(unix.SYS_CLONE3, uintptr(unsafe.Pointer(&args)), 1, 0, 0, 0))
	}},
	{name: "mount", do: func(e target) error { return unix.Mount("tmpfs", os.Getenv("HOME"), "tmpfs", 0, "") }},
	{name: "chroot", unboxed: never, do: func(e target) error { return unix.Chroot("/usr") }},
	{name: "io_uring", do: func(target) error { return refused(call(unix.SYS_IO_URING_SETUP, 4, 0, 0, 0, 0)) }},
	{name: "bpf", do: func(target) error { return refused(call(unix.SYS_BPF, 9999, 0, 0, 0, 0)) }},
	{name: "userfaultfd", do: func(target) error { return refused(call(unix.SYS_USERFAULTFD, 1<<20, 0, 0, 0, 0)) }},
	{name: "keys", do: func(target) error {
		name := [2]byte{'x'}
		return refused(call(unix.SYS_ADD_KEY, uintptr(unsafe.Pointer(&name)), 0, 0, 0, 0))
	}},
	{name: "fanotify", do: func(target) error { return refused(call(unix.SYS_FANOTIFY_INIT, 1<<30, 0, 0, 0, 0)) }},
	{name: "personality", do: func(target) error { return call(unix.SYS_PERSONALITY, 0xffffffff, 0, 0, 0, 0) }},
	{name: "typing into a terminal", do: func(target) error {
		b := byte('x')
		return refused(call(unix.SYS_IOCTL, 0, 0x5412, uintptr(unsafe.Pointer(&b)), 0, 0))
	}},
	{name: "memfd_create", do: func(target) error { _, err := unix.MemfdCreate("x", 0); return err }},
	{name: "memfd_secret", do: func(target) error {
		if err := call(unix.SYS_MEMFD_SECRET, 0, 0, 0, 0, 0); err != nil {
			return err
		}
		return nil
	}},
	{name: "a segment of System V memory", do: func(target) error {
		id, err := unix.SysvShmGet(unix.IPC_PRIVATE, 4096, unix.IPC_CREAT|0o600)
		if err == nil {
			_, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil)
		}
		return err
	}},
	{name: "a POSIX queue", do: func(e target) error {
		name, _ := unix.BytePtrFromString(e.Name)
		if err := call(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(name)), unix.O_CREAT|unix.O_RDWR, 0o600, 0, 0); err != nil {
			return err
		}
		return call(unix.SYS_MQ_UNLINK, uintptr(unsafe.Pointer(name)), 0, 0, 0, 0)
	}},
}

// What follows uses more than is allowed. Each attack has a box to itself and none runs without one.
var attacksOnMemory = []attack{
	{name: "1 GiB of memory", unboxed: never, do: func(target) error { hold(1024); return nil }},
	{name: "1 GiB of memory that is shared", unboxed: never, do: func(target) error {
		b, err := unix.Mmap(-1, 0, 1<<30, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANONYMOUS)
		if err != nil {
			return err
		}
		touch(b)
		linger()
		return nil
	}},
	{name: "1 GiB of shared memory that its toucher left", unboxed: never, do: func(target) error {
		b, err := unix.Mmap(-1, 0, 1<<30, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANONYMOUS)
		if err != nil {
			return err
		}
		for i := 0; i < len(b); i += 64 << 20 {
			touch(b[i : i+64<<20]) // the kernel keeps what this process no longer maps to itself
			if err := unix.Madvise(b[i:i+64<<20], unix.MADV_DONTNEED); err != nil {
				return err
			}
		}
		linger()
		return nil
	}},
	{name: "500 MiB in detached segments", unboxed: never, do: func(target) error {
		for range 5 {
			id, err := unix.SysvShmGet(unix.IPC_PRIVATE, 100<<20, unix.IPC_CREAT|0o600)
			if err != nil {
				return err
			}
			b, err := unix.SysvShmAttach(id, 0, 0)
			if err != nil {
				return err
			}
			touch(b)
			if err := unix.SysvShmDetach(b); err != nil {
				return err
			}
		}
		linger()
		return nil
	}},
	{name: "500 MiB in descriptors of a hidden process", unboxed: never, do: func(target) error {
		if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
			return err
		}
		text := make([]byte, 1<<20)
		for range 34 { // each below the limit of a file
			fd, err := unix.MemfdCreate("x", 0)
			for i := 0; i < 15 && err == nil; i++ {
				_, err = unix.Write(fd, text)
			}
			if err != nil {
				return err
			}
		}
		linger()
		return nil
	}},
	{name: "memory of a tree, 8 times 100 MiB", unboxed: never, do: func(target) error { return family(8, "hold") }},
}

var attacksOnCPU = []attack{
	{name: "4 s of CPU", unboxed: never, do: func(target) error { burn(4); return nil }},
	{name: "4 s of CPU in four processes", unboxed: never, do: func(target) error { return family(4, "burn") }},
}

var attacksByNumber = []attack{
	{name: "200 processes", unboxed: never, do: func(target) error {
		for range 200 {
			c := exec.Command("/bin/sleep", "10")
			if err := c.Start(); err != nil {
				return err
			}
			_ = c.Process.Release()
		}
		linger()
		return nil
	}},
	{name: "500 processes of a shell", unboxed: never, do: func(target) error {
		out, err := exec.Command("/bin/sh", "-c", "i=0; while [ $i -lt 500 ]; do sleep 10 & i=$((i+1)); done; sleep 2; echo all").CombinedOutput()
		if !bytes.Contains(out, []byte("all")) {
			return fmt.Errorf("%w %.100s", err, out)
		}
		if bytes.Contains(out, []byte("annot fork")) || bytes.Contains(out, []byte("esource")) {
			return errors.New("cannot fork")
		}
		return nil
	}},
}

var attacksOnLimits = []attack{
	{name: "10,000 descriptors", unboxed: never, do: func(target) error {
		for range 10_000 {
			if _, err := unix.Open("/dev/null", unix.O_RDONLY, 0); err != nil {
				return err
			}
		}
		return nil
	}},
	{name: "a file of 256 MiB", unboxed: never, do: func(target) error { return fill("big", 256) }},
	{name: "64 MiB in the private folder", unboxed: never, do: func(target) error {
		for i := range 8 {
			if err := fill(fmt.Sprint("part", i), 8); err != nil {
				return err
			}
		}
		linger()
		return nil
	}},
	{name: "a call by the numbers of x32", unboxed: never, do: func(target) error {
		if runtime.GOARCH != "amd64" {
			return errors.New("there are none")
		}
		_ = call(0x40000000+unix.SYS_GETPID, 0, 0, 0, 0, 0)
		return nil // the process lives
	}},
}
