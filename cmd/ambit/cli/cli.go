package cli

import (
	"context"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
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
		err = problem("standard output: "+out.err.Error(), "")
	}
	return report(stderr, cmd.CommandPath(), err)
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
		RunE:          group,
	}
	root.SetVersionTemplate("ambit {{.Version}}\n")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetHelpCommand(newHelp())
	root.AddCommand(newInit(), newGenerate(), newCheck(), newSchema(), newPolicy(), newExplain(), newSimulate(), newReplay(),
		newAudit(), newCalls(), newApprovals(), newGrants(), newUndo(), newCancel(), newResolve(), newArtifacts(), newVersion(), exitCodesTopic())
	markWork(root)
	return root
}

// markWork makes the errors of every verb's own work problems, so that those
// left without a mark are cobra's, about the command line.
func markWork(cmd *cobra.Command) {
	if work := cmd.RunE; work != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error { return asProblems(work(cmd, args)) }
	}
	for _, sub := range cmd.Commands() {
		markWork(sub)
	}
}

// newGroup returns a command that only holds subcommands.
func newGroup(name, short string, verbs ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: name, Short: short, Args: cobra.ArbitraryArgs, RunE: group}
	cmd.AddCommand(verbs...)
	return cmd
}

// group runs a command that only holds subcommands: it shows the help, and refuses
// an unknown name.
func group(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	return unknownCommand(cmd, args[0])
}

func unknownCommand(cmd *cobra.Command, name string) error {
	cmd.SuggestionsMinimumDistance = 2
	hint := "run " + quote(cmd.CommandPath()+" --help") + " for the list"
	if similar := cmd.SuggestionsFor(name); len(similar) > 0 {
		hint = "did you mean " + quote(similar[0]) + "?"
	}
	return usage("unknown command "+quote(name)+" for "+quote(cmd.CommandPath()), hint)
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
				return unknownCommand(target, rest[0])
			}
			return target.Help()
		},
	}
}

// uninterrupted puts an interrupt off until work is done: between two files it
// would leave half of them new.
func uninterrupted(work func() error) error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	defer signal.Stop(signals)
	return work()
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

// oneOrNone is the argument of verbs that take at most one path.
func oneOrNone(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usage(quote(cmd.CommandPath())+" takes one path, not "+quote(strings.Join(args, " ")), "leave out "+quote(strings.Join(args[1:], " ")))
	}
	return nil
}

// noArguments is for verbs that take none.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage(quote(cmd.CommandPath())+" takes no arguments, not "+quote(strings.Join(args, " ")), "run "+quote(cmd.CommandPath()+" --help")+" for its flags")
	}
	return nil
}
