package cli

import (
	"github.com/spf13/cobra"
)

// exitCodesTopic is a help topic: a command that cannot be run.
func exitCodesTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "exit-codes",
		Short: "What the exit codes mean",
		Long: `Every verb of ambit ends with one of these codes:

  0  done; explain also ends so when the answer is a denial
  1  something is wrong with a declaration, a policy or an input, or the work
     could not be done; every error found is on standard error
  2  the command line is wrong: unknown verb or flag, missing or surplus argument
  3  the check ran and its answer is no: "generate -check" found drift,
     "policy test" has a failing test, "simulate" a failing case, "replay" a
     run that diverges
  4  "audit verify" found nothing wrong, and something is not proved: no anchored
     checkpoint was given, nobody owns the store and its last entries are not signed,
     or it was restored from a copy
  5  a command for an executor (undo, cancel, resolve, approvals, grants) is in its
     inbox and waits, because none runs or it has not said yet what became of it

Data is on standard output and everything else on standard error, as lines that
begin with "error:", "warning:", "hint:" or "note:". Warnings and notes do not
change the code.`,
	}
}
