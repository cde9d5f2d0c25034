package console

import (
	"fmt"

	"github.com/ambit-tools/ambit/runtime/internal/legible"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/process"
)

// A shownCommand is what a call would run, written so that it is safe to show.
type shownCommand struct {
	Arguments, Script string // the arguments each in quotes; or the script of a shell
	More              int    // characters that are not shown
	Program, Dir      string
	Tier, Network     string
}

// commandOf returns what a call would run; nil: its tool has a handler.
func commandOf(c *process.Invocation) *shownCommand {
	if c == nil {
		return nil
	}
	const most = 20_000
	s := &shownCommand{Program: legible.Line(c.Program), Dir: legible.Line(c.Dir), Tier: c.Tier.String(), Network: c.Network.String()}
	if c.Script != "" {
		s.Script, s.More = cut(legible.Block(c.Script), most)
	} else {
		s.Arguments, s.More = cut(legible.List(c.Argv), most)
	}
	return s
}

// A shownProcess is a process that a call ran.
type shownProcess struct {
	PID                            int
	Program, Hash, Argv, Tier, End string
	Facts                          []string
}

// processesOf returns the processes of a call.
func processesOf(list []journal.Process) (shown []shownProcess) {
	for i := range list {
		p := &list[i]
		s := shownProcess{PID: p.ID.PID, Program: legible.Line(p.Program), Hash: p.SHA256, Argv: p.Argv, Tier: p.Tier.String(), End: "no end is recorded"}
		if e := p.Exit; e != nil {
			s.End = fmt.Sprintf("exit code %d", e.Code)
			if e.Signal != "" {
				s.End = "ended by " + e.Signal
			}
			if e.Cause != process.Exited {
				s.End += ", " + e.Cause.String()
			}
			if e.Limit != "" {
				s.End += " (" + string(e.Limit) + ")"
			}
			s.Facts = []string{
				fmt.Sprintf("CPU %s", took(e.Usage.User+e.Usage.System)), fmt.Sprintf("memory %d bytes", e.Usage.PeakMemory),
				fmt.Sprintf("stdout %d bytes", e.Stdout.Size), fmt.Sprintf("stderr %d bytes", e.Stderr.Size),
			}
			for _, l := range e.Weaker {
				s.Facts = append(s.Facts, fmt.Sprintf("%s %s", l.Name, l.Level))
			}
		}
		shown = append(shown, s)
	}
	return shown
}
