package audit

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/runtime/store/audit"
)

func newKeygen() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "keygen NAME",
		Short: "Make the key that an audit log is signed with",
		Long: `Keygen makes a new Ed25519 key and writes two files: NAME.key, the signer, which
the application reads and nobody else may, and NAME.key.pub, the verifier, which
is public. A slash in NAME becomes a dash. Nothing is overwritten. A folder that is
not there is made.

NAME tells the log from others, and begins every checkpoint of it.`,
		Example: `  ambit audit keygen agents.example.com/prod --out keys`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return cmdutil.Usage("keygen takes the name of the log", "for example \"ambit audit keygen agents.example.com/prod --out keys\"")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			signer, verifier, err := audit.GenerateKey(args[0])
			if err != nil {
				return cmdutil.Usage(err.Error(), "")
			}
			path := filepath.Join(dir, strings.NewReplacer("/", "-", `\`, "-").Replace(args[0])+".key")
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return cmdutil.FileProblem(dir, err, "name a folder with --out")
			}
			if err := audit.WriteKeys(path, signer, verifier); err != nil {
				return cmdutil.Problem(err.Error(), "")
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s\n%s\n", path, path+audit.PublicSuffix)
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "out", ".", "write the files into this `directory`")
	return cmd
}
