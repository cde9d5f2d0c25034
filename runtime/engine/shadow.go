package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// ruleBreaker is the rule of a call that was denied without an evaluation of the policy.
const ruleBreaker = "breaker_open"

// WithShadow adds a second policy that evaluates the calls that the policy evaluates, to see what
// it would change before it decides calls. For each difference the executor calls report, which may
// be nil, and writes a record, policy.shadow, to the journal. The shadow policy never decides a
// call.
//
// The shadow policy runs in a goroutine of its own, after the policy, on the same facts and on its
// own copy of the arguments. Its errors, its panics and its duration do not affect calls. While 256
// calls wait for it, further calls are not compared; ShadowStats counts them. Undos and edited
// arguments are not compared either. A call that waited for consent is compared twice, because it
// is evaluated twice. The shadow has the policy's time limit, and does not count against the limit
// of concurrent evaluations.
//
// The same goroutine calls report, one difference after the other.
func WithShadow(p runtime.Policy, report func(ShadowDifference)) Option {
	return func(e *Executor) {
		if p != nil {
			e.shadow = &shadow{exec: e, policy: p, report: report, idle: sched.NewEvent()}
		}
	}
}

// A ShadowDifference is a call that the shadow policy would decide differently.
type ShadowDifference struct {
	Time             time.Time // when the policy was evaluated
	CallID, Tool     string
	SessionID, RunID string
	Agent, Principal string

	Active, Shadow ShadowDecision
	Err            error // of the shadow; for operators only
}

// A ShadowDecision has the members of a decision that are compared. A denial is compared only by
// its denials; Asks is empty unless the effect is ask.
type ShadowDecision struct {
	Effect      runtime.Effect `json:"effect"`
	Denials     []string       `json:"deny,omitempty"`        // codes, sorted
	Asks        []string       `json:"ask,omitempty"`         // ids, sorted
	Rewrites    []string       `json:"modify,omitempty"`      // pointers, sorted
	Obligations []string       `json:"obligations,omitempty"` // codes, sorted
	Failed      string         `json:"failed,omitempty"`      // why there is no decision: error, timeout, panic, ...
	Revision    string         `json:"policy_revision,omitempty"`
}

// ShadowStats counts calls that were evaluated while there was a shadow policy.
type ShadowStats struct {
	Compared  uint64
	Different uint64 // of Compared
	Failed    uint64 // of Compared: the shadow had no decision
	Dropped   uint64 // not compared: the shadow was too slow
}

// ShadowStats returns how many calls were compared with a shadow policy.
func (e *Executor) ShadowStats() ShadowStats {
	if e == nil || e.shadow == nil {
		return ShadowStats{}
	}
	e.shadow.mu.Lock()
	defer e.shadow.mu.Unlock()
	return e.shadow.stats
}

// judge has the shadow policy evaluate one call, and reports a difference.
func (s *shadow) judge(t *shadowed) {
	is, err := s.decide(t)
	was := shadowDecision(&t.active)
	if t.failed != "" {
		was = ShadowDecision{Failed: t.failed, Revision: t.active.Revision}
	}
	different := !was.same(&is)
	s.mu.Lock()
	s.stats.Compared++
	if is.Failed != "" {
		s.stats.Failed++
	}
	if different {
		s.stats.Different++
	}
	told := different && !s.over
	s.mu.Unlock()
	if !told {
		return
	}
	in := &t.in
	d := ShadowDifference{
		Time: in.Now, CallID: in.CallID, Tool: in.Tool.Name, SessionID: in.SessionID, RunID: in.RunID,
		Agent: t.agent, Principal: in.Principal, Active: was, Shadow: is, Err: err,
	}
	s.exec.recordShadow(&d)
	if s.report == nil {
		return
	}
	if err := guard(func() error { s.report(d); return nil }); err != nil {
		s.exec.report(&CallError{Tool: d.Tool, CallID: d.CallID, SessionID: d.SessionID, RunID: d.RunID, Err: fmt.Errorf("report of the shadow policy: %w", err)})
	}
}

var errShadowArgs = errors.New("the arguments cannot be decoded again")

// decide evaluates the shadow policy, on a copy of the arguments that no other goroutine has.
func (s *shadow) decide(t *shadowed) (ShadowDecision, error) {
	ctx := s.evaluation()
	defer ctx.cancel(whyCanceled)
	var d runtime.Decision
	returned := false
	err := guard(func() error {
		args, violations := t.tool.Decode(t.text)
		if violations != nil {
			returned = true
			return errShadowArgs
		}
		t.in.Args = args
		t.in.SetFacts(t.facts.Bare())
		var err error
		d, err = s.policy.Decide(ctx, &t.in)
		returned = true
		return err
	})
	failed := ""
	switch {
	case !returned:
		failed = "panic"
	case ctx.Err() != nil:
		failed, err = "timeout", errAbandoned
	case err != nil:
		failed = "error"
	case d.Effect > runtime.EffectAllow:
		failed, err = "effect", fmt.Errorf("the policy answered %v", d.Effect)
	default:
		return shadowDecision(&d), nil
	}
	return ShadowDecision{Failed: failed, Revision: d.Revision}, err
}

// shadowDecision returns the members of d that are compared.
func shadowDecision(d *runtime.Decision) ShadowDecision {
	out := ShadowDecision{Effect: d.Effect, Revision: d.Revision}
	if len(d.Denials) > 0 || d.Effect == runtime.EffectDeny {
		out.Effect = runtime.EffectDeny
		out.Denials = sorted(d.Denials, func(x runtime.Denial) string { return x.Code })
		return out
	}
	if len(d.Asks) > 0 {
		out.Effect = runtime.EffectAsk
	}
	out.Asks = sorted(d.Asks, func(x runtime.Ask) string { return x.ID })
	out.Rewrites = sorted(d.Rewrites, func(x runtime.Rewrite) string { return x.Pointer })
	out.Obligations = sorted(d.Obligations, func(x runtime.Obligation) string { return x.Code })
	return out
}

// sorted returns the names of a list, each once, in order.
func sorted[T any](list []T, name func(T) string) (names []string) {
	for _, x := range list {
		names = append(names, name(x))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// recordShadow records a difference.
func (e *Executor) recordShadow(d *ShadowDifference) {
	if !e.log.On() {
		return
	}
	both, err := json.Marshal(struct {
		Active ShadowDecision `json:"active"`
		Shadow ShadowDecision `json:"shadow"`
	}{d.Active, d.Shadow})
	if err != nil {
		return
	}
	e.log.Add(&journal.Record{
		Kind: journal.KindShadow, At: plain(e.sched.Now()), Session: d.SessionID, Run: d.RunID, Agent: d.Agent, Principal: d.Principal,
		Call: d.CallID, Tool: d.Tool, Revision: d.Active.Revision, Decision: both,
	}, nil)
}

// same reports whether two decisions are equal in effect.
func (d *ShadowDecision) same(o *ShadowDecision) bool {
	return d.Effect == o.Effect && (d.Failed == "") == (o.Failed == "") &&
		slices.Equal(d.Denials, o.Denials) && slices.Equal(d.Asks, o.Asks) &&
		slices.Equal(d.Rewrites, o.Rewrites) && slices.Equal(d.Obligations, o.Obligations)
}
