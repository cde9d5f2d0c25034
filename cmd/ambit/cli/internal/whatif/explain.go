package whatif

import (
	"cmp"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/project"
	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/opa"
)

// A question is the one call that "ambit explain" is about, and its surroundings.
type question struct {
	tool, input  string
	principal    string
	behavior     string
	capabilities []string
	modes        map[string]string
	earlier      map[string]string // as written
	policies     []string
	counts       map[string]int
	now          string // as written
	at           time.Time
}

// NewExplain returns "ambit explain".
func NewExplain() *cobra.Command {
	var (
		q      question
		asJSON bool
		rule   string
	)
	cmd := &cobra.Command{
		Use:   "explain [FILE|DIR] --tool TOOL --input JSON | --plan RULE",
		Short: "Say what would happen to one call, and why",
		Long: `Explain judges one call as the executor would, with the declaration and the
policies as they stand on disk, whether or not they have been generated. Nothing
is executed. It prints the decision, every reason for it, the rule that gave each
reason, what changed the arguments, whose consent the asks come to, and the steps
after which the same call would be admitted. Why a policy could not judge the call
is said too, and whether OPA's plan of the policies decided or OPA's evaluator, which
decides where the plan has no answer. The policy has 10 seconds here, and in an executor one second unless that says
otherwise. A denial is an answer like any other: the exit code is 0.

Earlier calls (--count) are assumed to have been allowed, agreed to and successful,
in an order that the rules allow and so long ago that no cooldown is left. The call
is judged as of now, or with --now at that instant.`,
		Example: `  ambit explain --tool note_write --input '{"title": "A", "text": "one"}'
  ambit explain --tool web_search --input @call.json --mode web_mode=live --capability network.read
  ambit explain --tool note_read --input - --count note_read=20 --json
  ambit explain --plan ambit.tools.note_write.deny`,
		Args: cmdutil.OptionalPath,
		RunE: func(cmd *cobra.Command, args []string) error {
			if rule != "" {
				return printPlan(cmd, args, q.policies, rule)
			}
			return q.explain(cmd, args, asJSON)
		},
	}
	q.flags(cmd)
	cmd.Flags().StringVar(&rule, "plan", "", "print the plan of the `rule` of this name, as ambit.tools.note_write.deny, and judge no call")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the answer as JSON")
	return cmd
}

// explain answers the question.
func (q *question) explain(cmd *cobra.Command, args []string, asJSON bool) error {
	if q.tool == "" {
		return cmdutil.Usage("explain needs the name of a tool", "add --tool NAME")
	}
	var err error
	if q.at, err = parseInstant(q.now); err != nil {
		return err
	}
	path, err := project.Locate(args)
	if err != nil {
		return err
	}
	d, err := project.Load(path)
	if err != nil {
		return err
	}
	input, err := q.readInput(cmd.InOrStdin())
	if err != nil {
		return err
	}
	a, err := judge(cmd.Context(), d, q, input)
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(cmd.OutOrStdout())
	}
	a.print(cmd.OutOrStdout())
	return nil
}

// printPlan prints the plan of one rule of the policies.
func printPlan(cmd *cobra.Command, args, folders []string, rule string) error {
	path, err := project.Locate(args)
	if err != nil {
		return err
	}
	d, err := project.Load(path)
	if err != nil {
		return err
	}
	fsys, err := d.Policies(folders)
	if err != nil {
		return err
	}
	return opa.PrintPlan(cmd.Context(), cmd.OutOrStdout(), fsys, rule)
}

// flags adds the flags that the question is asked by.
func (q *question) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&q.tool, "tool", "", "`name` of the tool to call")
	flags.StringVar(&q.input, "input", "{}", "arguments as `JSON`, as @FILE, or - for standard input")
	flags.StringVar(&q.principal, "principal", "somebody", "`id` on whose behalf the call is made")
	flags.StringVar(&q.behavior, "behavior", "", "`name` of the behaviour of the session")
	flags.StringArrayVar(&q.capabilities, "capability", nil, "`name` of a capability that the principal holds; may be repeated")
	flags.StringToStringVar(&q.modes, "mode", nil, "mode of the session as `name=value`; may be repeated")
	flags.StringToStringVar(&q.earlier, "count", nil, "earlier successful calls in the run as `tool=n`; may be repeated")
	nowFlag(cmd, &q.now, "judge the call at this `instant`, as RFC 3339 writes it; without it now")
	project.PolicyFlag(cmd, &q.policies)
}

// readInput returns the arguments of the call.
func (q *question) readInput(stdin io.Reader) ([]byte, error) {
	name, isFile := strings.CutPrefix(q.input, "@")
	switch {
	case q.input == "-":
		return io.ReadAll(stdin)
	case isFile:
		input, err := os.ReadFile(name)
		if err != nil {
			return nil, cmdutil.FileProblem(name, err, "--input takes the arguments as JSON, @ with the name of their file, or - for standard input")
		}
		return input, nil
	}
	return []byte(q.input), nil
}

// maxCount bounds the rehearsal of earlier calls.
const maxCount = 10_000

// check refuses names that the declaration does not declare: the answer would be
// about something else than was meant.
func (q *question) check(f *dsl.File, reg *runtime.Registry) error {
	var behaviors, capabilities, modes []string
	for _, t := range f.Tools {
		behaviors, capabilities = append(behaviors, t.Behaviors...), append(capabilities, t.Capabilities...)
		for _, m := range t.Modes {
			modes = append(modes, m.Name)
		}
	}
	if q.behavior != "" {
		if err := known("behavior", q.behavior, behaviors); err != nil {
			return err
		}
	}
	for _, name := range q.capabilities {
		if err := known("capability", name, capabilities); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(q.modes)) {
		if err := known("mode", name, modes); err != nil {
			return err
		}
	}
	return q.count(reg)
}

// count reads how often which tool was called.
func (q *question) count(reg *runtime.Registry) error {
	q.counts = make(map[string]int, len(q.earlier))
	for _, tool := range slices.Sorted(maps.Keys(q.earlier)) {
		if _, _, ok := reg.Lookup(tool); !ok {
			return cmdutil.Usage("--count: no tool is named "+cmdutil.Quote(tool), cmp.Or(dsl.DidYouMean(tool, reg.Names()), "the tools are "+strings.Join(reg.Names(), ", ")))
		}
		n, err := strconv.Atoi(q.earlier[tool])
		if err != nil || n < 0 || n > maxCount {
			return cmdutil.Usage("--count: "+cmdutil.Quote(tool+"="+q.earlier[tool])+" is not a number between 0 and "+strconv.Itoa(maxCount), "write "+tool+"=2 for two earlier calls")
		}
		q.counts[tool] = n
	}
	return nil
}

// known refuses the value of a flag that is none of the names that any tool declares.
func known(flag, name string, declared []string) error {
	if slices.Contains(declared, name) {
		return nil
	}
	declared = slices.Compact(slices.Sorted(slices.Values(declared)))
	hint := "no tool declares one"
	if len(declared) > 0 {
		hint = "declared are " + strings.Join(declared, ", ")
	}
	if similar := dsl.DidYouMean(name, declared); similar != "" {
		hint = similar
	}
	return cmdutil.Usage("--"+flag+": no tool declares the "+flag+" "+cmdutil.Quote(name), hint)
}
