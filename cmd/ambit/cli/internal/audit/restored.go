package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"

	"github.com/spf13/cobra"
	sumnote "golang.org/x/mod/sumdb/note"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/store"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/audit"
	"github.com/ambit-tools/ambit/runtime/store/backup"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// A restoring is what "audit restored" and "audit begin" were asked for.
type restoring struct {
	path    string
	key     string
	anchors []string
	reason  string
	begin   bool
}

func newRestored() *cobra.Command {
	v := restoring{}
	cmd := &cobra.Command{
		Use:   "restored --store FILE --reason TEXT [--key SIGNER --anchor FILE]",
		Short: "Say that a store was restored from a copy on purpose",
		Long: `An executor does not start on a store that is older than its keys file, or than the
checkpoints that its audit has anchored. Restored verifies all of such a store,
records how many entries were kept, by whom and why, and lets executors continue it.
What was recorded after the copy was made is given up: calls of that time can run
again.

A store with an audit needs the signer and every anchor. From then on each checkpoint
says that the journal was restored, and "ambit audit verify" ends with 4 until its
reader says that he knows.`,
		Example: `  ambit audit restored --store ambit.db --reason "disk lost, copy of Tuesday" --key keys/prod.key --anchor /mnt/worm/anchors`,
		Args:    cmdutil.NoArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return v.run(cmd) },
	}
	v.flags(cmd)
	return cmd
}

func newBegin() *cobra.Command {
	v := restoring{begin: true}
	cmd := &cobra.Command{
		Use:   "begin --store FILE --reason TEXT [--key SIGNER --anchor FILE]",
		Short: "Begin a new store in the place of one that is gone",
		Long: `Where the keys file of a store, or an anchored checkpoint of its audit, says that there
was one, no executor makes a new one: calls that were made would run again. Begin
makes it, and records by whom and why.

A store with an audit needs the signer and every anchor, as with "ambit audit restored".`,
		Example: `  ambit audit begin --store ambit.db --reason "retired, see ticket 12" --key keys/prod.key --anchor /mnt/worm/anchors`,
		Args:    cmdutil.NoArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return v.run(cmd) },
	}
	v.flags(cmd)
	return cmd
}

func (v *restoring) flags(cmd *cobra.Command) {
	store.AddFlag(cmd, &v.path, "`file` of the store, as the application opens it")
	cmd.Flags().StringVar(&v.key, "key", "", "`file` of the signer of the audit")
	cmd.Flags().StringArrayVar(&v.anchors, "anchor", nil, "`file` of anchored checkpoints; may be repeated")
	cmd.Flags().StringVar(&v.reason, "reason", "", "why, as it is recorded")
}

func (v *restoring) run(cmd *cobra.Command) error {
	if err := v.missing(); err != nil {
		return err
	}
	var signer sumnote.Signer
	var err error
	if v.key != "" {
		if signer, err = audit.ReadSigner(v.key); err != nil {
			return cmdutil.Problem(err.Error(), "name the file without "+audit.PublicSuffix+" behind its name")
		}
	}
	if err = v.needed(cmd.Context(), signer); err != nil {
		return err
	}
	record, err := v.renew(cmd.Context(), signer)
	if err != nil {
		return cmdutil.Problem(err.Error(), "")
	}
	what := fmt.Sprintf("restored at %d", record.Kept)
	if v.begin {
		what = "begun anew"
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", what, v.reason)
	return nil
}

// missing names what the command cannot do without.
func (v *restoring) missing() error {
	var errs []error
	if v.path == "" {
		errs = append(errs, store.Missing())
	}
	if v.reason == "" {
		errs = append(errs, cmdutil.Usage("the reason is missing", "add --reason TEXT: it is recorded"))
	}
	if v.key == "" && len(v.anchors) > 0 {
		errs = append(errs, cmdutil.Usage("the signer is missing", "add --key FILE, which \"ambit audit keygen\" has written"))
	}
	return errors.Join(errs...)
}

// needed refuses what nothing asks for, and what the audit of the store would refuse
// afterwards.
func (v *restoring) needed(ctx context.Context, signer sumnote.Signer) error {
	existed, err := v.existed(ctx, signer)
	switch {
	case err != nil:
		return err
	case v.begin && !existed:
		return cmdutil.Problem("nothing says that there was a store "+cmdutil.Quote(v.path), "start the application: it makes one; or add --key and --anchor")
	case v.begin:
		return nil
	}
	r, err := sqlite.OpenReader(v.path, sqlite.WithKeys(v.path+".keys"))
	if errors.Is(err, fs.ErrNotExist) {
		return cmdutil.Problem(err.Error(), "restore the store and its keys file first; if it is to be begun anew: ambit audit begin")
	}
	if err != nil {
		return cmdutil.Problem(err.Error(), "")
	}
	defer r.Close() //nolint:errcheck // it was only read
	return v.older(ctx, r, signer)
}

// older refuses a store that is the one of its keys file and of its anchors.
func (v *restoring) older(ctx context.Context, r *sqlite.Reader, signer sumnote.Signer) error {
	list, err := r.Checkpoints(ctx)
	switch {
	case err != nil:
		return cmdutil.Problem(err.Error(), "")
	case len(list) > 0 && signer == nil:
		return cmdutil.Usage("the store has an audit, and the signer is missing", "add --key FILE, and --anchor FILE for each anchor")
	}
	if _, err = r.Authenticate(ctx); err == nil && signer != nil {
		err = audit.Compare(ctx, audit.NewSource(r, r), signer, backup.Anchors(v.anchors)...)
	}
	switch {
	case err == nil:
		return cmdutil.Problem("nothing says that the store "+cmdutil.Quote(v.path)+" was restored: it is the one of its keys file and of its anchors", "start the application")
	case sqlite.RolledBack(err), errors.Is(err, audit.ErrTampered):
		return nil
	}
	return cmdutil.Problem(err.Error(), "")
}

// existed reports whether the keys file or an anchor says that there was a store. The
// anchors have to be readable.
func (v *restoring) existed(ctx context.Context, signer sumnote.Signer) (yes bool, err error) {
	_, missing := os.Stat(v.path + ".keys")
	yes = missing == nil
	for _, name := range v.anchors {
		err := audit.FileAnchor{Path: name}.Notes(ctx, signer.Name(), func([]byte) error {
			yes = true
			return nil
		})
		if err != nil {
			return false, cmdutil.Problem(err.Error(), "")
		}
	}
	return yes, nil
}

// renew records and signs it.
func (v *restoring) renew(ctx context.Context, signer sumnote.Signer) (*journal.Restored, error) {
	by, err := user.Current()
	if err != nil {
		return nil, err
	}
	do := sqlite.Restore
	if v.begin {
		do = sqlite.Begin
	}
	return backup.Record(ctx, v.path, do, sqlite.Restoration{By: by.Username, Reason: v.reason}, signer, v.anchors)
}
