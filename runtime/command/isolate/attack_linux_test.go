package isolate_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A target is what stands outside of a box for the attacks to reach.
type target struct {
	Name                               string // of what an attack makes
	Secret, Outside, Workspace         string
	TCP, UDP, Unix, Datagram, Abstract string
	Agent                              int
	Loopback                           bool // the box has one of its own
}

// An attack is run in a box. It returns nil when it got what it was after.
type attack struct {
	name    string
	do      func(target) error
	needs   need
	unboxed when
}

type need int

const (
	anyBox need = iota
	noLoopback
	onlyLoopback
)

// A when says whether an attack runs without a box, to see that it works.
type when int

const (
	always when = iota
	asRoot      // works only as root
	never       // would harm the host
)

func attacks() (all []attack) {
	for _, list := range [][]attack{attacksOnFiles, attacksOnNetwork, attacksOnProcesses, attacksOnKernel} {
		all = append(all, list...)
	}
	return all
}

func control(name string) bool { return strings.HasPrefix(name, "control: ") }

// act is the program of the tests, in a process that a test has started; it does not return there.
func act() {
	switch what := os.Getenv("AMBIT_ACT"); what {
	case "":
		return
	case "hold":
		hold(100)
		linger()
	case "burn":
		burn(1)
	case "flood":
		flood()
	case "agent":
		agent()
	case "gulp":
		gulp()
	case "reuse":
		if err := reuse(); err != nil {
			fmt.Println(err)
			syscall.Exit(1)
		}
	case "attacks":
		for _, a := range attacks() {
			report(a)
		}
	case "hide":
		hide()
	default:
		if key, ok := strings.CutPrefix(what, "segment "); ok {
			leaveSegment(key)
		}
		if left, ok := strings.CutPrefix(what, "out of "); ok {
			if err := outOf(left); err != nil {
				fmt.Println(err)
				syscall.Exit(1)
			}
		}
		for _, a := range slices.Concat(attacksOnMemory, attacksOnCPU, attacksByNumber, attacksOnLimits) {
			if a.name == what {
				report(a)
			}
		}
	}
	syscall.Exit(0) // not os.Exit: a build that measures coverage would write a warning to stderr
}

// hide makes this process one that cannot be dumped, and says whether it is.
func hide() {
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	if on, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); err == nil && on == 0 {
		fmt.Println("hidden")
		return
	}
	fmt.Println("seen")
}

func leaveSegment(key string) {
	n, _ := strconv.Atoi(key)
	if _, err := unix.SysvShmGet(n, 4096, unix.IPC_CREAT|0o600); err == nil {
		fmt.Println("made")
	}
}

// report runs an attack, unless it is not for this box, and prints LEAK or STOP.
func report(a attack) {
	var e target
	if err := json.Unmarshal([]byte(os.Getenv("AMBIT_TARGET")), &e); err != nil {
		panic(err)
	}
	unboxed := os.Getenv("AMBIT_UNBOXED") != ""
	if a.needs == noLoopback && e.Loopback || a.needs == onlyLoopback && !e.Loopback || unboxed && a.unboxed == never {
		return
	}
	if err := a.do(e); err != nil {
		fmt.Printf("STOP\t%s\t%v\n", a.name, err)
		return
	}
	fmt.Printf("LEAK\t%s\n", a.name)
}

func touch(b []byte) {
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
}

var held [][]byte

func hold(mib int) {
	for range mib {
		b := make([]byte, 1<<20)
		touch(b)
		held = append(held, b)
	}
}

// linger gives a watcher the time to look.
func linger() { time.Sleep(1500 * time.Millisecond) }

// burn uses seconds of CPU, as the kernel counts them.
func burn(seconds int64) {
	for {
		for i := range 1_000_000 {
			_ = i * i
		}
		var ru syscall.Rusage
		if _ = syscall.Getrusage(syscall.RUSAGE_SELF, &ru); ru.Utime.Nano()+ru.Stime.Nano() > seconds*1e9 {
			return
		}
	}
}

// family starts processes of this program that do something each, and waits for them.
func family(n int, what string) error {
	var all []*exec.Cmd
	for range n {
		c := exec.Command("/proc/self/exe")
		c.Env = append(os.Environ(), "AMBIT_ACT="+what)
		if err := c.Start(); err != nil {
			return err
		}
		all = append(all, c)
	}
	for _, c := range all {
		if err := c.Wait(); err != nil {
			return err
		}
	}
	return nil
}

func fill(name string, mib int) error {
	f, err := os.Create(private(name))
	if err != nil {
		return err
	}
	defer f.Close()
	b := make([]byte, 1<<20)
	for range mib {
		if _, err := f.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// flood writes AMBIT_BYTES to stdout.
func flood() {
	var n int64
	if _, err := fmt.Sscan(os.Getenv("AMBIT_BYTES"), &n); err != nil {
		panic(err)
	}
	b := make([]byte, 1<<16)
	for n > 0 {
		wrote, err := unix.Write(1, b[:min(n, int64(len(b)))]) // short when a signal comes
		if err != nil {
			panic(err)
		}
		n -= int64(wrote)
	}
}
