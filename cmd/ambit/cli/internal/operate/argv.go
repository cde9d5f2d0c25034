package operate

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/project"
	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/internal/replan"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/host/terminal"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// A declaration makes the arguments of commands again, which no store has.
type declaration struct {
	path   string
	loaded map[string]*runtime.Tool // nil: there is none
}

func (d *declaration) addFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&d.path, "declaration", "", "show the arguments of commands by the tools of this `file`; without it that in this folder")
}

// load reads the declaration. One in this folder that was not named may be absent, or wrong.
func (d *declaration) load() error {
	if d.path != "" {
		return d.read(d.path)
	}
	if path, err := project.Locate(nil); err == nil {
		_ = d.read(path)
	}
	return nil
}

// read makes the tools of a declaration.
func (d *declaration) read(path string) error {
	f, err := project.Parse(path)
	if err != nil {
		return err
	}
	tools, err := dynamic.Tools(f, nil)
	if err != nil {
		return err
	}
	d.loaded = map[string]*runtime.Tool{}
	for _, t := range tools {
		d.loaded[t.Name()] = t
	}
	return nil
}

func (d *declaration) tool(name string) *runtime.Tool { return d.loaded[name] }

// A commandView is what a call runs, or why that is not known.
type commandView struct {
	*runtime.Invocation
	Unknown string `json:"unknown,omitempty"`
	Changed bool   `json:"program_changed,omitempty"` // the file of the program is another one now, or gone
}

// ofCall returns what a recorded call ran, or would have run; nil: no process, or d is nil.
func (d *declaration) ofCall(c *replan.Call) *commandView {
	if d == nil {
		return nil
	}
	if d.loaded == nil {
		if len(c.Processes) == 0 {
			return nil
		}
		return &commandView{Unknown: "add --declaration FILE"}
	}
	v := viewOfCommand(c.Plan(d.tool))
	var programs replan.Programs
	for i := range c.Processes {
		if v != nil && programs.Changed(&c.Processes[i]) {
			v.Changed = true
		}
	}
	return v
}

// ofRequest returns what the call of a request would run; nil: its tool has a handler.
func (d *declaration) ofRequest(ctx context.Context, r *sqlite.Reader, q *consent.Request) (*commandView, error) {
	if d.loaded == nil {
		if q.Program == "" {
			return nil, nil
		}
		return &commandView{Unknown: "add --declaration FILE"}, nil
	}
	entries, err := r.Call(ctx, journal.CallKey{Session: q.Session, Call: q.CallID})
	if err != nil {
		return nil, err
	}
	return viewOfCommand(replan.Of(entries).Asked(q, d.tool)), nil
}

func viewOfCommand(in *runtime.Invocation, err error) *commandView {
	switch {
	case err != nil:
		return &commandView{Unknown: err.Error()}
	case in == nil:
		return nil
	}
	return &commandView{Invocation: in}
}

// print prints one argument a line, in quotes, so that none can pass itself off as two.
func (v *commandView) print(w io.Writer, verb string) {
	line := func(name, value string) { fmt.Fprintf(w, "%-10s %s\n", name, terminal.Escape(value)) }
	switch {
	case v == nil:
		return
	case v.Invocation == nil:
		line(verb, "not shown: "+v.Unknown)
		return
	}
	what := fmt.Sprintf("%s, isolation %s, network %s", cmdutil.Quote(v.Program), v.Tier, v.Network)
	if v.Dir != "" {
		what += ", in the folder " + cmdutil.Quote(v.Dir)
	}
	line(verb, what)
	for i, a := range v.Argv {
		line(fmt.Sprintf("  argv[%d]", i), cmdutil.Quote(a))
	}
	if v.Changed {
		line("", "the file of the program is another one now, or gone")
	}
}
