package opa

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ir"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/runtime/opa/internal/plan"
)

// PrintPlan writes the plan by which the rules of a policy directory are decided that
// have a name, as ambit.tools.file_write.deny, with file:line for each statement. The
// error says what is wrong with the policies, that they have no such rule, or that w
// failed.
func PrintPlan(ctx context.Context, w io.Writer, fsys fs.FS, rule string) error {
	c, err := checked(fsys)
	if err != nil {
		return err
	}
	policy, err := plan.Plan(ctx, sourceOf(c.Bundle, storeOf(c.Bundle)), policydir.EntryPoint)
	if err != nil {
		return err
	}
	var b strings.Builder
	if !plan.Print(&b, policy, strings.Split(rule, ".")) {
		return fmt.Errorf("the decision has no rule %q: it has %s", rule, strings.Join(planned(policy), ", "))
	}
	_, err = io.WriteString(w, b.String())
	return err
}

// planned returns the names of the rules of a plan.
func planned(policy *ir.Policy) []string {
	names := map[string]bool{}
	for _, f := range policy.Funcs.Funcs {
		if len(f.Path) > 1 {
			names[strings.Join(f.Path[1:], ".")] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}
