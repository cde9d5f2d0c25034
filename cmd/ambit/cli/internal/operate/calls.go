package operate

import (
	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
)

// NewCalls returns "ambit calls".
func NewCalls() *cobra.Command {
	return cmdutil.NewGroup("calls", "Look at the calls that an application has made",
		newCallsList(), newCallsShow(), newCallsSessions(), newCallsRuns())
}
