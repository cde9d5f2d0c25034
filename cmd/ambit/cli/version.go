package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
)

// A buildInfo is what is known of how the program was made.
type buildInfo struct {
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Revision string `json:"revision,omitempty"` // of the repository
	Modified bool   `json:"modified,omitempty"` // the revision and something else
}

func newVersion() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print which version of ambit this is, and how it was built",
		Args:  cmdutil.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b := buildOf(debug.ReadBuildInfo())
			if asJSON {
				return cmdutil.PrintJSON(cmd.OutOrStdout(), b)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "ambit %s\n%s %s\n", b.Version, b.Go, b.Platform)
			if b.Revision != "" {
				fmt.Fprintf(cmd.OutOrStdout(), "revision %s%s\n", b.Revision, map[bool]string{true: ", modified"}[b.Modified])
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the answer as JSON")
	return cmd
}

// buildOf returns what a program's build information says.
func buildOf(info *debug.BuildInfo, ok bool) buildInfo {
	b := buildInfo{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH} // as the go command says of a checkout
	if !ok {
		return b
	}
	b.Version = cmp.Or(info.Main.Version, b.Version)
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// version is that of the module that the program was built from.
func version() string { return buildOf(debug.ReadBuildInfo()).Version }
