package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/runtime"
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
			err = errors.Join(err, ruleErr, checkPolicies(path, d))
			notes, noteErr := d.notes()
			err = errors.Join(err, noteErr)
			if asJSON {
				return printFindings(cmd.OutOrStdout(), err, append(warningFindings(warnings), notes...))
			}
			for _, w := range warnings {
				fmt.Fprint(cmd.ErrOrStderr(), "warning: ")
				w.at.Format(cmd.ErrOrStderr())
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
func checkPolicies(path string, d *declaration) error {
	fsys, err := policyFS(path, d)
	if err != nil || fsys == nil {
		return err
	}
	return inPolicyDir(opa.Check(fsys), policyDir(path))
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
	carried := &runtime.Spec{Rules: runtime.Rules{MaxCalls: 1}}
	if rules := d.file.Rules; rules != nil && len(rules.Keys) > 0 && len(carried.Unenforced()) > 0 {
		notes = append(notes, note(first(rules.Keys), "rules of the whole set are carried into the generated code but not enforced yet"))
	}
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

// first is the place of the first of some keys.
func first(keys map[string]dsl.Pos) dsl.Pos {
	return slices.MinFunc(slices.Collect(maps.Values(keys)), func(a, b dsl.Pos) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
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
