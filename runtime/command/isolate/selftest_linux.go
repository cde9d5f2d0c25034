package isolate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/isolate/internal/sock"
	"github.com/ambit-tools/ambit/runtime/command/process"
)

// A bait is what stands outside of the box of a self-test.
type bait struct {
	Secret string // a file
	Folder string // to write into
	TCP    int    // a port on 127.0.0.1
	Unix   string // the path of a socket
	Agent  int    // a pid
}

// examine builds boxes, the strongest first, and attacks from inside. It never takes a
// mechanism for granted because the kernel says that it has it.
func (r *Runner) examine() *Host {
	h := thisHost()
	h.Landlock = landlockVersion()
	if auditArch == 0 || h.Landlock < minLandlock {
		h.WhyNot = fmt.Sprintf("it needs Landlock version %d (this kernel has %d; Linux 6.2 with CONFIG_SECURITY_LANDLOCK) on amd64 or arm64", minLandlock, h.Landlock)
		return h
	}
	if !r.plain {
		err := r.selfTest(true)
		if err == nil {
			h.Sandbox, h.Namespaces = true, true
			return h
		}
		h.WhyNot = "namespaces: " + err.Error()
	} else {
		h.WhyNot = "namespaces: switched off by Options.WithoutNamespaces"
	}
	if err := r.selfTest(false); err != nil {
		h.WhyNot += "; without them: " + err.Error()
		return h
	}
	h.Sandbox = true
	return h
}

// selfTest is nil when a box holds against each attack of probe.
func (r *Runner) selfTest(namespaces bool) error {
	dir, err := os.MkdirTemp(r.folder, "ambit-selftest-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := bait{Secret: filepath.Join(dir, "secret"), Folder: dir, Unix: filepath.Join(dir, "s"), Agent: os.Getpid()}
	if err := os.WriteFile(b.Secret, []byte("s"), 0o600); err != nil {
		return err
	}
	tcp, err := sock.Listen(unix.AF_INET, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
	if err != nil {
		return err
	}
	defer unix.Close(tcp)
	addr, err := unix.Getsockname(tcp)
	if err != nil {
		return err
	}
	b.TCP = addr.(*unix.SockaddrInet4).Port
	if fd, err := sock.Listen(unix.AF_UNIX, &unix.SockaddrUnix{Name: b.Unix}); err == nil { // the path may be too long for one
		defer unix.Close(fd)
	}
	program, err := os.Open(self)
	if err != nil {
		return err
	}
	defer program.Close()
	text, _ := json.Marshal(b)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	spec := &process.Spec{Limits: runtime.ProcessLimits{Memory: 1 << 30, Output: 4 << 10, Scratch: 1 << 20, File: 1 << 20, Files: 64}}
	exit, err := r.run(ctx, &process.Job{Spec: spec, Argv: []string{roleProbe}, Env: []string{"BAIT=" + string(text)}},
		program, process.Enforcement{Namespaces: namespaces})
	switch {
	case err != nil:
		return err
	case exit.Code != 0 || exit.Cause != process.Exited:
		return fmt.Errorf("the self-test got out by: %s %s", strings.TrimSpace(string(exit.Stdout.Head)), exit.Signal)
	}
	return nil
}

// probe is the program of a self-test: it prints the attacks that succeed.
func probe() int {
	var b bait
	if err := json.Unmarshal([]byte(os.Getenv("BAIT")), &b); err != nil {
		fmt.Print("no bait")
		return failure
	}
	failed := 0
	try := func(name string, err error) {
		if err == nil {
			failed++
			fmt.Print(name, " ")
		}
	}
	_, err := os.ReadFile(b.Secret)
	try("reading a file", err)
	try("writing a file", os.WriteFile(filepath.Join(b.Folder, "x"), nil, 0o600))
	try("changing the mode of a file", os.Chmod(b.Secret, 0o644))
	try("connecting", sock.Dial(unix.AF_INET, &unix.SockaddrInet4{Port: b.TCP, Addr: [4]byte{127, 0, 0, 1}}))
	try("connecting to a path", sock.Dial(unix.AF_UNIX, &unix.SockaddrUnix{Name: b.Unix}))
	try("a signal", otherPID(b.Agent))
	if err := os.WriteFile(filepath.Join(os.Getenv("HOME"), "x"), nil, 0o600); err != nil {
		fmt.Print("the private folder cannot be written: ", err)
		return failure
	}
	return failed
}

// otherPID signals a process. In a namespace of pids its number may be that of init.
func otherPID(pid int) error {
	if os.Getppid() == 1 && (pid == 1 || pid == os.Getpid()) {
		return errors.New("it is the number of a process of this box")
	}
	return syscall.Kill(pid, 0)
}
