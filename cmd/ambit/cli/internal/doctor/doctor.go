// Package doctor is the verb "ambit doctor": what this host can hold the processes of command tools to.
package doctor

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/isolate"
	"github.com/ambit-tools/ambit/runtime/command/process"
)

// A findings is what the doctor found out.
type findings struct {
	Host  isolate.Host          `json:"host"`
	Tiers []process.Enforcement `json:"tiers"`
}

// New returns "ambit doctor".
func New() *cobra.Command {
	var asJSON bool
	var options isolate.Options
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Show what this host can hold the processes of command tools to",
		Long: `Doctor builds the box of command tools on this host, attacks from inside it, and prints
what each limit is in each tier:

  enforced  the kernel refuses what exceeds it
  watched   a watcher ends the processes that exceed it
  advisory  nothing holds it
  refused   a tool that needs it does not run here

An attack reads and writes a file, connects, and signals this program. Nothing is sent
beyond the loopback.`,
		Args: cmdutil.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := isolate.New(options)
			if err != nil {
				return cmdutil.Problem(err.Error(), "")
			}
			f := findings{Host: r.Host()}
			for _, tier := range []runtime.Tier{runtime.TierSandbox, runtime.TierProcess} {
				f.Tiers = append(f.Tiers, isolate.Levels(f.Host, &process.Spec{Tier: tier}))
			}
			if asJSON {
				return cmdutil.PrintJSON(cmd.OutOrStdout(), f)
			}
			return f.print(cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the answer as JSON")
	cmd.Flags().BoolVar(&options.WithoutNamespaces, "without-namespaces", false, "show what is left on a host that gives no namespaces")
	return cmd
}

func (f findings) print(w io.Writer) error {
	answer := map[bool]string{true: "yes", false: "no"}
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(out, "system\t%s\n", f.Host.System)
	fmt.Fprintf(out, "landlock\tversion %d\n", f.Host.Landlock)
	fmt.Fprintf(out, "root\t%s\n", answer[f.Host.Root])
	fmt.Fprintf(out, "sandbox\t%s\n", answer[f.Host.Sandbox])
	fmt.Fprintf(out, "namespaces\t%s\n", answer[f.Host.Namespaces])
	if f.Host.WhyNot != "" {
		fmt.Fprintf(out, "because\t%s\n", f.Host.WhyNot)
	}
	for _, tier := range f.Tiers {
		fmt.Fprintf(out, "\nisolation: %s\t\t\n", tier.Tier)
		for _, l := range tier.Limits {
			fmt.Fprintf(out, "  %s\t%s\t%s\n", l.Name, l.Level, l.Note)
		}
	}
	return out.Flush()
}
