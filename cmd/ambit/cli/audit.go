package cli

import (
	"github.com/spf13/cobra"
)

func newAudit() *cobra.Command {
	cmd := newGroup("audit", "Read and verify what an application has recorded",
		newAuditKeygen(), newAuditVerify(), newAuditShow(), newAuditTail(), newAuditExport(), newAuditRestored(), newAuditBegin())
	cmd.Long = `Audit reads the journal of an application, also while it runs. It shows no value
of a member that is marked x-sensitive: in its place is a commitment to it.`
	return cmd
}
