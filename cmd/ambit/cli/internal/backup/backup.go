// Package backup is the verbs "ambit backup" and "ambit restore": a store in use to one file, and
// back.
package backup

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/store"
	"github.com/ambit-tools/ambit/runtime/store/backup"
)

// NewBackup returns "ambit backup".
func NewBackup() *cobra.Command {
	var src backup.Source
	cmd := &cobra.Command{
		Use:   "backup FILE --store FILE",
		Short: "Write all that is needed to restore a store to one file, while it is in use",
		Long: `Backup copies a store, which may be in use, and verifies every entry of the copy. FILE
gets its name when it is whole and on disk; only its owner may read it. It needs room
beside FILE for two copies of the store.

In FILE are the store with the values of its state, its keys, its contents (artifacts
and what files were before calls), the notes anchored beside it, and what verifies its
audit log. The key that signs the audit log is not in it: keep a copy of that key
elsewhere. Neither are the files of a workspace, the policies, and commands that wait in the inbox.

Who can read FILE can forge entries of the store. "ambit restore" puts it back.`,
		Example: `  ambit backup /mnt/backups/ambit-2027-03-01.backup --store var/ambit.db`,
		Args:    cmdutil.OneID("the file to write"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if src.Store == "" {
				return store.Missing()
			}
			src.Report = func(err error) { fmt.Fprintf(cmd.ErrOrStderr(), "warning: %v\n", err) }
			progress := cmdutil.NewProgress(cmd.ErrOrStderr())
			src.Step = func(what string) { progress.Step(what, 0) }
			m, err := backup.Write(cmd.Context(), args[0], src)
			progress.Close()
			if err != nil {
				return cmdutil.Problem(err.Error(), "")
			}
			fmt.Fprintf(cmd.OutOrStdout(), "backed up: %s, %s\n", cmdutil.Entries(m.Entries), cmdutil.Count(m.Contents(), "content"))
			return nil
		},
	}
	store.AddFlag(cmd, &src.Store, "`file` of the store, as the application opens it")
	cmd.Flags().StringVar(&src.Objects, "objects", "", "`directory` of the contents; default: the name of the store and .objects")
	cmd.Flags().StringVar(&src.Anchor, "anchor", "", "`file` of anchored checkpoints that belongs to the store; default: the name of the store and .anchor")
	return cmd
}
