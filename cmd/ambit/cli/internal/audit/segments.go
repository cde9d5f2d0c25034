package audit

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	sumnote "golang.org/x/mod/sumdb/note"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/runtime/store/archive"
	"github.com/ambit-tools/ambit/runtime/store/audit"
)

// proveSegments says in a report what segments prove.
func proveSegments(ctx context.Context, report *audit.Report, v sumnote.Verifier, files []*archive.File) error {
	for _, file := range files {
		h := file.Header()
		err := file.Signed(v)
		if err == nil {
			err = file.Prove(ctx)
		}
		var wrong *archive.Error
		switch {
		case err == nil:
			report.Segment(audit.Span{First: h.First, Last: h.Last}, nil)
		case errors.As(err, &wrong):
			bad := &audit.Fault{Class: audit.ClassArchive, First: wrong.First, Last: wrong.Last, What: err.Error()}
			if wrong.First == 0 {
				bad.First, bad.Last = h.First, h.Last
			}
			report.Segment(audit.Span{}, bad)
		default:
			return err
		}
	}
	return nil
}

// newSegments returns "ambit journal segments".
func newSegments() *cobra.Command {
	var key string
	cmd := &cobra.Command{
		Use:   "segments FILE... --key VERIFIER",
		Short: "Show which entries segments have, and prove them",
		Long: `Segments reads files of archived entries, without their store. It says which entries each
has, and whether they lead to the checkpoint in the file, which the key has signed. The
exit code is 1 when one is not proven.`,
		Example: `  ambit journal segments archive/*.segment --key keys/prod.key.pub`,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, names []string) error {
			if key == "" {
				return cmdutil.Usage("the verifier is missing", "add --key FILE.pub, which \"ambit audit keygen\" has written")
			}
			verifier, err := readVerifier(key)
			if err != nil {
				return err
			}
			var failed []error
			for _, name := range names {
				if err := printSegment(cmd, name, verifier); err != nil {
					failed = append(failed, cmdutil.Problem(err.Error(), "keep the file as it is, and go on with a copy of it from elsewhere"))
				}
			}
			return errors.Join(failed...)
		},
	}
	cmd.Flags().StringVar(&key, "key", "", "`file` of the verifier")
	return cmd
}

// printSegment proves a segment and prints what it has.
func printSegment(cmd *cobra.Command, name string, v sumnote.Verifier) (err error) {
	file, err := archive.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := errors.Join(file.Signed(v), file.Prove(cmd.Context())); err != nil {
		return err
	}
	h := file.Header()
	fmt.Fprintf(cmd.OutOrStdout(), "%d..%d archived, proven: %s of the store %s\n", h.First, h.Last, name, h.Store)
	return nil
}
