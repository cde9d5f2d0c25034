// Package audit holds the verbs that read, verify and export the journal of an
// application, and the record of a store that was restored.
package audit

import (
	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
)

// New returns "ambit audit".
func New() *cobra.Command {
	cmd := cmdutil.NewGroup("audit", "Read and verify what an application has recorded",
		newKeygen(), newVerify(), newShow(), newTail(), newExport(), newRestored(), newBegin())
	cmd.Long = `Audit reads the journal of an application, also while it runs. It shows no value
of a member that is marked x-sensitive: in its place is a commitment to it.`
	return cmd
}
