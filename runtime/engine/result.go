package engine

import (
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
)

// A result is the end of a call: its outcome, its last event and state, and the cause.
type result struct {
	stalled   bool             // the commit waited for a journal that could not be written
	cause     lifecycle.Cause  // of the end; NotEnded: ByWorker
	moment    lifecycle.Moment // that the cause saw
	by        string           // the approver or operator that ended the call
	evaluated *evaluation      // of the policy, to which the rules are added
	event     runtime.EventKind
	to        runtime.State
	outcome   runtime.Outcome
	output    int // bytes, before redaction
	fault     *CallError
	text      string // for operators; setText sets it
	textSet   bool   // text is set
	verdict   *Verdict
}

// workerDone is the result of a step after which the worker has nothing more to do with the call:
// the call has its outcome, or it waits for consent without a worker.
var workerDone = new(result)

// denied returns the result of a call that is denied with out.
func denied(out runtime.Outcome) *result {
	return &result{event: runtime.EventDenied, to: runtime.StateDenied, outcome: out}
}

// aborted returns the result of a call that ends with out before its handler does.
func aborted(out runtime.Outcome) *result {
	return &result{event: runtime.EventAborted, to: runtime.StateAborted, outcome: out}
}

// policyFailure returns the result of a call that is denied because the policy could not be
// evaluated.
func policyFailure(rule, message string) *result {
	j := &evaluation{}
	j.Refuse(runtime.ReasonPolicyError, runtime.Detail{Rule: rule}, message)
	r := denied(runtime.Outcome{Kind: runtime.Denied})
	r.evaluated = j
	return r
}

// A Verdict is the result of WhatIf.
type Verdict struct {
	Runs     bool             // the handler would be started
	Outcome  runtime.Outcome  // the refusal, when the handler would not be started
	Decision runtime.Decision // of the policy; zero when it was not evaluated
	Input    []byte           // JSON of the arguments of the handler; nil when the input is invalid, or was not read
}

// An admission is the result of admit. The zero value admits the call.
type admission struct {
	again bool         // evaluate again: the facts have changed, or another call excludes all others
	wait  *sched.Event // for which to wait before; nil: none
	ends  *result      // of a call that is not admitted; workerDone: it waits for consent, or has ended
}

// notAdmitted returns the admission of a call that is not admitted.
func notAdmitted(e *result) admission { return admission{ends: e} }
