package cli

import (
	"context"
	"io"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/audit"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/author"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/backup"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/doctor"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/operate"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/whatif"
)

// Run executes the command line args, without the program's name, and returns
// the exit code (see the package comment). Data goes to stdout, everything
// else to stderr.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	out := &checkedWriter{w: stdout}
	root := newRoot()
	root.SetArgs(longFlags(args))
	root.SetIn(stdin)
	root.SetOut(out)
	root.SetErr(stderr)

	cmd, err := root.ExecuteContextC(context.Background())
	if out.err != nil {
		err = cmdutil.Problem("standard output: "+out.err.Error(), "")
	}
	return cmdutil.Report(stderr, cmd.CommandPath(), err)
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "ambit",
		Short: "Declare tools, generate their Go code, and govern every call",
		Long: `Ambit turns a declaration of tools (tools.yaml) into Go code, checks the Rego
policies that bound them, and explains what would happen to a call. It audits what
an application has recorded, and answers and undoes calls while it runs.`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE:          cmdutil.RunGroup,
	}
	root.SetVersionTemplate("ambit {{.Version}}\n")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetHelpCommand(newHelp())
	root.AddCommand(author.NewInit(), author.NewGenerate(), author.NewCheck(), author.NewSchema(), author.NewDocs(), author.NewPolicy(), author.NewImport())
	root.AddCommand(whatif.NewExplain(), whatif.NewSimulate(), whatif.NewReplay())
	root.AddCommand(operate.NewCalls(), operate.NewApprovals(), operate.NewGrants(),
		operate.NewUndo(), operate.NewCancel(), operate.NewResolve(), operate.NewArtifacts(), operate.NewToken(), operate.NewConsole())
	root.AddCommand(backup.NewBackup(), backup.NewRestore(), audit.New(), audit.NewJournal(), doctor.New(), newVersion(), exitCodesTopic())
	markWork(root)
	return root
}

// markWork makes the errors of every verb's own work problems, so that those
// left without a mark are cobra's, about the command line.
func markWork(cmd *cobra.Command) {
	if work := cmd.RunE; work != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error { return cmdutil.AsProblems(work(cmd, args)) }
	}
	for _, sub := range cmd.Commands() {
		markWork(sub)
	}
}

// newHelp replaces cobra's help command, which answers an unknown name with
// exit code 0.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show the help of a command or a topic",
		RunE: func(cmd *cobra.Command, args []string) error {
			target, rest, err := cmd.Root().Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return cmdutil.UnknownCommand(target, rest[0])
			}
			return target.Help()
		},
	}
}

var singleDash = regexp.MustCompile(`^-[a-z][a-z-]+(=|$)`)

// longFlags lets flags be written with one dash, as the go command's are.
func longFlags(args []string) []string {
	out := make([]string, 0, len(args))
	for i, arg := range args {
		if arg == "--" {
			return append(out, args[i:]...)
		}
		if singleDash.MatchString(arg) {
			arg = "-" + arg
		}
		out = append(out, arg)
	}
	return out
}

// checkedWriter remembers that a write failed, so that a full disk behind
// standard output is not a success.
type checkedWriter struct {
	w   io.Writer
	err error
}

// Write implements io.Writer.
func (c *checkedWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	if err != nil && c.err == nil {
		c.err = err
	}
	return n, err
}
