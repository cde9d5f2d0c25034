//go:build linux && (amd64 || arm64)

// Hostclass runs a program as on a host of another class, so that the tests of commands, and what they
// skip there, can be tried on one host as root (.ci/skips/check).
//
//	hostclass CLASS... -- PROGRAM ARGUMENT...
//
// The class no-namespaces refuses namespaces and mounts by a filter of system calls, as the default
// profile of Docker does. The class ordinary-user gives up root, for a copy of the program that this
// user can read.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// nobody is the ordinary user.
const nobody = 65534

func main() {
	runtime.LockOSThread() // Pdeathsig is about this thread
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "hostclass:", err)
		code = 1
	}
	os.Exit(code)
}

func run(args []string) (code int, err error) {
	end := slices.Index(args, "--")
	if end < 0 || end+1 == len(args) {
		return 0, errors.New("want the classes, --, and a program with its arguments")
	}
	classes, command := args[:end], args[end+1:]
	c := exec.Command(command[0], command[1:]...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	for _, class := range classes {
		switch class {
		case "no-namespaces":
			if err := refuseNamespaces(); err != nil {
				return 0, err
			}
		case "ordinary-user":
			dir, err := becomeOrdinary(c)
			defer os.RemoveAll(dir)
			if err != nil {
				return 0, err
			}
		default:
			return 0, fmt.Errorf("unknown class %q: want no-namespaces or ordinary-user", class)
		}
	}
	var exit *exec.ExitError
	if err := c.Run(); err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	if status, ok := c.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal()), nil
	}
	return c.ProcessState.ExitCode(), nil
}

// becomeOrdinary makes a command that of an ordinary user, with a folder of its own, which it returns.
func becomeOrdinary(c *exec.Cmd) (dir string, err error) {
	if dir, err = os.MkdirTemp("", "hostclass-"); err != nil {
		return "", err
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		return dir, err
	}
	text, err := os.ReadFile(c.Path)
	if err != nil {
		return dir, err
	}
	c.Path = filepath.Join(dir, filepath.Base(c.Path))
	if err := os.WriteFile(c.Path, text, 0o755); err != nil {
		return dir, err
	}
	c.Env = append(os.Environ(), "HOME="+dir, "TMPDIR="+dir, "GOCACHE="+filepath.Join(dir, "go-build"))
	c.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	return dir, nil
}

// refuseNamespaces refuses this process, and what it starts, what makes namespaces. It needs root, since
// no_new_privs, which others need for a filter, would be seen by what runs.
func refuseNamespaces() error {
	const (
		spaces   = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
		argument = 16
	)
	load := func(at uint32) unix.SockFilter { return unix.SockFilter{Code: 0x20, K: at} }
	ret := func(k uint32) unix.SockFilter { return unix.SockFilter{Code: 0x06, K: k} }
	call := func(n uint32, decide ...unix.SockFilter) []unix.SockFilter {
		return append([]unix.SockFilter{{Code: 0x15, Jf: uint8(len(decide)), K: n}}, decide...)
	}
	refuse := ret(unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM))
	allow := ret(unix.SECCOMP_RET_ALLOW)
	program := slices.Concat(
		[]unix.SockFilter{load(0)},
		call(unix.SYS_CLONE, load(argument), unix.SockFilter{Code: 0x45, Jf: 1, K: spaces}, refuse, allow),
		call(unix.SYS_CLONE3, ret(unix.SECCOMP_RET_ERRNO|uint32(unix.ENOSYS))), // its flags are in memory
		call(unix.SYS_UNSHARE, refuse), call(unix.SYS_SETNS, refuse), call(unix.SYS_MOUNT, refuse),
		[]unix.SockFilter{allow},
	)
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if _, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&filter))); e != 0 {
		return fmt.Errorf("seccomp: %w", e)
	}
	runtime.KeepAlive(program)
	return nil
}
