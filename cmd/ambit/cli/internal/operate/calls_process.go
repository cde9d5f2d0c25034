package operate

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/internal/running"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/host/terminal"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// printProcess prints a process that a call ran, and what it uses if a heartbeat tells it.
func printProcess(w io.Writer, p *journal.Process, beat *running.Beat) {
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "  %-8s %s\n", name, terminal.Escape(value))
		}
	}
	attempt := ""
	if p.Attempt > 0 {
		attempt = fmt.Sprintf(", attempt %d", p.Attempt)
	}
	fmt.Fprintf(w, "process    %d, isolation %s%s\n", p.ID.PID, p.Tier, attempt)
	line("program", strings.TrimSpace(p.Program+" "+short(p.SHA256)))
	line("argv", short(p.Argv))
	tick := fmt.Sprintf("tick %s of boot %s", cmp.Or(p.ID.Start, "unknown"), cmp.Or(p.ID.Boot, "unknown"))
	if !p.At.IsZero() {
		tick = cmdutil.Instant(p.At) + ", " + tick
	}
	line("started", tick)
	if !p.Due.IsZero() {
		line("due", cmdutil.Instant(p.Due))
	}
	e := p.Exit
	if e == nil {
		line("exit", "none is recorded")
		line("uses", beatWords(beat))
		return
	}
	line("exit", exitWords(e))
	u := e.Usage
	line("used", fmt.Sprintf("cpu %s and %s in the kernel, memory %d bytes at most, read %d and wrote %d bytes",
		u.User.Round(time.Millisecond), u.System.Round(time.Millisecond), u.PeakMemory, u.ReadBytes, u.WriteBytes))
	line("stdout", streamWords(e.Stdout))
	line("stderr", streamWords(e.Stderr))
	if k := p.Kept; k != nil {
		line("kept", fmt.Sprintf("%s, %s, %d bytes", k.SHA256, k.Type, k.Bytes))
	}
	var weaker []string
	for _, l := range e.Weaker {
		weaker = append(weaker, fmt.Sprintf("%s %s", l.Name, l.Level))
	}
	line("limits", strings.Join(weaker, ", "))
}

// exitWords says how a process ended.
func exitWords(e *process.Summary) string {
	words := fmt.Sprintf("code %d", e.Code)
	if e.Signal != "" {
		words = "by " + e.Signal
	}
	if e.Cause == process.Ended { // its deadline, a cancel or a shutdown, as the outcome of the call says
		return words + ", " + e.Cause.String()
	}
	if e.Cause != process.Exited {
		words += ", " + e.Cause.String()
	}
	if e.Limit != "" {
		words += " " + string(e.Limit)
	}
	return strings.Join(cmdutil.NonEmpty(words, string(e.Category)), ": ")
}

func streamWords(s process.StreamEnd) string {
	words := fmt.Sprintf("%s in %s", cmdutil.Count(int(s.Size), "byte"), cmdutil.Count(int(s.Lines), "line"))
	if s.Truncated {
		words += ", of which the beginning and the end are kept"
	}
	return words + strings.TrimRight(" "+short(s.SHA256), " ")
}

// short is the beginning of a digest.
func short(digest string) string {
	if len(digest) > 12 {
		return "sha256:" + digest[:12]
	}
	return digest
}

// beatWords says what a process had used at its last heartbeat, nothing where there is none.
func beatWords(b *running.Beat) string {
	if b == nil {
		return ""
	}
	u := &b.Usage
	return fmt.Sprintf("cpu %s and %s in the kernel, memory %d bytes and %d at most, tasks %d, seen %s",
		u.User.Round(time.Millisecond), u.System.Round(time.Millisecond), u.Memory, u.PeakMemory, u.Processes, cmdutil.Instant(b.Seen))
}
