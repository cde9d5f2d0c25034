package isolate

import (
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Descriptors of shim, init and stage.
const (
	controlFD = 3 // of shim and init: the socket to the agent
	targetFD  = 4 // of shim and init: the program

	programFD = 3 // of the stage
	boxFD     = 4
	errorFD   = 5
)

var roles = map[string]func() int{
	roleShim:  shim,
	rolePlain: func() int { return initialize(false) },
	roleInit:  func() int { return initialize(true) },
	roleStage: stage,
	roleProbe: probe,
}

// failure is the exit code of a process of the box that could not do its work.
const failure = 125

// shim clones init into namespaces of its own and waits for it.
func shim() int {
	runtime.LockOSThread() // Pdeathsig is about this thread
	control := os.NewFile(controlFD, "control")
	pid, err := syscall.ForkExec("/proc/self/exe", []string{roleInit}, &syscall.ProcAttr{
		Files: []uintptr{0, 1, 2, controlFD, targetFD}, Env: ownEnv,
		Sys: &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
			AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP}, // in the namespaces: to build the box
			Pdeathsig:   syscall.SIGKILL,
		},
	})
	if err != nil {
		say(control, failed(fmt.Errorf("namespaces: %w", err)))
		return failure
	}
	say(control, report{Event: eventReady, PID: pid})
	control.Close() // the end of init is the end of the socket
	for {
		if _, err := syscall.Wait4(pid, nil, 0, nil); err != syscall.EINTR {
			return 0
		}
	}
}
