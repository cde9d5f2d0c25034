package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	sumnote "golang.org/x/mod/sumdb/note"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/store"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/archive"
	"github.com/ambit-tools/ambit/runtime/store/audit"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// A verification is what "audit verify" was asked for.
type verification struct {
	store.Options
	key      string
	keys     string
	anchors  []string
	restored []uint
	resume   resuming
	segments store.Segments
}

func newVerify() *cobra.Command {
	var v verification
	cmd := &cobra.Command{
		Use:   "verify --store FILE --key VERIFIER [--anchor FILE] [--keys FILE]",
		Short: "Find out whether a journal was changed",
		Long: `Verify compares every entry with the signed checkpoints of the journal, and these
with the checkpoints that were anchored elsewhere. With --keys, the file that lies
beside the store with .keys behind its name or a copy of it, it also finds entries
that no owner of the store has written, and a store that is older than that file.
It names the first position that is bad.

The exit code is 0 when nothing is wrong, 1 when something is, and 4 when nothing is
wrong as far as can be told: without an anchor who can write the store could have cut
off its end, and who has the key could have written all of it anew; nobody owns the
store, and nothing proves its last entries; or it was restored from a copy, which
--restored says that you know of.

With --keys and without --key the store is compared with its keys alone.

With --segment the entries of these files are read in the place of the store's, and have
to be the same where the store still has them. Each file has to prove its entries.

With --resume and --auditor verify begins where the last one has ended, and says so. The
file of --resume says how far that was. It is signed with the key of --auditor, which you make
with "ambit audit keygen" and which no process that writes the store may be able to
read: a file that such a process has written is refused. What was verified before is
not read again, so that a change to it is found by --full, which reads all.`,
		Example: `  ambit audit verify --store ambit.db --key keys/prod.key.pub --anchor /mnt/worm/anchors --keys ambit.db.keys`,
		Args:    cmdutil.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := v.missing(); err != nil {
				return err
			}
			return v.run(cmd)
		},
	}
	v.AddFlags(cmd)
	cmd.Flags().StringVar(&v.key, "key", "", "`file` of the verifier")
	cmd.Flags().StringVar(&v.keys, "keys", "", "`file` of the keys of the store")
	cmd.Flags().StringArrayVar(&v.anchors, "anchor", nil, "`file` of anchored checkpoints; may be repeated")
	v.resume.flags(cmd)
	v.segments.AddFlag(cmd)
	cmd.Flags().UintSliceVar(&v.restored, "restored", nil, "`entries` that were kept when the store was restored, one number for each time")
	return cmd
}

// missing names the flags that a verification cannot do without.
func (v *verification) missing() error {
	var errs []error
	if v.Path == "" {
		errs = append(errs, store.Missing())
	}
	if v.key == "" && (v.keys == "" || len(v.anchors) > 0) {
		errs = append(errs, cmdutil.Usage("the verifier is missing", "add --key FILE.pub, which \"ambit audit keygen\" has written, or --keys FILE"))
	}
	return errors.Join(append(errs, v.resume.missing(v.key))...)
}

// run verifies the store and prints what was found.
func (v *verification) run(cmd *cobra.Command) error {
	var opts []sqlite.Option
	if v.keys != "" {
		opts = append(opts, sqlite.WithKeys(v.keys))
	}
	return v.With(func(r *sqlite.Reader) error {
		var report *audit.Report
		err := v.segments.With(cmd.Context(), r, func(from store.Reader, files []*archive.File) (err error) {
			report, err = v.verify(cmd, r, from, files)
			return err
		})
		if err != nil {
			return err
		}
		if v.AsJSON {
			err = cmdutil.PrintJSON(cmd.OutOrStdout(), report)
		} else {
			printReport(cmd.OutOrStdout(), report)
		}
		if err != nil {
			return err
		}
		return v.verdict(report)
	}, opts...)
}

// verify verifies a store, of which from has all entries.
func (v *verification) verify(cmd *cobra.Command, r *sqlite.Reader, from store.Reader, files []*archive.File) (*audit.Report, error) {
	report, deleted := &audit.Report{}, &deletions{}
	progress := cmdutil.NewProgress(cmd.ErrOrStderr())
	defer progress.Close()
	index, err := r.CheckIndex(cmd.Context())
	if err != nil {
		return nil, cmdutil.Problem(err.Error(), "")
	}
	if v.key != "" {
		verifier, err := readVerifier(v.key)
		if err != nil {
			return nil, err
		}
		notes, err := readNotes(cmd, verifier, v.anchors)
		if err != nil {
			return nil, err
		}
		resume, err := v.resume.read()
		if err != nil {
			return nil, err
		}
		var after uint64
		if resume != nil {
			after = resume.Size
		}
		if err := step(cmd.Context(), progress, "verifying", r, after); err != nil {
			return nil, err
		}
		if *report, err = audit.VerifyFrom(cmd.Context(), audit.NewSource(watched{deleted.watch(index.Watch(from)), progress}, r), verifier, notes, resume, v.keys != ""); err != nil {
			return nil, err
		}
		restored := make([]uint64, len(v.restored))
		for i, n := range v.restored {
			restored[i] = uint64(n)
		}
		report.Accept(restored...)
		if err := proveSegments(cmd.Context(), report, verifier, files); err != nil {
			return nil, err
		}
	}
	if v.keys != "" {
		err = authenticate(cmd.Context(), r, report, v.key == "", progress, index, deleted)
	} else {
		err = unkeyed(cmd.Context(), r, report, index)
	}
	if err == nil {
		err = deleted.hold(cmd.Context(), cmd.ErrOrStderr(), report, r, files)
	}
	if err != nil {
		return nil, err
	}
	return report, v.resume.write(report)
}

// unkeyed ends the verification of a store without its keys.
func unkeyed(ctx context.Context, r *sqlite.Reader, report *audit.Report, index *sqlite.IndexCheck) error {
	if err := report.CompareIndex(ctx, index); err != nil {
		return cmdutil.Problem(err.Error(), "")
	}
	owned, err := r.Owned(ctx)
	if err == nil && !owned {
		report.Closed()
	}
	return err
}

// authenticate compares a store with its keys, and reads all of it if that was not
// done before.
func authenticate(ctx context.Context, r *sqlite.Reader, report *audit.Report, read bool, progress *cmdutil.Progress, index *sqlite.IndexCheck, deleted *deletions) error {
	all := &whole{Reader: r, progress: progress, index: index, deleted: deleted}
	var keyed audit.Keyed = r
	if read {
		keyed = all
	}
	if err := report.Authenticate(ctx, keyed); err != nil {
		return cmdutil.Problem(err.Error(), "")
	}
	if read {
		report.Entries = all.entries
		report.Keyed()
	}
	return report.CompareIndex(ctx, index)
}

// A whole store is read when it is compared with its keys.
type whole struct {
	*sqlite.Reader
	progress *cmdutil.Progress
	index    *sqlite.IndexCheck
	deleted  *deletions
	entries  uint64
}

// Authenticate compares the store with the head in its keys file and reads all entries.
func (w *whole) Authenticate(ctx context.Context) (n uint64, err error) {
	if n, err = w.Reader.Authenticate(ctx); err != nil {
		return n, err
	}
	w.entries = n
	archived, err := w.Reader.Archived(ctx)
	if err != nil {
		return n, err
	}
	w.progress.Step("verifying", n-archived)
	return n, store.EachEntry(ctx, w.Reader, archived, func(e *journal.Entry) error {
		w.index.Note([]journal.Entry{*e})
		w.deleted.note([]journal.Entry{*e})
		w.progress.Add(1)
		return nil
	})
}

// readVerifier reads the file of a verifier.
func readVerifier(name string) (sumnote.Verifier, error) {
	verifier, err := audit.ReadVerifier(name)
	if err != nil {
		return nil, cmdutil.Problem(err.Error(), "name the file that ends in "+audit.PublicSuffix)
	}
	return verifier, nil
}

// readNotes reads the anchored checkpoints of a key.
func readNotes(cmd *cobra.Command, verifier sumnote.Verifier, anchors []string) (notes [][]byte, err error) {
	for _, name := range anchors {
		f, err := os.Open(name)
		if err != nil {
			return nil, cmdutil.FileProblem(name, err, "name a file of anchored checkpoints")
		}
		found, err := audit.ReadAnchors(f, verifier.Name())
		if f.Close(); err != nil {
			return nil, cmdutil.Problem(name+": "+err.Error(), "")
		}
		if len(found) == 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s has no checkpoint of %q\n", filepath.ToSlash(name), verifier.Name())
		}
		notes = append(notes, found...)
	}
	return notes, nil
}

// printReport prints what was found, in one line.
func printReport(w io.Writer, r *audit.Report) {
	if r.Bad != nil {
		fmt.Fprintf(w, "bad: %v\n", r.Bad)
		return
	}
	fmt.Fprintf(w, "%s: %s", r.Verdict, cmdutil.Entries(r.Entries))
	if r.Origin != "" {
		fmt.Fprintf(w, ", signed up to %d", r.Signed)
	}
	if r.Anchored > 0 {
		fmt.Fprintf(w, ", anchored up to %d", r.Anchored)
	}
	if r.Authentic > 0 {
		fmt.Fprintf(w, ", authentic up to %d", r.Authentic)
	}
	for _, s := range r.Archived {
		fmt.Fprintf(w, ", %d..%d archived, proven", s.First, s.Last)
	}
	for _, s := range r.Deleted {
		fmt.Fprintf(w, ", %d..%d deleted", s.First, s.Last)
	}
	if r.Resumed > 0 {
		fmt.Fprintf(w, ", read after %d", r.Resumed)
	}
	if len(r.Restored) > 0 {
		fmt.Fprintf(w, ", restored at %s", strings.Trim(fmt.Sprint(r.Restored), "[]"))
	}
	if n := r.Unproved(); n > 0 {
		fmt.Fprintf(w, "; nothing proves the last %d yet", n)
	}
	fmt.Fprintln(w)
}

// verdict is the error that a verification ends with.
func (v *verification) verdict(r *audit.Report) error {
	out := &cmdutil.Failure{Code: cmdutil.ExitNotAnchored}
	switch r.Verdict {
	case audit.VerdictOK, audit.VerdictKeyed:
		return nil
	case audit.VerdictNotAnchored:
		out.Message, out.Hint = "no anchored checkpoint says what the journal was", "add --anchor FILE, with the checkpoints that were taken elsewhere"
	case audit.VerdictUnproved:
		out.Message = "nobody owns the store, and nothing proves its last " + cmdutil.Entries(r.Unproved())
		out.Hint = "add --keys FILE, the keys of the store; after a crash the next start signs these entries"
	case audit.VerdictRestored:
		out.Message = "the journal was restored from a copy, and what was recorded after that was given up"
		out.Hint = "\"ambit audit show\" has who did it and why; if you know of it add --restored " + strings.ReplaceAll(strings.Trim(fmt.Sprint(r.Restored), "[]"), " ", ",")
	default:
		*out = cmdutil.Failure{
			Message: "the journal is not the one that was signed", Code: cmdutil.ExitProblem,
			Hint: "keep the store and its anchors as they are, and go on with copies",
		}
	}
	if v.AsJSON {
		return cmdutil.Answered(out.Code)
	}
	return out
}
