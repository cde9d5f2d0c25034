package backup

import (
	"errors"
	"fmt"
	"os/user"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/store"
	"github.com/ambit-tools/ambit/runtime/store/audit"
	"github.com/ambit-tools/ambit/runtime/store/backup"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// A restore is what "ambit restore" was asked for.
type restore struct {
	store string
	key   string
	to    backup.Target
}

// NewRestore returns "ambit restore".
func NewRestore() *cobra.Command {
	var v restore
	cmd := &cobra.Command{
		Use:   "restore FILE --store FILE --reason TEXT [--key SIGNER --anchor FILE]",
		Short: "Put the store of a backup in place, and record that it was restored, and why",
		Long: `Restore puts the store of a backup, its keys and its contents where the application
opens them, verifies every entry, and records how many entries were kept, by whom and
why. What was recorded after the backup was made is given up: calls of that time can
run again. The store has its name when all is on disk; run restore again when it was
interrupted.

There must be no store at that place. A keys file that is left there, or anchored
checkpoints, are kept and used: they know how much is given up. Where a process has
the store open, restore refuses.

A store with an audit needs the signer, and every anchor besides the one beside the
store. From then on "ambit audit verify" ends with 4 until its reader says that he
knows of the restore.`,
		Example: `  ambit restore /mnt/backups/ambit-2027-03-01.backup --store var/ambit.db --reason "disk lost" --key keys/prod.key --anchor /mnt/worm/anchors`,
		Args:    cmdutil.OneID("the file of a backup"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := v.missing(); err != nil {
				return err
			}
			return v.run(cmd, args[0])
		},
	}
	store.AddFlag(cmd, &v.store, "`file` of the store, as the application opens it")
	cmd.Flags().StringVar(&v.key, "key", "", "`file` of the signer of the audit")
	cmd.Flags().StringArrayVar(&v.to.Anchors, "anchor", nil, "`file` of anchored checkpoints; may be repeated")
	cmd.Flags().StringVar(&v.to.Reason, "reason", "", "why, as it is recorded")
	return cmd
}

// missing names what the command cannot do without.
func (v *restore) missing() error {
	var errs []error
	if v.store == "" {
		errs = append(errs, store.Missing())
	}
	if v.to.Reason == "" {
		errs = append(errs, cmdutil.Usage("the reason is missing", "add --reason TEXT: it is recorded"))
	}
	if v.key == "" && len(v.to.Anchors) > 0 {
		errs = append(errs, cmdutil.Usage("the signer is missing", "add --key FILE, which \"ambit audit keygen\" has written"))
	}
	return errors.Join(errs...)
}

func (v *restore) run(cmd *cobra.Command, file string) error {
	if v.key != "" {
		signer, err := audit.ReadSigner(v.key)
		if err != nil {
			return cmdutil.Problem(err.Error(), "name the file without "+audit.PublicSuffix+" behind its name")
		}
		v.to.Signer = signer
	}
	by, err := user.Current()
	if err != nil {
		return err
	}
	v.to.By = by.Username
	progress := cmdutil.NewProgress(cmd.ErrOrStderr())
	v.to.Step = func(what string) { progress.Step(what, 0) }
	record, err := backup.Restore(cmd.Context(), file, v.store, v.to)
	progress.Close()
	switch {
	case errors.Is(err, backup.ErrSigner):
		return cmdutil.Usage(err.Error(), "add --key FILE, and --anchor FILE for each anchor that is not beside the store")
	case errors.Is(err, sqlite.ErrKeys):
		return cmdutil.Problem(err.Error(), "restore to another folder, or move the keys file away")
	case err != nil:
		return cmdutil.Problem(err.Error(), "")
	}
	fmt.Fprintf(cmd.OutOrStdout(), "restored at %d: %s\n", record.Kept, v.to.Reason)
	if lost := int64(record.Had) - int64(record.Kept); lost > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "note: at least %s after it are given up\n", cmdutil.Entries(uint64(lost)))
	}
	return nil
}
