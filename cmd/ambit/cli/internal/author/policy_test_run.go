package author

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/project"
	"github.com/ambit-tools/ambit/policies"
	"github.com/ambit-tools/ambit/runtime/opa"
)

func newPolicyTest() *cobra.Command {
	var (
		filter          string
		folders         []string
		verbose, asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "test [DIR]",
		Short: "Run the tests of a policy folder, with coverage",
		Long: `Test checks the policies in DIR, runs the rules whose names begin with test_ in
its _test.rego files, and says which lines of the policies no test reached.
Without an argument, and for a folder with a declaration, it takes the folder
policy beside the declaration. Policies that decide together are tested together:
name each of their folders by --policies.

The policies see the declarations as they were generated last.`,
		Args: cmdutil.OptionalPath,
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := regexp.Compile(filter); err != nil {
				return cmdutil.Usage("--run: "+err.Error(), `it takes a regular expression, in which a character such as ( is written \(`)
			}
			dirs, err := locatePolicies(args, folders)
			if err != nil {
				return err
			}
			report, err := opa.Test(cmd.Context(), policies.Join(dirs...), opa.TestOptions{Filter: filter})
			if err != nil {
				return err
			}
			if filter != "" && len(report.Tests) == 0 {
				return cmdutil.Problem("no policy test matches "+cmdutil.Quote(filter), "a full name is such as data.ambit.tools.x_test.test_y; without --run all are run")
			}
			if asJSON {
				err = cmdutil.PrintJSON(cmd.OutOrStdout(), report)
			} else {
				printTests(cmd.OutOrStdout(), report, verbose)
			}
			if failed := len(report.Failed()); err == nil && failed > 0 {
				return cmdutil.Verdict(cmdutil.Count(failed, "policy test")+" did not pass", "")
			}
			return err
		},
	}
	cmd.Flags().StringVar(&filter, "run", "", "run only the tests whose full name matches `REGEXP`")
	project.PolicyFlag(cmd, &folders)
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "list every test with how long it took and what it printed")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	return cmd
}

// locatePolicies turns the argument of "policy test", or its --policies, into
// policy folders.
func locatePolicies(args, given []string) ([]policies.Dir, error) {
	switch {
	case len(given) > 0 && len(args) > 0:
		return nil, cmdutil.Usage("the argument and --policies name policy folders each", "name all of them by --policies")
	case len(given) > 0:
	case len(args) > 0 && !declares(args[0]):
		given = args
	default:
		path, err := project.Locate(args)
		if err != nil {
			return nil, err
		}
		given = []string{project.PolicyDir(path)}
	}
	dirs := make([]policies.Dir, len(given))
	for i, dir := range given {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return nil, cmdutil.Problem("there is no policy folder "+cmdutil.Quote(dir), "name the folder that holds the .rego files")
		}
		if below, err := filepath.Glob(filepath.Join(dir, "*", project.DeclarationName)); err == nil && len(below) > 0 {
			return nil, cmdutil.Problem(cmdutil.Quote(dir)+" is not a policy folder: there is a declaration in a folder below", "name "+cmdutil.Quote(project.PolicyDir(below[0])))
		}
		dirs[i] = policies.Dir{Name: filepath.Clean(dir), FS: os.DirFS(dir)}
	}
	return dirs, nil
}

// declares tells the folder of a declaration, or the declaration itself, from a
// folder of policies.
func declares(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	if !info.IsDir() {
		return filepath.Base(path) == project.DeclarationName
	}
	_, err = os.Stat(filepath.Join(path, project.DeclarationName))
	return err == nil
}

// printTests writes what did not pass, then the coverage, then one line for all.
// verbose adds what passed, how long each test took and what each printed.
func printTests(w io.Writer, report *opa.TestReport, verbose bool) {
	passed, skipped := 0, 0
	for _, t := range report.Tests {
		line := fmt.Sprintf("%s:%d %s", t.File, t.Line, t.Name)
		took := ""
		if verbose {
			took = fmt.Sprintf(" (%.1fms)", float64(t.Duration)/float64(time.Millisecond))
		}
		switch {
		case t.Passed:
			passed++
			if verbose {
				fmt.Fprintf(w, "ok   %s%s\n", line, took)
			}
		case t.Skipped:
			skipped++
			fmt.Fprintf(w, "skip %s\n", line)
		default:
			fmt.Fprintf(w, "FAIL %s%s: %s\n", line, took, t.Message)
		}
		if !t.Passed || verbose {
			for line := range strings.Lines(t.Output) {
				fmt.Fprintf(w, "     %s\n", strings.TrimRight(line, "\n"))
			}
		}
	}
	for _, f := range report.Files {
		fmt.Fprintf(w, "%5.1f%% %s%s\n", f.Coverage, f.File, uncovered(f.Uncovered))
	}
	fmt.Fprintf(w, "%s: %d passed, %d failed, %d skipped; coverage %.1f%%\n",
		cmdutil.Count(len(report.Tests), "test"), passed, len(report.Failed()), skipped, report.Coverage)
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
