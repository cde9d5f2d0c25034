package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
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
what the declaration says now, whether or not it has been generated, and their
tests are run: a program that reloads its policies takes none whose tests fail.

It also analyses the rules of all tools together: a tool that can never run and a
requirement that can never be met are errors. Rules that never decide anything,
and covers that no grant can have, are warnings: they do not change the exit code.
An error does not hide those of what is whole beside it; a note at the end names
the checks that had to wait.

Notes name tools that nothing can allow, and declared fields that this version
carries but does not enforce yet.`,
		Args: oneOrNone,
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := locate(args)
			if err != nil {
				return err
			}
			x, err := examine(path)
			d, warnings := x.whole, x.warnings
			policies, policyErr := checkPolicies(cmd.Context(), path, d)
			notes, noteErr := d.notes()
			err = asProblems(errors.Join(err, policyErr, noteErr))
			notes = append(notes, d.closedNotes(policies.Closed)...)
			slices.SortStableFunc(notes, func(a, b finding) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column)) })
			notes = append(notes, x.missedNote(path)...)
			if asJSON {
				return printFindings(cmd.OutOrStdout(), err, slices.Concat(warningFindings(warnings), policyWarnings(policies.Warnings), notes))
			}
			code := report(cmd.ErrOrStderr(), cmd.CommandPath(), err)
			printOthers(cmd.ErrOrStderr(), warnings, policies.Warnings, notes)
			if err != nil {
				return answered(code)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: no errors in %s\n", path, count(len(d.file.Tools), "tool"))
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the findings as JSON")
	return cmd
}

// printOthers writes what was found that is no error.
func printOthers(w io.Writer, warnings []warning, policies opa.Errors, notes []finding) {
	for _, warning := range warnings {
		fmt.Fprint(w, "warning: ")
		warning.at.Format(w)
	}
	for _, e := range policies {
		fmt.Fprintf(w, "warning: %s\nhint: %s\n", policyError(e), e.Hint)
	}
	for _, n := range notes {
		fmt.Fprintf(w, "note: %s:%d:%d: %s\n", n.File, n.Line, n.Column, n.Message)
		if n.Hint != "" {
			fmt.Fprintf(w, "hint: %s\n", n.Hint)
		}
	}
}

// checkPolicies type-checks and tests the policies beside the declaration at
// path, when there are any. d is nil when the declaration itself has errors; the
// policies are then held against what was generated last, if anything was.
func checkPolicies(ctx context.Context, path string, d *declaration) (opa.Inspection, error) {
	fsys, err := policyFS(path, d)
	if err != nil || fsys == nil {
		return opa.Inspection{}, err
	}
	if _, err := fs.Stat(fsys, generatedFolder+"/data.json"); d == nil && err != nil {
		return opa.Inspection{}, nil
	}
	dir := policyDir(path)
	found, err := opa.Inspect(ctx, fsys)
	if found == nil {
		return opa.Inspection{}, inPolicyDir(err, dir)
	}
	for _, w := range found.Warnings {
		w.File = inDir(dir, w.File)
	}
	return *found, inPolicyDir(err, dir)
}

// closedNotes name the tools that nothing allows.
func (d *declaration) closedNotes(closed []string) []finding {
	if d == nil {
		return nil
	}
	var notes []finding
	for _, t := range d.file.Tools {
		if !slices.Contains(closed, t.Name) {
			continue
		}
		n := note(t.Pos, fmt.Sprintf("tool %q: nothing allows it, so that every call is denied: its effect is %s", t.Name, t.Effect))
		n.Hint = fmt.Sprintf("write allow contains {...} in package ambit.tools.%s, in a file of the folder policy", t.Name)
		notes = append(notes, n)
	}
	return notes
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
			message := fmt.Sprintf("tool %q: this version does not enforce %s yet", tool.Name(), field)
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
