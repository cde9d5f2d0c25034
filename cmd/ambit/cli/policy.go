package cli

import (
	"github.com/spf13/cobra"
)

func newPolicy() *cobra.Command {
	return newGroup("policy", "Work with Rego policies",
		newPolicyTest())
}
