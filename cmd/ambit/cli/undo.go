package cli

import (
	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/sqlite"
)

func newUndo() *cobra.Command {
	var v commandVerb
	cmd := &cobra.Command{
		Use:   "undo --store FILE (--call ID | --run ID)",
		Short: "Take back what a call, or a run, has done",
		Long: `Undo asks the executor of a store to undo a call, or all calls of a run that
succeeded, the last first. The executor runs the undo handlers; while none runs the
command waits for the next start.`,
		Example: `  ambit undo --store ambit.db --call c7 --reason "wrong file"`,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if (v.Call == "") == (v.Run == "") {
				return usage("undo needs either a call or a run", "add --call ID, or --run ID")
			}
			return v.with(func(r *sqlite.Reader) error {
				find, id := findCall, v.Call
				if id == "" {
					find, id = findRun, v.Run
				}
				row, err := find(cmd.Context(), r, v.Session, id)
				if err != nil {
					return err
				}
				v.Kind, v.Session = runtime.CommandUndo, row.Session
				return v.send(cmd, r, nil)
			})
		},
	}
	v.flags(cmd)
	v.aboutCall(cmd)
	cmd.Flags().StringVar(&v.Run, "run", "", "`id` of the run, instead of a call")
	return cmd
}
