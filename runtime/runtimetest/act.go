package runtimetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
)

// An Act is what a process of a test does: it writes Out and Err, Times times, echoes its input
// where Echo is set, hangs where Hang is set, and ends with Code.
type Act struct {
	Out, Err string
	Times    int // 0: once
	Echo     bool
	Hang     bool
	Stubborn bool // ignores SIGTERM
	Code     int

	// What follows is for a FakeRunner, which does to an act what a host may do to a process.

	Fail   error                  // Run returns it before Started: the program does not run
	Signal string                 // ends the process, in place of Code
	Limit  runtime.LimitName      // that it exceeds, which ends it with SIGKILL
	Stale  bool                   // its watcher falls silent
	Lost   bool                   // its watcher is killed, and Run returns ErrLost
	Usage  runtime.ProcessUsage   // of its exit
	Beats  []runtime.ProcessUsage // what Job.Beat is told: the first at once, each later one a second after that before it while it runs
	Writes []Write                // after Out and Err, before it hangs or ends
}

// A Write is what a process writes after a time.
type Write struct {
	After  time.Duration
	Stream process.Stream
	Text   string
}

// end is how an act ends that nothing ends before.
func (a Act) end(exit *process.Exit) error {
	switch {
	case a.Lost:
		exit.Cause, exit.Code = process.Lost, -1
		return fmt.Errorf("%w: the act says so", process.ErrLost)
	case a.Stale:
		exit.Cause, exit.Code, exit.Signal = process.Stale, -1, "SIGKILL"
	case a.Limit != "":
		exit.Cause, exit.Limit, exit.Code, exit.Signal = process.LimitReached, a.Limit, -1, "SIGKILL"
	case a.Signal != "":
		exit.Code, exit.Signal = -1, a.Signal
	}
	return nil
}

// Script is the act as a script of the POSIX shell, for runners of real processes. Out and Err
// are written as they stand, followed by a line feed each.
func (a Act) Script() string {
	var b strings.Builder
	if a.Stubborn {
		b.WriteString("trap '' TERM\n")
	}
	fmt.Fprintf(&b, "i=0; while [ $i -lt %d ]; do i=$((i+1))\n", max(1, a.Times))
	for fd, text := range []string{a.Out, a.Err} {
		if text != "" {
			fmt.Fprintf(&b, "printf '%%s\\n' %s >&%d\n", quote(text), fd+1)
		}
	}
	b.WriteString(":; done\n")
	if a.Echo {
		b.WriteString("cat\n")
	}
	if a.Hang { // a short sleep: the shell answers a signal between two of them
		b.WriteString("while :; do sleep 0.01; done\n")
	}
	fmt.Fprintf(&b, "exit %d\n", a.Code)
	return b.String()
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func (a Act) text(s string) string {
	if s == "" {
		return ""
	}
	return strings.Repeat(s+"\n", max(1, a.Times))
}
