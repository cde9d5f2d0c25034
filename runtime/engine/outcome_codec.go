package engine

import (
	"encoding/json"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/rules"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A recordedOutcome is an Outcome as a record holds it. It omits the output and what other members
// of the record say.
type recordedOutcome struct {
	Kind        runtime.OutcomeKind  `json:"outcome"`
	Reason      runtime.Reason       `json:"reason,omitzero"`
	AllReasons  []runtime.Reason     `json:"all_reasons,omitempty"`
	Violations  []wire.Violation     `json:"violations,omitempty"`
	Message     string               `json:"message,omitempty"`
	Retryable   bool                 `json:"retryable,omitempty"`
	RolledBack  bool                 `json:"rolled_back,omitempty"`
	Obligations []recordedObligation `json:"obligations,omitempty"`
	Denials     []recordedDenial     `json:"denials,omitempty"`
	Detail      recordedDetail       `json:"detail,omitzero"`
	Of          string               `json:"of,omitempty"`
	RequestID   string               `json:"request,omitempty"`
	Steps       []recordedStep       `json:"steps,omitempty"`
	Loop        runtime.Loop         `json:"loop"`
	Run         runtime.RunState     `json:"run_state"`
	PendingExit []string             `json:"pending_exit,omitempty"`
}

// A recordedDetail is a Detail with its durations.
type recordedDetail struct {
	runtime.Detail
	RetryAfter time.Duration `json:"retry_after_ns,omitempty"`
	ExpiresIn  time.Duration `json:"expires_in_ns,omitempty"`
	Deadline   time.Duration `json:"deadline_ns,omitempty"`
}

// A recordedDenial is a Denial with its detail.
type recordedDenial struct {
	runtime.Denial
	Detail json.RawMessage `json:"detail,omitempty"`
}

// A recordedObligation is an Obligation with its args.
type recordedObligation struct {
	runtime.Obligation
	Args json.RawMessage `json:"args,omitempty"`
}

// A recordedStep is a Step with names for its members.
type recordedStep struct {
	Kind    rules.StepKind `json:"kind"`
	Tool    string         `json:"tool,omitempty"`
	Call    string         `json:"call,omitempty"`
	Consent bool           `json:"consent,omitempty"`
	For     time.Duration  `json:"for_ns,omitempty"`
}

// recordOutcome returns o as a record holds it.
func recordOutcome(o *runtime.Outcome) ([]byte, error) {
	if plainOutcome(o) { // most outcomes have only these members
		return []byte(`{"outcome":"` + o.Kind.String() + `","loop":"` + o.Loop.String() + `","run_state":"` + o.Run.String() + `"}`), nil
	}
	r := recordedOutcome{
		Kind: o.Kind, Reason: o.Reason, AllReasons: o.AllReasons, Violations: o.Violations, Message: o.Message,
		Retryable: o.Retryable, RolledBack: o.RolledBack, Of: o.Of, RequestID: o.RequestID, Loop: o.Loop, Run: o.Run, PendingExit: o.PendingExit,
		Obligations: recordObligations(o.Obligations), Denials: recordDenials(o.Denials),
		Detail: recordedDetail{o.Detail, o.Detail.RetryAfter, o.Detail.ExpiresIn, o.Detail.Deadline},
	}
	for _, s := range o.Steps {
		r.Steps = append(r.Steps, recordedStep(s))
	}
	if emptyDetail(&o.Detail) {
		r.Detail = recordedDetail{}
	}
	return json.Marshal(&r)
}

// recallOutcome returns the outcome that a record holds.
func recallOutcome(text []byte) (runtime.Outcome, error) {
	var r recordedOutcome
	if err := json.Unmarshal(text, &r); err != nil {
		return runtime.Outcome{}, err
	}
	o := runtime.Outcome{
		Kind: r.Kind, Reason: r.Reason, AllReasons: r.AllReasons, Violations: r.Violations, Message: r.Message,
		Retryable: r.Retryable, RolledBack: r.RolledBack, Of: r.Of, RequestID: r.RequestID, Loop: r.Loop, Run: r.Run, PendingExit: r.PendingExit,
		Detail: r.Detail.Detail,
	}
	o.Detail.RetryAfter, o.Detail.ExpiresIn, o.Detail.Deadline = r.Detail.RetryAfter, r.Detail.ExpiresIn, r.Detail.Deadline
	for _, s := range r.Steps {
		o.Steps = append(o.Steps, runtime.Step(s))
	}
	for _, d := range r.Denials {
		d.Denial.Detail = wire.Raw(d.Detail)
		o.Denials = append(o.Denials, d.Denial)
	}
	for _, b := range r.Obligations {
		b.Obligation.Args = wire.Raw(b.Args)
		o.Obligations = append(o.Obligations, b.Obligation)
	}
	return o, nil
}

func recordDenials(list []runtime.Denial) (out []recordedDenial) {
	for _, d := range list {
		out = append(out, recordedDenial{d, jsonOrNil(d.Detail)})
	}
	return out
}

func recordObligations(list []runtime.Obligation) (out []recordedObligation) {
	for _, o := range list {
		out = append(out, recordedObligation{o, jsonOrNil(o.Args)})
	}
	return out
}

// jsonOrNil returns text if it is JSON, because a policy may have written any bytes.
func jsonOrNil(text wire.Raw) json.RawMessage {
	if !json.Valid(text) {
		return nil
	}
	return json.RawMessage(text)
}

// A recordedDecision is a Decision as a record holds it. Of a rewrite it has the pointer and not
// the value, which may be sensitive.
type recordedDecision struct {
	Effect      runtime.Effect       `json:"effect"`
	Denials     []recordedDenial     `json:"deny,omitempty"`
	Asks        []recordedAsk        `json:"ask,omitempty"`
	Rewrites    []recordedRewrite    `json:"modify,omitempty"`
	Obligations []recordedObligation `json:"obligations,omitempty"`
}

type recordedAsk struct {
	ID      string `json:"id"`
	Message string `json:"message,omitempty"`
	At      string `json:"at,omitempty"`
}

type recordedRewrite struct {
	Code    string `json:"code"`
	Pointer string `json:"pointer"`
	At      string `json:"at,omitempty"`
}

// recordDecision returns d as a record holds it.
func recordDecision(d *runtime.Decision) ([]byte, error) {
	if len(d.Denials)+len(d.Asks)+len(d.Rewrites)+len(d.Obligations) == 0 {
		return []byte(`{"effect":"` + d.Effect.String() + `"}`), nil
	}
	r := recordedDecision{
		Effect: d.Effect, Denials: recordDenials(d.Denials), Obligations: recordObligations(d.Obligations),
	}
	for _, a := range d.Asks {
		r.Asks = append(r.Asks, recordedAsk{a.ID, a.Message, a.At})
	}
	for _, w := range d.Rewrites {
		r.Rewrites = append(r.Rewrites, recordedRewrite{w.Code, w.Pointer, w.At})
	}
	return json.Marshal(&r)
}
