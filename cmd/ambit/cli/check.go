package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/runtime/opa"
)

func newCheck() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check [FILE|DIR]",
		Short: "Check a declaration and the policies beside it",
		Long: `Check reports every error of a declaration and of the Rego policies in the folder
policy beside it, each with file, line and column. Policies are checked against
what the declaration says now, whether or not it has been generated.

It also analyses the rules of all tools together: a tool that can never run and a
requirement that can never be met are errors. Rules that never decide anything,
and covers that no grant can have, are warnings: they do not change the exit code.

Notes name declared fields that this version carries but does not enforce yet.`,
		Args: oneOrNone,
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := locate(args)
			if err != nil {
				return err
			}
			d, err := load(path)
			warnings, ruleErr := d.analyse()
			unmatched, policyErr := checkPolicies(path, d)
			err = errors.Join(err, ruleErr, policyErr)
			notes, noteErr := d.notes()
			err = errors.Join(err, noteErr)
			if asJSON {
				return printFindings(cmd.OutOrStdout(), err, slices.Concat(warningFindings(warnings), policyWarnings(unmatched), notes))
			}
			for _, w := range warnings {
				fmt.Fprint(cmd.ErrOrStderr(), "warning: ")
				w.at.Format(cmd.ErrOrStderr())
			}
			for _, w := range unmatched {
				fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s\nhint: %s\n", policyError(w), w.Hint)
			}
			for _, n := range notes {
				fmt.Fprintf(cmd.ErrOrStderr(), "note: %s:%d:%d: %s\n", n.File, n.Line, n.Column, n.Message)
			}
			if err == nil {
				fmt.Fprintf(cmd.OutOrStdout(), "%s: no errors in %s\n", path, count(len(d.file.Tools), "tool"))
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the findings as JSON")
	return cmd
}

// checkPolicies type-checks the policies beside the declaration at path, when
// there are any. d is nil when the declaration itself has errors; the policies
// are then held against what was generated last.
func checkPolicies(path string, d *declaration) (warnings opa.Errors, err error) {
	fsys, err := policyFS(path, d)
	if err != nil || fsys == nil {
		return nil, err
	}
	warnings, err = opa.Inspect(fsys)
	dir := policyDir(path)
	for _, w := range warnings {
		w.File = inDir(dir, w.File)
	}
	return warnings, inPolicyDir(err, dir)
}

// askUnmatchable is the code of an ask that cannot mean what it says.
const askUnmatchable = "unmatchable_ask"

func policyWarnings(warnings opa.Errors) []finding {
	var out []finding
	for _, w := range warnings {
		out = append(out, finding{severityWarning, askUnmatchable, w.File, w.Line, w.Col, w.Message, w.Hint})
	}
	return out
}

// notes names the declared fields that no engine enforces yet.
func (d *declaration) notes() ([]finding, error) {
	if d == nil {
		return nil, nil
	}
	tools, err := dynamic.Tools(d.file, nil)
	if err != nil {
		return nil, err
	}
	var notes []finding
	for i, tool := range tools {
		for _, field := range tool.Unenforced() {
			message := fmt.Sprintf("tool %q: %s is carried into the generated code but not enforced yet", tool.Name(), field)
			notes = append(notes, note(fieldPos(d.file.Tools[i], field), message))
		}
	}
	return notes, nil
}

func note(at dsl.Pos, message string) finding {
	return finding{Severity: severityNote, File: at.File, Line: at.Line, Column: at.Col, Message: message}
}

// fieldPos is where a field such as limits.memory of t is declared.
func fieldPos(t *dsl.Tool, field string) dsl.Pos {
	key, _, _ := strings.Cut(field, ".")
	pos := t.Keys[key]
	return cmp.Or(pos, t.Pos)
}

// count says "1 tool" or "2 tools".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
