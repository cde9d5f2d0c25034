package whatif

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/project"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/opa"
	"github.com/ambit-tools/ambit/runtime/simulate/scenario"
)

// A simulation is what "ambit simulate" was asked for.
type simulation struct {
	declaration string
	policies    []string
	asJSON      bool
	now         string // as written
}

// NewSimulate returns "ambit simulate".
func NewSimulate() *cobra.Command {
	var s simulation
	cmd := &cobra.Command{
		Use:   "simulate FILE...",
		Short: "Run scenarios: sequences of calls, and what is expected of them",
		Long: `Simulate runs the cases of scenario files through the executor, with stand-in
handlers and a clock that only moves when a case says so. It prints one line per
case: "ok NAME", or "FAIL NAME STEP: what was expected, what came (why)" for the
first step that differs, and ends with exit code 3 when a case fails. Steps count
from 0.

With --declaration the tools, their rules and policies are those of a
declaration instead of those in the cases. With --now every case begins at that
instant instead of 2000-01-01T00:00:00Z. docs/scenarios.md and the documentation of
runtime/simulate/scenario says what a scenario file holds.`,
		Example: `  ambit simulate testdata/limits.yaml
  ambit simulate --declaration tools.yaml --policies policy testdata/*.yaml
  ambit simulate --json testdata/limits.yaml`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmdutil.Usage("simulate needs a scenario file", "name one or more")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			now, err := parseInstant(s.now)
			if err != nil {
				return err
			}
			setup, err := s.setup()
			if err != nil {
				return err
			}
			setup.Now = now
			cases, err := s.read(args, setup)
			if err != nil {
				return err
			}
			return s.run(cmd.OutOrStdout(), cases, setup)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&s.declaration, "declaration", "", "run the cases against the tools of this `file`")
	project.PolicyFlag(cmd, &s.policies)
	nowFlag(cmd, &s.now, "every case begins at this `instant`, as RFC 3339 writes it")
	flags.BoolVar(&s.asJSON, "json", false, "print the result of every step as JSON, and compare nothing")
	return cmd
}

// setup loads the declaration and its policies.
func (s *simulation) setup() (*scenario.Setup, error) {
	if s.declaration == "" {
		if len(s.policies) > 0 {
			return nil, cmdutil.Usage("--policies needs --declaration", "name the declaration that the policies are for")
		}
		return &scenario.Setup{}, nil
	}
	path, err := project.Locate([]string{s.declaration})
	if err != nil {
		return nil, err
	}
	d, err := project.Load(path)
	if err != nil {
		return nil, err
	}
	fsys, err := d.Policies(s.policies)
	if err != nil {
		return nil, err
	}
	return &scenario.Setup{Declaration: d.File, Policy: func(reg *runtime.Registry) (runtime.Policy, error) {
		p, err := opa.Load(fsys, reg, opa.OnFailedTests(nil))
		if err != nil {
			return nil, err
		}
		return p, nil
	}}, nil
}

// read parses all files, so that nothing is run when one of them is wrong.
func (s *simulation) read(paths []string, setup *scenario.Setup) ([]*scenario.Case, error) {
	var (
		cases []*scenario.Case
		errs  []error
	)
	for _, path := range paths {
		source, err := os.ReadFile(path)
		if err != nil {
			errs = append(errs, cmdutil.FileProblem(path, err, "name files of scenarios, as runtime/simulate/scenario documents them"))
			continue
		}
		f, err := scenario.Parse(path, source)
		if err == nil {
			err = setup.Check(f, source)
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		cases = append(cases, f.Cases...)
	}
	return cases, errors.Join(errs...)
}

func (s *simulation) run(w io.Writer, cases []*scenario.Case, setup *scenario.Setup) error {
	var errs []error
	failed := false
	for _, c := range cases {
		trace, err := c.Run(setup)
		if err != nil {
			errs = append(errs, cmdutil.Problem("case "+cmdutil.Quote(c.Name)+": "+err.Error(), ""))
		}
		if s.asJSON {
			if err := trace.WriteJSON(w); err != nil {
				return err
			}
			continue
		}
		faults := trace.Faults()
		switch {
		case len(faults) > 0:
			failed = true
			fmt.Fprintf(w, "FAIL %s %s\n", c.Name, faults)
		case err == nil:
			fmt.Fprintf(w, "ok %s\n", c.Name)
		}
	}
	if failed {
		errs = append(errs, cmdutil.Answered(cmdutil.ExitVerdict))
	}
	return errors.Join(errs...)
}
