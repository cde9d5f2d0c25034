package isolate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ambit-tools/ambit/runtime"
)

// Descriptors of init, and of the stage.
const (
	controlFD = 3 // of init: the socket to the agent
	targetFD  = 4 // of init: the program

	programFD = 3 // of the stage
	boxFD     = 4
)

var roles = map[string]func() int{rolePlain: initialize, roleStage: stage}

const failure = 125

// initialize starts the program in a process group of its own and ends the group with it, or
// with the socket. A process that leaves the group lives on.
func initialize() int {
	signal.Notify(make(chan os.Signal, 1))
	control := os.NewFile(controlFD, "control")
	say(control, report{Event: eventReady, PID: os.Getpid()})
	from := json.NewDecoder(control)
	var first order
	if from.Decode(&first) != nil || first.Box == nil {
		return 0
	}
	pid, err := startStage(first.Box)
	if err != nil {
		say(control, failed(err))
		return failure
	}
	say(control, report{Event: eventStarted})
	go func() {
		for {
			var o order
			if from.Decode(&o) != nil {
				_ = syscall.Kill(-pid, syscall.SIGKILL)
				return
			}
			_ = syscall.Kill(-pid, syscall.SIGTERM)
		}
	}()
	go func() {
		for range time.Tick(time.Second) {
			say(control, report{Event: eventBeat})
		}
	}()
	say(control, await(pid))
	return 0
}

// await returns how the program ended, after the rest of its group.
func await(pid int) report {
	var ws syscall.WaitStatus
	var ru syscall.Rusage
	for {
		if _, err := syscall.Wait4(pid, &ws, 0, &ru); err != syscall.EINTR {
			break
		}
	}
	_ = syscall.Kill(-pid, syscall.SIGKILL)
	rep := report{Event: eventExited, Code: ws.ExitStatus(), Usage: runtime.ProcessUsage{
		User: time.Duration(ru.Utime.Nano()), System: time.Duration(ru.Stime.Nano()), PeakMemory: ru.Maxrss,
	}}
	if ws.Signaled() {
		rep.Code, rep.Signal = -1, unix.SignalName(ws.Signal())
	}
	if rep.Signal == "SIGXCPU" {
		rep.Limit = runtime.LimitCPU
	}
	if rep.Signal == "SIGXFSZ" {
		rep.Limit = runtime.LimitFile
	}
	return rep
}

func startStage(b *box) (int, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	pid, err := syscall.ForkExec(self, []string{roleStage}, &syscall.ProcAttr{
		Env: ownEnv, Files: []uintptr{0, 1, 2, targetFD, read.Fd()}, Sys: &syscall.SysProcAttr{Setpgid: true},
	})
	read.Close()
	for _, fd := range []int{0, 1, 2, targetFD} {
		_ = unix.Close(fd)
	}
	if err == nil {
		err = json.NewEncoder(write).Encode(b)
	}
	write.Close()
	return pid, err
}

// stage sets the limits and executes the program by the path of its descriptor: macOS cannot
// execute a descriptor.
func stage() int {
	var b box
	if err := json.NewDecoder(os.NewFile(boxFD, "box")).Decode(&b); err != nil {
		return failure
	}
	fmt.Fprintln(os.Stderr, "ambit:", becomeProgram(&b))
	return failure
}

func becomeProgram(b *box) error {
	if err := os.Chdir(b.Dir); err != nil {
		return err
	}
	var path [unix.PathMax]byte
	if _, _, e := unix.Syscall(unix.SYS_FCNTL, programFD, unix.F_GETPATH, uintptr(unsafe.Pointer(&path[0]))); e != 0 {
		return e
	}
	for fd := programFD; fd < 1<<10; fd++ {
		unix.CloseOnExec(fd)
	}
	for _, l := range []struct {
		what int
		most uint64
	}{{unix.RLIMIT_CORE, 0}, {unix.RLIMIT_CPU, b.CPU}, {unix.RLIMIT_NOFILE, b.Files}, {unix.RLIMIT_FSIZE, b.File}, {unix.RLIMIT_DATA, b.Data}} {
		if l.most == 0 && l.what != unix.RLIMIT_CORE {
			continue
		}
		if err := unix.Setrlimit(l.what, &unix.Rlimit{Cur: l.most, Max: l.most}); err != nil {
			return err
		}
	}
	return syscall.Exec(string(path[:bytes.IndexByte(path[:], 0)]), b.Argv, b.Env)
}
