package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/runtime"
)

// A Fact is one thing that a declaration says.
type Fact struct{ Name, Value string }

// Said returns facts without those that say nothing.
func Said(facts ...Fact) []Fact {
	return slices.DeleteFunc(facts, func(f Fact) bool { return f.Value == "" })
}

// Yes returns words when something is so.
func Yes(is bool, words string) string {
	if is {
		return words
	}
	return ""
}

// Facts says what a tool is and when it can run.
func Facts(s *runtime.Spec) []Fact {
	undo := "cannot be undone"
	if s.Undo != nil {
		undo = "can be undone for " + Span(s.Undo.TTL)
	}
	modes := make([]string, len(s.Modes))
	for i, m := range s.Modes {
		modes[i] = m.Name + " is " + strings.Join(m.Values, " or ")
	}
	return Said(
		Fact{"Version", s.Version}, Fact{"Known to clients as", s.Alias}, Fact{"Earlier names", strings.Join(s.RenamedFrom, ", ")},
		Fact{"Undo", undo}, Fact{"Repeated call", Yes(s.Idempotent, "has no further effect")}, Fact{"Needs", strings.Join(s.Capabilities, ", ")},
		Fact{"Only while the agent is", strings.Join(s.Behaviors, " or ")}, Fact{"Only while", strings.Join(modes, ", and ")},
		Fact{"Transaction", Yes(s.Transactional, "all effects are rolled back with the call")},
	)
}

// Consent says who is asked, and how; nothing when the declaration has no consent.
func Consent(c *runtime.Consent) []Fact {
	if c == nil {
		return nil
	}
	return Said(
		Fact{"Asks", c.Ask.String()}, Fact{"Message", c.Message}, Fact{"Approvers", Approvers(c.Approvers)},
		Fact{"Time to answer", Yes(c.Timeout > 0, Span(c.Timeout))}, Fact{"Approvals wanted", fmt.Sprint(max(c.Quorum, 1))}, Fact{"Widest grant", c.MaxCover.String()}, Fact{"Preview", Yes(c.Preview, "yes")},
		Fact{"Approvers may edit", Yes(c.AllowEdit, "yes")}, Fact{"Principal may approve", Yes(c.AllowSelf, "yes")},
		Fact{"Shown to approvers in clear", strings.Join(c.Reveal, ", ")},
	)
}

// Limits says what bounds one call, with the defaults of what is not declared.
func Limits(s *runtime.Spec) []Fact {
	number := func(n int, words string) string { return Yes(n > 0, fmt.Sprintf(words, n)) }
	retry := ""
	if s.Retry != nil {
		retry = Count(s.Retry.Max, "attempt") + " more"
	}
	return Said(
		Fact{"Deadline of an attempt", Span(cmp.Or(s.Deadline, runtime.DefaultDeadline))},
		Fact{"Input", fmt.Sprintf("%d bytes", cmp.Or(s.Limits.Input, runtime.DefaultInputLimit))},
		Fact{"Output", fmt.Sprintf("%d bytes", cmp.Or(s.Limits.Output, runtime.DefaultOutputLimit))},
		Fact{"At once", number(s.Limits.Concurrency, "%d calls")}, Fact{"Retries", retry},
	)
}

// Rules says which rules bind a tool, or a whole set of tools.
func Rules(r *runtime.Rules) []Fact {
	preceding := strings.Join(r.RequiresPreceding, " and ")
	if r.AnyPreceding {
		preceding = strings.Join(r.RequiresPreceding, " or ")
	}
	operations := ""
	if o := r.AllowedOperations; o != nil {
		operations = o.Arg + " is " + strings.Join(o.Values, " or ")
	}
	return Said(
		Fact{"First call of a run", Yes(r.StartConstraint, "must be of this tool")}, Fact{"After", preceding}, Fact{"Not after", strings.Join(r.MustPrecede, ", ")},
		Fact{"Exclusive groups", strings.Join(r.ExclusiveGroups, ", ")}, Fact{"Before the run ends", Yes(r.RequiredBeforeExit, "must have been called")},
		Fact{"Calls", Yes(r.MaxCalls > 0, Count(r.MaxCalls, "call")+" at most")}, Fact{"Pause between calls", Yes(r.Cooldown > 0, Span(r.Cooldown))},
		Fact{"Loop", Yes(r.ExitLoop, "ends with this tool") + Yes(r.ContinueLoop, "goes on with this tool")}, Fact{"Operations", operations},
	)
}
