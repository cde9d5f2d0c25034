package cli

import (
	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/runtime/inbox"

	"github.com/ambit-tools/ambit/runtime/sqlite"
)

func newCancel() *cobra.Command {
	var v commandVerb
	cmd := &cobra.Command{
		Use:     "cancel --store FILE --call ID",
		Short:   "End a call that runs, or waits",
		Example: `  ambit cancel --store ambit.db --call c7 --reason "it takes too long"`,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return v.sendAboutCall(cmd, inbox.CommandCancel)
		},
	}
	v.flags(cmd)
	v.aboutCall(cmd)
	return cmd
}

// sendAboutCall sends a command that is about one call.
func (v *commandVerb) sendAboutCall(cmd *cobra.Command, kind string) error {
	if v.Call == "" {
		return usage(cmd.Name()+" needs a call", "add --call ID")
	}
	return v.with(func(r *sqlite.Reader) error {
		row, err := findCall(cmd.Context(), r, v.Session, v.Call)
		if err != nil {
			return err
		}
		v.Kind, v.Session, v.Call = kind, row.Session, row.Call
		return v.send(cmd, r, nil)
	})
}
