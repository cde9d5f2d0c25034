package isolate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/isolate/internal/proc"
)

// An initProcess starts the program of a box, watches all processes in it and ends them.
type initProcess struct {
	box     box
	control *os.File
	orders  chan order  // closed when the agent is gone, or wants the end
	reaped  chan reaped // closed when no process is left
	pid     int         // of the program
	ended   bool        // the program has, or everything shall
	exit    report
	tree    tree
}

// A reaped is a process that has ended.
type reaped struct {
	pid    int
	status syscall.WaitStatus
	usage  syscall.Rusage
}

// initialize builds the box, starts the program and waits for its end.
func initialize(namespaces bool) int {
	signal.Notify(make(chan os.Signal, 1)) // a signal does not end init; the program inherits no ignored ones
	p := &initProcess{control: os.NewFile(controlFD, "control"), orders: make(chan order, 1), reaped: make(chan reaped, 64)}
	if !namespaces { // with them the shim says so, which sees the pid from outside
		say(p.control, report{Event: eventReady, PID: os.Getpid()})
	}
	orders := json.NewDecoder(p.control)
	var first order
	if err := orders.Decode(&first); err != nil || first.Box == nil {
		return 0 // the agent does not want the program to run
	}
	p.box = *first.Box
	if err := p.begin(); err != nil {
		say(p.control, failed(err))
		return failure
	}
	say(p.control, report{Event: eventStarted})
	go p.listen(orders)
	go p.reap()
	p.watch()
	say(p.control, p.exit)
	return 0
}

// begin builds the box and starts the program.
func (p *initProcess) begin() error {
	if p.box.Namespaces != (os.Getpid() == 1) { // signal goes by it
		return errors.New("there is no namespace of pids")
	}
	if p.box.Namespaces {
		if err := rooms(&p.box); err != nil {
			return err
		}
	} else if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("subreaper: %w", err)
	}
	if p.box.Tasks > 0 { // the kernel counts the threads of init, too
		own, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return err
		}
		p.box.Tasks += uint64(len(own)) + 2
	}
	return p.start()
}

// start starts the stage and returns when it has become the program.
func (p *initProcess) start() error {
	boxRead, boxWrite, err := os.Pipe()
	if err != nil {
		return err
	}
	errRead, errWrite, err := os.Pipe()
	if err != nil {
		return err
	}
	p.pid, err = syscall.ForkExec("/proc/self/exe", []string{roleStage}, &syscall.ProcAttr{
		Env: ownEnv, Files: []uintptr{0, 1, 2, targetFD, boxRead.Fd(), errWrite.Fd()}, Sys: &syscall.SysProcAttr{Setpgid: true},
	})
	boxRead.Close()
	errWrite.Close()
	if err != nil {
		return fmt.Errorf("stage: %w", err)
	}
	for _, fd := range []int{0, 1, 2, targetFD} {
		_ = unix.Close(fd) // the end of the program's output is not held up by init
	}
	err = json.NewEncoder(boxWrite).Encode(&p.box)
	boxWrite.Close()
	why, _ := io.ReadAll(errRead)
	errRead.Close()
	if len(why) > 0 {
		return errors.New(string(why))
	}
	return err
}

func (p *initProcess) listen(orders *json.Decoder) {
	defer close(p.orders)
	for {
		var o order
		if orders.Decode(&o) != nil {
			return
		}
		p.orders <- o
	}
}

// reap waits for every process of the box: daemons become children of init.
func (p *initProcess) reap() {
	defer close(p.reaped)
	for {
		var r reaped
		pid, err := syscall.Wait4(-1, &r.status, 0, &r.usage)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return
		}
		r.pid = pid
		p.reaped <- r
	}
}

// watch returns when no process of the box is left.
func (p *initProcess) watch() {
	p.exit = report{Event: eventExited, Code: -1, Signal: "SIGKILL"}
	look, beat := time.NewTicker(50*time.Millisecond), time.NewTicker(time.Second)
	sweep := time.NewTicker(time.Millisecond)
	sweep.Stop()
	end := func() {
		p.ended = true
		p.signal(syscall.SIGKILL)
		sweep.Reset(2 * time.Millisecond)
	}
	orders := p.orders
	for {
		select {
		case r, more := <-p.reaped:
			if !more {
				p.exit.Usage = p.tree.total()
				return
			}
			if p.took(r) && !p.ended {
				end()
			}
		case _, more := <-orders:
			if !more {
				orders = nil
				end()
			} else if !p.ended {
				p.signal(syscall.SIGTERM)
			}
		case <-look.C:
			if limit := p.look(); limit != "" && !p.ended {
				p.exit.Limit = limit
				end()
			}
		case <-beat.C:
			p.slowLook()
			p.look() // a limit is for the next one
			say(p.control, report{Event: eventBeat, Usage: p.tree.total()})
		case <-sweep.C:
			p.signal(syscall.SIGKILL)
		}
	}
}

// took adds what a process has used, and says whether it is the program.
func (p *initProcess) took(r reaped) bool {
	p.tree.add(&r.usage)
	if r.pid != p.pid {
		return false
	}
	p.exit.Code, p.exit.Signal = r.status.ExitStatus(), ""
	if r.status.Signaled() {
		p.exit.Code, p.exit.Signal = -1, unix.SignalName(r.status.Signal())
	}
	cpu := time.Duration(r.usage.Utime.Nano() + r.usage.Stime.Nano())
	switch {
	case p.exit.Limit != "":
	case p.exit.Signal == "SIGXFSZ":
		p.exit.Limit = runtime.LimitFile
	case p.exit.Signal == "SIGKILL" && p.box.CPU > 0 && cpu >= time.Duration(p.box.CPU)*time.Second-200*time.Millisecond: // the kernel counts in ticks
		p.exit.Limit = runtime.LimitCPU
	}
	return true
}

// signal sends a signal to all processes of the box but init.
func (p *initProcess) signal(sig syscall.Signal) {
	if p.box.Namespaces {
		_ = syscall.Kill(-1, sig) // all that are in the namespace
		return
	}
	for _, pid := range proc.Descendants(os.Getpid()) {
		_ = syscall.Kill(pid, sig)
	}
}
