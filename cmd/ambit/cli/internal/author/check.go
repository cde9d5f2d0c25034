package author

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/project"
	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/policies"
	"github.com/ambit-tools/ambit/runtime/opa"
)

// checkHelp is the help of "ambit check".
var checkHelp = `Check reports every error of a declaration and of the Rego policies in the folder
policy beside it, or in the folders that --policies names, each with file, line and
column. Policies are checked against what the declaration says now, whether or not
it has been generated, and their tests are run: a program that reloads its policies
takes none whose tests fail.

It also analyses the rules of all tools together: a tool that can never run and a
requirement that can never be met are errors. Rules that never decide anything,
covers that no grant can have, names in policies that may be those of another
application, objects that take no member although nothing says so, and denials
and questions that an absent argument makes vanish are warnings: they do not change
the exit code.
An error does not hide those of what is whole beside it; a note at the end names
the checks that had to wait.

Notes name tools that nothing can allow, and declared fields that this version
carries but does not enforce yet. They say in which tier a command runs and what its
declared limits are on this host ("ambit doctor" says why). A limit that this host
holds less well than declared is an error; with --any-host it is a note, for a
declaration that runs elsewhere.

With --dialect, notes name what the input schemas of tools lose in what a provider of
models takes of JSON Schema, and why one cannot be strict: ` + dialectNames() + `.

With --against, a change that breaks callers, handlers, policies, waiting approvals,
undo or recorded calls is an error, unless the tool has a new major version: then it
is a note. A tool is removed two minor versions after it was deprecated.`

// NewCheck returns "ambit check".
func NewCheck() *cobra.Command {
	var (
		folders []string
		in      []string
		against string
		asJSON  bool
		anyHost bool
	)
	cmd := &cobra.Command{
		Use:   "check [FILE|DIR]",
		Short: "Check a declaration and its policies",
		Long:  checkHelp,
		Args:  cmdutil.OptionalPath,
		RunE: func(cmd *cobra.Command, args []string) error {
			providers, err := dialects(in)
			if err != nil {
				return err
			}
			path, err := project.Locate(args)
			if err != nil {
				return err
			}
			dirs, err := project.FindPolicies(path, folders)
			if err != nil {
				return err
			}
			x, err := examine(path, dirs)
			d, warnings := x.whole, x.warnings
			found, policyErr := checkPolicies(cmd.Context(), dirs, d)
			notes, noteErr := unenforcedNotes(d)
			held, heldErr := commandLevels(d)
			if anyHost {
				held.elsewhere()
			}
			lost, lostErr := dialectNotes(d, providers)
			changed, againstErr := compared(d, against)
			err = cmdutil.AsProblems(errors.Join(err, policyErr, noteErr, heldErr, held.refused.Err(), lostErr, againstErr))
			notes = slices.Concat(notes, held.notes, lost, changed, moneyNotes(d))
			notes = append(notes, closedNotes(d, found.Closed, asJSON)...)
			notes = append(byPlace(notes), x.missedNote(path)...)
			if asJSON {
				return printFindings(cmd.OutOrStdout(), err, slices.Concat(warningFindings(warnings), policyWarnings(found.Warnings), notes))
			}
			code := cmdutil.Report(cmd.ErrOrStderr(), cmd.CommandPath(), err)
			printOthers(cmd.ErrOrStderr(), warnings, found.Warnings, notes)
			if err != nil {
				return cmdutil.Answered(code)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: no errors in %s\n%s", path, cmdutil.Count(len(d.File.Tools), "tool"), held.tierLines(d.File.Tools))
			return nil
		},
	}
	project.PolicyFlag(cmd, &folders)
	cmd.Flags().StringSliceVar(&in, "dialect", nil, "name what these `dialects` of providers of models lose")
	cmd.Flags().StringVar(&against, "against", "", "name what breaks for those who know an `earlier` declaration: a file, or git:REF")
	cmd.Flags().BoolVar(&anyHost, "any-host", false, "take a limit that this host does not hold as declared for a note")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the findings as JSON")
	return cmd
}

// byPlace sorts notes by where they are.
func byPlace(notes []finding) []finding {
	slices.SortStableFunc(notes, func(a, b finding) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column)) })
	return notes
}

func printWarnings(w io.Writer, warnings []warning) {
	for _, warning := range warnings {
		fmt.Fprint(w, "warning: ")
		warning.at.Format(w)
	}
}

// printOthers writes what was found that is no error.
func printOthers(w io.Writer, warnings []warning, rego policies.Diagnostics, notes []finding) {
	printWarnings(w, warnings)
	for _, e := range rego {
		fmt.Fprint(w, "warning: ")
		cmdutil.PolicyDiagnostic(e).Format(w)
	}
	for _, n := range notes {
		fmt.Fprintf(w, "note: %s:%d:%d: %s\n", n.File, n.Line, n.Column, n.Message)
		if n.Hint != "" {
			fmt.Fprintf(w, "hint: %s\n", n.Hint)
		}
	}
}

// checkPolicies type-checks and tests the policies, when there are any. d is nil
// when the declaration itself has errors; the policies are then held against what
// was generated last, if anything was.
func checkPolicies(ctx context.Context, dirs project.PolicyDirs, d *project.Declaration) (opa.Inspection, error) {
	fsys, err := dirs.FS(d)
	if err != nil || fsys == nil || d == nil && !dirs.Generated() {
		return opa.Inspection{}, err
	}
	found, err := opa.Inspect(ctx, fsys)
	if found == nil {
		return opa.Inspection{}, err
	}
	return *found, err
}

// maxNamed is how many tools one note names.
const maxNamed = 10

// closedNotes name the tools that nothing allows: each by a note for programs, several by one note for people.
func closedNotes(d *project.Declaration, closed []string, each bool) []finding {
	if d == nil {
		return nil
	}
	var notes []finding
	if !each && len(closed) > 1 {
		var names []string
		at := dsl.Pos{}
		for _, t := range d.File.Tools {
			if slices.Contains(closed, t.Name) {
				names = append(names, t.Name)
				at = cmp.Or(at, t.Pos)
			}
		}
		if len(names) > maxNamed {
			names = append(names[:maxNamed], fmt.Sprintf("and %d more", len(names)-maxNamed))
		}
		n := note(at, fmt.Sprintf("nothing allows %d tools, so that every call of them is denied: %s", len(closed), strings.Join(names, ", ")))
		n.Hint = "write allow contains {...} in package ambit.tools.NAME, in a file of the folder policy"
		return append(notes, n)
	}
	for _, t := range d.File.Tools {
		if !slices.Contains(closed, t.Name) {
			continue
		}
		n := note(t.Pos, fmt.Sprintf("tool %q: nothing allows it, so that every call is denied: its effect is %s", t.Name, t.Effect))
		n.Hint = fmt.Sprintf("write allow contains {...} in package ambit.tools.%s, in a file of the folder policy", t.Name)
		notes = append(notes, n)
	}
	return notes
}

func policyWarnings(warnings policies.Diagnostics) []finding {
	var out []finding
	for _, w := range warnings {
		out = append(out, finding{severityWarning, w.Code, w.File, w.Line, w.Col, w.Message, w.Hint})
	}
	return out
}

// unenforcedNotes names the declared fields that no engine enforces yet.
func unenforcedNotes(d *project.Declaration) ([]finding, error) {
	if d == nil {
		return nil, nil
	}
	tools, err := dynamic.Tools(d.File, nil)
	if err != nil {
		return nil, err
	}
	var notes []finding
	for i, tool := range tools {
		for _, field := range tool.Unenforced() {
			message := fmt.Sprintf("tool %q: this version does not enforce %s yet", tool.Name(), field)
			notes = append(notes, note(fieldPos(d.File.Tools[i], field), message))
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
