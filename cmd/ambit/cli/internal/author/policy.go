package author

import (
	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
)

// NewPolicy returns "ambit policy".
func NewPolicy() *cobra.Command {
	return cmdutil.NewGroup("policy", "Work with Rego policies",
		newPolicyTest())
}
