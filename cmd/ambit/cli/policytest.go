package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/runtime/opa"
)

func newPolicyTest() *cobra.Command {
	var (
		filter string
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "test [DIR]",
		Short: "Run the tests of a policy folder, with coverage",
		Long: `Test checks the policies in DIR, runs the rules whose names begin with test_ in
its _test.rego files, and says which lines of the policies no test reached.
Without an argument, and for a folder with a declaration, it takes the folder
policy beside the declaration.

The policies see the declarations as they were generated last.`,
		Args: oneOrNone,
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := regexp.Compile(filter); err != nil {
				return usage("--run: "+err.Error(), `it takes a regular expression, in which a character such as ( is written \(`)
			}
			dir, err := locatePolicies(args)
			if err != nil {
				return err
			}
			report, err := opa.Test(cmd.Context(), os.DirFS(dir), opa.TestOptions{Filter: filter})
			if err != nil {
				return inPolicyDir(err, dir)
			}
			if filter != "" && len(report.Tests) == 0 {
				return problem("no policy test matches "+quote(filter), "a full name is such as data.ambit.tools.x_test.test_y; without --run all are run")
			}
			if asJSON {
				err = printJSON(cmd.OutOrStdout(), report)
			} else {
				printTests(cmd.OutOrStdout(), dir, report)
			}
			if failed := len(report.Failed()); err == nil && failed > 0 {
				return verdict(count(failed, "policy test")+" did not pass", "")
			}
			return err
		},
	}
	cmd.Flags().StringVar(&filter, "run", "", "run only the tests whose full name matches `REGEXP`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	return cmd
}

// locatePolicies turns the argument of "policy test" into a policy folder.
func locatePolicies(args []string) (string, error) {
	dir := ""
	if len(args) > 0 && !declares(args[0]) {
		dir = args[0]
	} else {
		path, err := locate(args)
		if err != nil {
			return "", err
		}
		dir = policyDir(path)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", problem("there is no policy folder "+quote(dir), "name the folder that holds the .rego files")
	}
	if below, err := filepath.Glob(filepath.Join(dir, "*", declarationName)); err == nil && len(below) > 0 {
		return "", problem(quote(dir)+" is not a policy folder: there is a declaration in a folder below", "name "+quote(policyDir(below[0])))
	}
	return dir, nil
}

// declares tells the folder of a declaration, or the declaration itself, from a
// folder of policies.
func declares(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	if !info.IsDir() {
		return filepath.Base(path) == declarationName
	}
	_, err = os.Stat(filepath.Join(path, declarationName))
	return err == nil
}

// printTests writes what did not pass, then the coverage, then one line for all.
func printTests(w io.Writer, dir string, report *opa.TestReport) {
	passed, skipped := 0, 0
	for _, t := range report.Tests {
		at := fmt.Sprintf("%s:%d", filepath.Join(dir, filepath.FromSlash(t.File)), t.Line)
		switch {
		case t.Passed:
			passed++
		case t.Skipped:
			skipped++
			fmt.Fprintf(w, "skip %s %s\n", at, t.Name)
		default:
			fmt.Fprintf(w, "FAIL %s %s: %s\n", at, t.Name, t.Message)
			for line := range strings.Lines(t.Output) {
				fmt.Fprintf(w, "     %s\n", strings.TrimRight(line, "\n"))
			}
		}
	}
	for _, f := range report.Files {
		fmt.Fprintf(w, "%5.1f%% %s%s\n", f.Coverage, filepath.Join(dir, filepath.FromSlash(f.File)), uncovered(f.Uncovered))
	}
	fmt.Fprintf(w, "%s: %d passed, %d failed, %d skipped; coverage %.1f%%\n",
		count(len(report.Tests), "test"), passed, len(report.Failed()), skipped, report.Coverage)
}

func uncovered(lines []opa.Lines) string {
	if len(lines) == 0 {
		return ""
	}
	ranges := make([]string, len(lines))
	for i, l := range lines {
		ranges[i] = fmt.Sprint(l.From)
		if l.To > l.From {
			ranges[i] = fmt.Sprintf("%d-%d", l.From, l.To)
		}
	}
	return "  no test reaches " + strings.Join(slices.Compact(ranges), ", ")
}
