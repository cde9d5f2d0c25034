package runtimetest

import (
	"fmt"
	"strings"
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
