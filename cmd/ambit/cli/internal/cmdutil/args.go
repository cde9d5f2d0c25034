package cmdutil

import (
	"strings"

	"github.com/spf13/cobra"
)

// OneID refuses anything but one argument, which names what a verb is about.
func OneID(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 || args[0] == "" {
			return Usage(Quote(cmd.CommandPath())+" takes "+what, "")
		}
		return nil
	}
}

// NewGroup returns a command that only holds subcommands.
func NewGroup(name, short string, verbs ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: name, Short: short, Args: cobra.ArbitraryArgs, RunE: RunGroup}
	cmd.AddCommand(verbs...)
	return cmd
}

// RunGroup runs a command that only holds subcommands: it shows the help, and refuses
// an unknown name.
func RunGroup(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	return UnknownCommand(cmd, args[0])
}

// UnknownCommand is the error of a name that is no subcommand of cmd. It suggests a
// similar one.
func UnknownCommand(cmd *cobra.Command, name string) error {
	cmd.SuggestionsMinimumDistance = 2
	hint := "run " + Quote(cmd.CommandPath()+" --help") + " for the list"
	if similar := cmd.SuggestionsFor(name); len(similar) > 0 {
		hint = "did you mean " + Quote(similar[0]) + "?"
	}
	return Usage("unknown command "+Quote(name)+" for "+Quote(cmd.CommandPath()), hint)
}

// OptionalPath refuses more than one argument, for verbs that take at most a path.
func OptionalPath(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return Usage(Quote(cmd.CommandPath())+" takes one path, not "+Quote(strings.Join(args, " ")), "leave out "+Quote(strings.Join(args[1:], " ")))
	}
	return nil
}

// NoArguments refuses arguments, for verbs that take none.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Usage(Quote(cmd.CommandPath())+" takes no arguments, not "+Quote(strings.Join(args, " ")), "run "+Quote(cmd.CommandPath()+" --help")+" for its flags")
	}
	return nil
}
