package operate

import (
	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/runtime/host/inbox"
)

// NewResolve returns "ambit resolve".
func NewResolve() *cobra.Command {
	var (
		v       commandVerb
		nothing bool
	)
	cmd := &cobra.Command{
		Use:   "resolve --store FILE --call ID (--happened | --nothing-happened)",
		Short: "Say what became of a call whose outcome is unknown",
		Long: `Resolve gives a call an outcome that an interruption has left without one, on your
word: it took effect, or it did not. Look at the world before you say so.`,
		Args: cmdutil.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if v.Happened == nothing {
				return cmdutil.Usage("resolve needs to know what happened", "add --happened, or --nothing-happened")
			}
			return v.sendAboutCall(cmd, inbox.CommandResolve)
		},
	}
	v.flags(cmd)
	v.aboutCall(cmd)
	cmd.Flags().BoolVar(&v.Happened, "happened", false, "the call took effect")
	cmd.Flags().BoolVar(&nothing, "nothing-happened", false, "the call had no effect, and will have none")
	return cmd
}
