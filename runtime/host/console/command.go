package console

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/host/internal/legible"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// A shownCommand is what a call runs. The page as a whole escapes what cannot be seen.
type shownCommand struct {
	Title, Sentence string
	Arguments       []shownArgument // the name of the program first; none of a script
	MoreArguments   int             // that are not shown
	Script          string          // of a shell
	More            int             // characters of it that are not shown
	Note            string          // how the arguments are known, or why there are none; empty: the call has them
}

// A shownArgument is one argument, in quotes and on one line: none can pass itself off as two.
type shownArgument struct {
	Text string
	More int // characters that it lacks
}

const (
	maxArguments = 200    // that are shown
	maxScript    = 20_000 // characters of a script, or of all arguments
)

// wouldRun is the title of what a call runs that has not begun.
const wouldRun = "What it would run"

// commandOf returns what a call would run; nil: its tool has a handler.
func commandOf(c *runtime.Invocation) *shownCommand {
	if c == nil {
		return nil
	}
	s := &shownCommand{Title: wouldRun, Sentence: sentenceOf(c)}
	if c.Script != "" {
		s.Script, s.More = cut(c.Script, maxScript)
		return s
	}
	left := maxScript
	for i, a := range c.Argv {
		if i == maxArguments || left <= 0 {
			s.MoreArguments = len(c.Argv) - i
			break
		}
		text, more := cut(legible.JSON(a), maxValue)
		s.Arguments = append(s.Arguments, shownArgument{text, more})
		left -= len(text)
	}
	return s
}

// sentenceOf says what a call runs, where and with which network.
func sentenceOf(c *runtime.Invocation) string {
	what := fmt.Sprintf("The program %s, with %s", legible.JSON(c.Program), numberOf(max(len(c.Argv)-1, 0), "argument"))
	if c.Script != "" {
		what = fmt.Sprintf("The shell %s, with the script below", legible.JSON(c.Program))
	}
	where := "in its folder"
	if c.Dir != "" {
		where = "in the folder " + legible.JSON(c.Dir)
	}
	box := "in the sandbox, without network"
	switch {
	case c.Tier == runtime.TierProcess:
		box = "without a sandbox"
	case c.Network == runtime.NetworkLoopback:
		box = "in the sandbox, with the network of this call alone"
	}
	return fmt.Sprintf("%s, %s, %s.", what, where, box)
}

// numberOf counts things.
func numberOf(n int, of string) string {
	switch n {
	case 0:
		return "no " + of
	case 1:
		return "one " + of
	}
	return fmt.Sprintf("%d %ss", n, of)
}

// edited returns what a call of a tool would run with the arguments of an edit.
func (p *pages) edited(tool string, argv []string) *shownCommand {
	t := p.declared(tool)
	if t == nil || t.Spec().Command == nil || argv == nil {
		return nil
	}
	return commandOf(t.Spec().Command.Invocation(argv))
}

// declared returns a tool by its name; nil: there is none.
func (p *pages) declared(name string) *runtime.Tool {
	t, _, ok := p.exec.Registry().Lookup(name)
	if !ok {
		return nil
	}
	return t
}

// ran returns what a recorded call ran, or would have run; nil: its tool has a handler. The journal
// has no arguments: they are made again, and are not shown where their digest is another one.
func (p *pages) ran(c *recordedCall) *shownCommand {
	entries := c.replan()
	in, err := entries.Plan(p.declared)
	if err != nil {
		return &shownCommand{Title: "What it ran", Note: noteOf(err)}
	}
	s := commandOf(in)
	switch {
	case s == nil:
	case len(entries.Processes) > 0:
		s.Title, s.Note = "What it ran", "Made again of the recorded input. The digest of the arguments is the recorded one."
		if slices.ContainsFunc(entries.Processes, func(r journal.Process) bool { return p.programs.Changed(&r) }) {
			s.Note += " The file of the program is another one now, or gone."
		}
	case c.Ended:
		s.Title, s.Note = "What it would have run", "Nothing was started. The arguments are those of the declaration of now."
	}
	return s
}

// asked returns what the call of a request that is over ran, or would have run, with what was asked about.
func (p *pages) asked(d *approvalPage, c *recordedCall) *shownCommand {
	in, err := c.replan().Asked(&d.Request.Request, p.declared)
	if err != nil {
		return &shownCommand{Title: wouldRun, Note: noteOf(err)}
	}
	return commandOf(in)
}

// noteOf says why a page has no arguments.
func noteOf(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}
