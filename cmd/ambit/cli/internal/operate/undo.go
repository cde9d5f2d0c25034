package operate

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/store"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/host/inbox"
	"github.com/ambit-tools/ambit/runtime/host/terminal"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// NewUndo returns "ambit undo".
func NewUndo() *cobra.Command {
	var v commandVerb
	cmd := &cobra.Command{
		Use:   "undo --store FILE (--call ID | --run ID) [--dry-run]",
		Short: "Take back what a call, or a run, has done",
		Long: `Undo asks the executor of a store to undo a call, or all calls of a run that
succeeded, the last first. The executor runs the undo handlers; while none runs the
command waits for the next start.

Of a run all calls are tried, and what became of each is printed. Calls of tools that
only read leave nothing to undo. The verb fails when one that could be undone was
not; calls that cannot be undone at all are listed as "not undoable".

With --dry-run nothing is undone: the verb prints what would be, as far as that is
known before undo handlers run, and later calls of the session that may have changed
something and share arguments, or an exclusive group, with a call to be undone. It
needs an executor that runs.`,
		Example: `  ambit undo --store ambit.db --call c7 --reason "wrong file"`,
		Args:    cmdutil.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if (v.Call == "") == (v.Run == "") {
				return cmdutil.Usage("undo needs either a call or a run", "add --call ID, or --run ID")
			}
			return v.With(func(r *sqlite.Reader) error {
				find, id := store.FindCall, v.Call
				if id == "" {
					find, id = store.FindRun, v.Run
				}
				row, err := find(cmd.Context(), r, v.Session, id)
				if err != nil {
					return err
				}
				v.Kind, v.Session = inbox.CommandUndo, row.Session
				if v.Call != "" {
					v.Call = row.Call
				} else {
					v.Run = row.Run
				}
				return v.send(cmd, r, nil)
			})
		},
	}
	v.flags(cmd)
	v.aboutCall(cmd)
	cmd.Flags().BoolVar(&v.DryRun, "dry-run", false, "only say what would be undone")
	cmd.Flags().StringVar(&v.Run, "run", "", "`id` of the run, or how it begins, instead of a call")
	return cmd
}

// undoTable prints what became of the calls of a run that was undone.
func undoTable(w io.Writer, calls []journal.UndoneCall, dry bool) {
	if len(calls) == 0 {
		return
	}
	var cells [][]string
	for _, c := range calls {
		text := "undone"
		if dry {
			text = "would be undone"
		}
		switch {
		case c.Reason == string(action.CodeNothingToUndo):
			text = "only reads: nothing to undo"
		case c.Result != "ok":
			text = strings.Join(cmdutil.Distinct(c.Result, c.Reason, terminal.Escape(withoutReason(c.Error, c.Reason))), ": ")
		}
		cells = append(cells, []string{terminal.Escape(c.Call), terminal.Escape(c.Tool), text})
		for _, l := range c.Later {
			cells = append(cells, []string{"", "", fmt.Sprintf("touched since by %s of %s: %s",
				terminal.Escape(l.Call), terminal.Escape(l.Tool), terminal.Escape(strings.Join(l.Shares, ", ")))})
		}
	}
	cmdutil.Table(w, []string{"CALL", "TOOL", "RESULT"}, cells)
}

// leftovers lists the calls of a run that were not undone, and are no reads.
func leftovers(res *inbox.CommandResult) string {
	var text string
	if len(res.Failed) > 0 {
		text += "; failed: " + strings.Join(res.Failed, ", ")
	}
	if len(res.NotUndoable) > 0 {
		text += "; not undoable: " + strings.Join(res.NotUndoable, ", ")
	}
	return text
}
