package operate

import (
	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/store"
	"github.com/ambit-tools/ambit/runtime/host/inbox"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// NewCancel returns "ambit cancel".
func NewCancel() *cobra.Command {
	var v commandVerb
	cmd := &cobra.Command{
		Use:   "cancel --store FILE --call ID",
		Short: "End a call that runs, or waits",
		Example: `  ambit cancel --store ambit.db --call c7 --reason "it takes too long"
  ambit cancel --store ambit.db --call c7 --now`,
		Args: cmdutil.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return v.sendAboutCall(cmd, inbox.CommandCancel)
		},
	}
	v.flags(cmd)
	v.aboutCall(cmd)
	cmd.Flags().BoolVar(&v.Now, "now", false, "end the process of a command with SIGKILL, without its grace")
	return cmd
}

// sendAboutCall sends a command that is about one call.
func (v *commandVerb) sendAboutCall(cmd *cobra.Command, kind string) error {
	if v.Call == "" {
		return cmdutil.Usage(cmd.Name()+" needs a call", "add --call ID")
	}
	return v.With(func(r *sqlite.Reader) error {
		row, err := store.FindCall(cmd.Context(), r, v.Session, v.Call)
		if err != nil {
			return err
		}
		v.Kind, v.Session, v.Call = kind, row.Session, row.Call
		return v.send(cmd, r, nil)
	})
}
