package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/runtime/audit"
	"github.com/ambit-tools/ambit/runtime/sqlite"
)

func newAuditVerify() *cobra.Command {
	var (
		v       storeVerb
		key     string
		anchors []string
	)
	cmd := &cobra.Command{
		Use:   "verify --store FILE --key VERIFIER [--anchor FILE]",
		Short: "Find out whether a journal was changed",
		Long: `Verify compares every entry with the signed checkpoints of the journal, and these
with the checkpoints that were anchored elsewhere. It names the first position that
is bad. The exit code is 0 when nothing is wrong, 1 when something is, and 4 when
nothing is wrong as far as can be told without an anchor: who can write the store
could then have cut off its end, and who has the key could have written all of it anew.`,
		Example: `  ambit audit verify --store ambit.db --key keys/prod.key.pub --anchor /mnt/worm/anchors`,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := v.missing(key); err != nil {
				return err
			}
			return v.with(func(r *sqlite.Reader) error {
				report, err := verify(cmd, r, key, anchors)
				if err != nil {
					return err
				}
				if v.asJSON {
					err = printJSON(cmd.OutOrStdout(), report)
				} else {
					printReport(cmd.OutOrStdout(), report)
				}
				if err != nil {
					return err
				}
				return reportVerdict(report, v.asJSON)
			})
		},
	}
	v.flags(cmd)
	cmd.Flags().StringVar(&key, "key", "", "`file` of the verifier")
	cmd.Flags().StringArrayVar(&anchors, "anchor", nil, "`file` of anchored checkpoints; may be repeated")
	return cmd
}

// missing names the flags that a verification cannot do without.
func (v *storeVerb) missing(key string) error {
	var errs []error
	if v.path == "" {
		errs = append(errs, errNoStore())
	}
	if key == "" {
		errs = append(errs, usage("the verifier is missing", "add --key FILE.pub, which \"ambit audit keygen\" has written"))
	}
	return errors.Join(errs...)
}

// verify verifies a store.
func verify(cmd *cobra.Command, r *sqlite.Reader, key string, anchors []string) (*audit.Report, error) {
	verifier, err := audit.ReadVerifier(key)
	if err != nil {
		return nil, problem(err.Error(), "name the file that ends in "+audit.PublicSuffix)
	}
	var notes [][]byte
	for _, name := range anchors {
		f, err := os.Open(name)
		if err != nil {
			return nil, fileProblem(name, err, "name a file of anchored checkpoints")
		}
		found, err := audit.ReadAnchors(f, verifier.Name())
		if f.Close(); err != nil {
			return nil, problem(name+": "+err.Error(), "")
		}
		if len(found) == 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s has no checkpoint of %q\n", filepath.ToSlash(name), verifier.Name())
		}
		notes = append(notes, found...)
	}
	report, err := audit.Verify(cmd.Context(), audit.NewSource(r, r), verifier, notes)
	return &report, err
}

// printReport prints what was found, in one line.
func printReport(w io.Writer, r *audit.Report) {
	if r.Bad != nil {
		fmt.Fprintf(w, "bad: %v\n", r.Bad)
		return
	}
	fmt.Fprintf(w, "%s: %d entries, signed up to %d", r.Verdict, r.Entries, r.Signed)
	if r.Anchored > 0 {
		fmt.Fprintf(w, ", anchored up to %d", r.Anchored)
	}
	if n := r.Unproved(); n > 0 {
		fmt.Fprintf(w, "; nothing proves the last %d yet", n)
	}
	fmt.Fprintln(w)
}

// reportVerdict is the error that a report ends with.
func reportVerdict(r *audit.Report, quiet bool) error {
	out := &failure{}
	switch r.Verdict {
	case audit.VerdictOK:
		return nil
	case audit.VerdictNotAnchored:
		*out = failure{"no anchored checkpoint says what the journal was", "add --anchor FILE, with the checkpoints that were taken elsewhere", exitNotAnchored}
	default:
		*out = failure{"the journal is not the one that was signed", "keep the store and its anchors as they are, and go on with copies", exitProblem}
	}
	if quiet {
		return answered(out.code)
	}
	return out
}
