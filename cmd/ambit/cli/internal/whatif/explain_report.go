package whatif

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/host/terminal"
	"github.com/ambit-tools/ambit/runtime/opa"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// An answer is what "ambit explain" prints.
type answer struct {
	verdict  engine.Verdict
	allows   []opa.Allow       // what allows the call
	rewrites []runtime.Rewrite // what changed its arguments
	failure  error             // why the policy could not judge it
	by       opa.Evaluator     // that decided
	tool     string
	given    []byte        // the arguments of the call
	consent  *consentTerms // nil when the call needs no consent
}

// consentTerms say who must agree to a call, how soon, and how far that may reach.
type consentTerms struct {
	Approvers []string `json:"approvers"` // empty: any but the principal
	Quorum    int      `json:"quorum"`
	Timeout   string   `json:"timeout"`
	MaxCover  string   `json:"max_cover"`
}

// String is for people.
func (r *consentTerms) String() string {
	who := "anybody but the principal"
	if len(r.Approvers) > 0 {
		who = strings.Join(r.Approvers, ", ")
	}
	return fmt.Sprintf("%s of %s, within %s; a grant may cover %s", cmdutil.Count(r.Quorum, "approval"), who, r.Timeout, r.MaxCover)
}

// headline says in one line what would happen.
func (a *answer) headline() string {
	v := a.verdict
	if v.Runs {
		return a.tool + ": would run"
	}
	if v.Outcome.Kind == runtime.Pending {
		return a.tool + ": would wait for consent"
	}
	names := make([]string, 0, len(v.Outcome.AllReasons))
	for _, r := range v.Outcome.AllReasons {
		names = append(names, r.String())
	}
	return a.tool + ": would be " + v.Outcome.Kind.String() + ", " + strings.Join(names, ", ")
}

// print writes the answer for a person: the headline, then one block per reason.
func (a *answer) print(w io.Writer) {
	v := a.verdict
	fmt.Fprintln(w, a.headline())
	for _, violation := range v.Outcome.Violations {
		fmt.Fprintf(w, "  invalid   %s\n", violation)
	}
	if a.failure != nil {
		fmt.Fprintf(w, "  %-10s %s\n", "failed", a.failure.Error())
	}
	for _, d := range v.Decision.Denials {
		a.block(w, "denied by", d.Code, d.At, d.Message)
		if allowed := allowedValues(d.Detail); allowed != "" {
			fmt.Fprintf(w, "             allowed: %s\n", allowed)
		}
		if hint := a.denialHint(d); hint != "" {
			fmt.Fprintf(w, "             hint: %s\n", hint)
		}
	}
	for _, q := range v.Decision.Asks {
		a.block(w, "asked by", q.ID, q.At, terminal.Escape(q.Message))
	}
	if a.consent != nil {
		fmt.Fprintf(w, "  %-10s %s\n", "needs", a.consent)
	}
	for _, r := range a.allows {
		a.block(w, "allowed by", r.Code, r.At, r.Message)
	}
	for _, r := range a.rewrites {
		a.block(w, "changed by", r.Code, r.At, r.Pointer+" becomes "+string(r.Value))
	}
	if len(a.rewrites) > 0 {
		fmt.Fprintf(w, "  %-10s %s\n", "given", cmdutil.OneLine(a.given))
		if v.Runs {
			fmt.Fprintf(w, "  %-10s %s\n", "runs with", v.Input)
		}
	}
	for _, o := range v.Decision.Obligations {
		a.block(w, "obliged by", o.Code, o.At, string(o.Args))
	}
	if len(v.Outcome.Steps) > 0 {
		fmt.Fprintf(w, "  %-10s %s\n", "would run", "after "+stepsText(v.Outcome.Steps))
	}
	if name := evaluators[a.by]; name != "" {
		fmt.Fprintf(w, "  %-10s %s\n", "decided by", name)
	}
	if !v.Runs && len(v.Outcome.Violations) == 0 {
		fmt.Fprintf(w, "  the model is told: %s\n", v.Outcome.Message)
	}
}

// evaluators are the evaluators of policies, for people.
var evaluators = map[opa.Evaluator]string{opa.Plan: "OPA's plan", opa.Reference: "OPA's evaluator"}

// denialHint says what to do about a denial that no rule gave.
func (a *answer) denialHint(d runtime.Denial) string {
	if d.Code != "no_allow" {
		return ""
	}
	return "write allow contains {\"code\": ..., \"message\": ...} if ... in package ambit.tools." + a.tool
}

// allowedValues are the values that the detail of a denial says are allowed.
func allowedValues(detail []byte) string {
	var d struct {
		Allowed []string `json:"allowed"`
	}
	if json.Unmarshal(detail, &d) != nil {
		return ""
	}
	return strings.Join(d.Allowed, ", ")
}

func (a *answer) block(w io.Writer, what, code, at, message string) {
	fmt.Fprintf(w, "  %-10s %s", what, code)
	if at != "" {
		fmt.Fprintf(w, "  %s", at)
	}
	if message != "" {
		fmt.Fprintf(w, "\n             %s", message)
	}
	fmt.Fprintln(w)
}

// ruleJSON is one thing that a rule of a policy said.
type ruleJSON struct {
	Kind    string          `json:"kind"` // deny, ask, allow, modify or oblige
	Code    string          `json:"code"`
	At      string          `json:"at,omitempty"`
	Message string          `json:"message,omitempty"`
	Pointer string          `json:"pointer,omitempty"`
	Value   json.RawMessage `json:"value,omitempty"`
	Hint    string          `json:"hint,omitempty"`
}

func (a *answer) rules() []ruleJSON {
	d := a.verdict.Decision
	rules := []ruleJSON{}
	for _, r := range d.Denials {
		rules = append(rules, ruleJSON{Kind: "deny", Code: r.Code, At: r.At, Message: r.Message, Value: json.RawMessage(r.Detail), Hint: a.denialHint(r)})
	}
	for _, r := range d.Asks {
		rules = append(rules, ruleJSON{Kind: "ask", Code: r.ID, At: r.At, Message: r.Message})
	}
	for _, r := range a.allows {
		rules = append(rules, ruleJSON{Kind: "allow", Code: r.Code, At: r.At, Message: r.Message})
	}
	for _, r := range a.rewrites {
		rules = append(rules, ruleJSON{Kind: "modify", Code: r.Code, At: r.At, Pointer: r.Pointer, Value: json.RawMessage(r.Value)})
	}
	for _, r := range d.Obligations {
		rules = append(rules, ruleJSON{Kind: "oblige", Code: r.Code, At: r.At, Value: json.RawMessage(r.Args)})
	}
	return rules
}

func (a *answer) printJSON(w io.Writer) error {
	v := a.verdict
	out := struct {
		Tool       string           `json:"tool"`
		Runs       bool             `json:"runs"`
		Outcome    string           `json:"outcome,omitempty"`
		Reasons    []runtime.Reason `json:"reasons"`
		Message    string           `json:"message,omitempty"`
		Violations []wire.Violation `json:"violations"`
		Rules      []ruleJSON       `json:"rules"`
		Consent    *consentTerms    `json:"consent,omitempty"`
		Steps      []string         `json:"steps,omitempty"` // after these the call would be admitted
		Revision   string           `json:"revision,omitempty"`
		Evaluator  opa.Evaluator    `json:"evaluator,omitempty"`
		Error      string           `json:"error,omitempty"` // why the policy could not judge the call
		Given      json.RawMessage  `json:"given,omitempty"` // the arguments, when they are changed
		RunsWith   json.RawMessage  `json:"runs_with,omitempty"`
	}{
		Tool: a.tool, Runs: v.Runs, Reasons: append([]runtime.Reason{}, v.Outcome.AllReasons...), Message: v.Outcome.Message,
		Violations: append([]wire.Violation{}, v.Outcome.Violations...), Rules: a.rules(), Consent: a.consent, Revision: v.Decision.Revision, Evaluator: a.by,
	}
	if !v.Runs {
		out.Outcome = v.Outcome.Kind.String()
	}
	if a.failure != nil {
		out.Error = a.failure.Error()
	}
	if len(a.rewrites) > 0 {
		out.Given = a.given
		if v.Runs {
			out.RunsWith = v.Input
		}
	}
	for _, s := range v.Outcome.Steps {
		out.Steps = append(out.Steps, s.String())
	}
	return cmdutil.PrintJSON(w, out)
}
