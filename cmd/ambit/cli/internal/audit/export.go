package audit

import (
	"bufio"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/store"
	"github.com/ambit-tools/ambit/runtime/store/archive"
	"github.com/ambit-tools/ambit/runtime/store/audit"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

func newExport() *cobra.Command {
	var (
		v         store.Options
		decisions bool
		after     uint64
		labels    map[string]string
		segments  store.Segments
	)
	cmd := &cobra.Command{
		Use:   "export --store FILE",
		Short: "Write the journal as JSON lines",
		Long: `Export writes one line of JSON for each entry: its position, its hash in the audit
log, and the record as it was hashed. With --decisions it writes what the policy
decided, in the form of OPA's decision logs.`,
		Example: `  ambit audit export --store ambit.db --after 1200 > journal.jsonl
  ambit audit export --store ambit.db --decisions --label app=agents`,
		Args: cmdutil.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return v.With(func(r *sqlite.Reader) error {
				return segments.With(cmd.Context(), r, func(from store.Reader, _ []*archive.File) error {
					return export(cmd, r, from, after, decisions, labels)
				})
			})
		},
	}
	store.AddFlag(cmd, &v.Path, "`file` of the store, as the application opens it")
	cmd.Flags().BoolVar(&decisions, "decisions", false, "write the decisions of the policy only, as OPA does")
	cmd.Flags().Uint64Var(&after, "after", 0, "begin after this `position`")
	segments.AddFlag(cmd)
	cmd.Flags().StringToStringVar(&labels, "label", nil, "label of every decision as `name=value`; may be repeated")
	return cmd
}

// export writes the entries of a store, or of the segments beside it, after a position.
func export(cmd *cobra.Command, r *sqlite.Reader, from store.Reader, after uint64, decisions bool, labels map[string]string) error {
	out := bufio.NewWriter(cmd.OutOrStdout())
	var progress *cmdutil.Progress
	if cmdutil.NewProgress(os.Stdout) == nil { // the lines of the export would be among it
		progress = cmdutil.NewProgress(cmd.ErrOrStderr())
	}
	defer progress.Close()
	err := step(cmd.Context(), progress, "exporting", r, after)
	switch {
	case err != nil:
	case decisions:
		_, err = audit.ExportDecisions(cmd.Context(), out, watched{from, progress}, after, labels)
	default:
		_, err = audit.Export(cmd.Context(), out, watched{from, progress}, after)
	}
	return errors.Join(err, out.Flush())
}
