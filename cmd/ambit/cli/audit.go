package cli

import (
	"github.com/spf13/cobra"
)

func newAudit() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Read and verify what an application has recorded",
		Long: `Audit reads the journal of an application, also while it runs. It shows no value
of a member that is marked x-sensitive: in its place is a commitment to it.`,
		Args: cobra.ArbitraryArgs,
		RunE: group,
	}
	cmd.AddCommand(newAuditKeygen(), newAuditVerify(), newAuditShow(), newAuditTail(), newAuditExport())
	return cmd
}
