package console

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/httpguard"
)

// A fact is one thing that a declaration says.
type fact struct{ Name, Value string }

// tools serves the catalog. Every caller may read it: it says what the models are told, and what binds them.
func (p *pages) tools(q *request) error {
	var items []*runtime.Spec
	for _, t := range p.exec.Registry().All() {
		items = append(items, t.Spec())
	}
	slices.SortFunc(items, func(a, b *runtime.Spec) int { return cmp.Compare(a.Name, b.Name) })
	p.render(q, http.StatusOK, "tools", "Tools", items)
	return nil
}

// tool serves the declaration of one tool.
func (p *pages) tool(q *request) error {
	t, _, ok := p.exec.Registry().Lookup(q.id("name"))
	if !ok {
		return problem(httpguard.NotFound, "there is no such tool")
	}
	s := t.Spec()
	p.render(q, http.StatusOK, "tool", cmp.Or(s.Title, s.Name), struct {
		*runtime.Spec
		EffectWords, Old                string
		Facts, Consent, Limits, Binding []fact
		NotEnforced                     []string
		Input, Output                   string
	}{
		s, effects[s.Effect.String()], oldWords(s), factsOf(s), consentFacts(s.Consent), limitFacts(s), ruleFacts(&s.Rules), t.Unenforced(), schemaText(s.InputSchema), schemaText(s.OutputSchema),
	})
	return nil
}

// list makes a list of facts without those that say nothing.
func list(facts ...fact) []fact {
	return slices.DeleteFunc(facts, func(f fact) bool { return f.Value == "" })
}

func yes(is bool, words string) string {
	if is {
		return words
	}
	return ""
}

func oldWords(s *runtime.Spec) string {
	if s.Deprecated == nil {
		return ""
	}
	return s.Deprecated.String()
}

func factsOf(s *runtime.Spec) []fact {
	undo := "cannot be undone"
	if s.Undo != nil {
		undo = "can be undone for " + span(s.Undo.TTL)
	}
	modes := make([]string, len(s.Modes))
	for i, m := range s.Modes {
		modes[i] = m.Name + " is " + strings.Join(m.Values, " or ")
	}
	return list(
		fact{"Version", s.Version}, fact{"Known to clients as", s.Alias}, fact{"Earlier names", strings.Join(s.RenamedFrom, ", ")},
		fact{"Undo", undo}, fact{"Repeated call", yes(s.Idempotent, "has no further effect")}, fact{"Needs", strings.Join(s.Capabilities, ", ")},
		fact{"Only while the agent is", strings.Join(s.Behaviors, " or ")}, fact{"Only while", strings.Join(modes, ", and ")},
		fact{"Transaction", yes(s.Transactional, "all effects are rolled back with the call")},
	)
}

func consentFacts(c *runtime.Consent) []fact {
	if c == nil {
		return nil
	}
	return list(
		fact{"Asks", c.Ask.String()}, fact{"Message", c.Message}, fact{"Approvers", approversOf(&consent.Requirement{Approvers: c.Approvers})},
		fact{"Approvals wanted", fmt.Sprint(max(c.Quorum, 1))}, fact{"Widest grant", c.MaxCover.String()}, fact{"Preview", yes(c.Preview, "yes")},
		fact{"Approvers may edit", yes(c.AllowEdit, "yes")}, fact{"Principal may approve", yes(c.AllowSelf, "yes")},
		fact{"Shown to approvers in clear", strings.Join(c.Reveal, ", ")},
	)
}

func limitFacts(s *runtime.Spec) []fact {
	number := func(n int, words string) string { return yes(n > 0, fmt.Sprintf(words, n)) }
	retry := ""
	if s.Retry != nil {
		retry = count(s.Retry.Max, "attempt") + " more"
	}
	return list(
		fact{"Deadline of an attempt", span(cmp.Or(s.Deadline, runtime.DefaultDeadline))},
		fact{"Input", fmt.Sprintf("%d bytes", cmp.Or(s.Limits.Input, runtime.DefaultInputLimit))},
		fact{"Output", fmt.Sprintf("%d bytes", cmp.Or(s.Limits.Output, runtime.DefaultOutputLimit))},
		fact{"At once", number(s.Limits.Concurrency, "%d calls")}, fact{"Retries", retry},
	)
}

func ruleFacts(r *runtime.Rules) []fact {
	preceding := strings.Join(r.RequiresPreceding, " and ")
	if r.AnyPreceding {
		preceding = strings.Join(r.RequiresPreceding, " or ")
	}
	operations := ""
	if o := r.AllowedOperations; o != nil {
		operations = o.Arg + " is " + strings.Join(o.Values, " or ")
	}
	return list(
		fact{"First call of a run", yes(r.StartConstraint, "must be of this tool")}, fact{"After", preceding}, fact{"Not after", strings.Join(r.MustPrecede, ", ")},
		fact{"Exclusive groups", strings.Join(r.ExclusiveGroups, ", ")}, fact{"Before the run ends", yes(r.RequiredBeforeExit, "must have been called")},
		fact{"Calls", yes(r.MaxCalls > 0, count(r.MaxCalls, "call")+" at most")}, fact{"Pause between calls", yes(r.Cooldown > 0, span(r.Cooldown))},
		fact{"Loop", yes(r.ExitLoop, "ends with this tool") + yes(r.ContinueLoop, "goes on with this tool")}, fact{"Operations", operations},
	)
}

// schemaText returns a schema as it is read best.
func schemaText(s *string) string {
	if s == nil {
		return ""
	}
	var out bytes.Buffer
	if json.Indent(&out, []byte(*s), "", "  ") != nil {
		return *s
	}
	return out.String()
}
