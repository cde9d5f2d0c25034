package scenario

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/walk"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A policyRule is one entry of a stand-in policy.
type policyRule struct {
	tool     string // empty: any
	where    []consent.Predicate
	decision string
	set      []pair
	reason   string
	name     string // what grants remember of an ask
}

// decision reads what a policy may decide.
func (r *reader) decision(n *node, key string, dst *string) {
	r.choice(n, key, dst, "allow", "ask", "deny", "modify", "error")
}

func (r *reader) parsePolicy(n *node) []policyRule {
	var rules []policyRule
	r.list(n, "policy", func(n *node) {
		var p policyRule
		when := "any"
		r.mapping(n, "the policy entry", fields{
			"when": func(n *node) {
				when = string(n.appendJSON(nil))
				r.mapping(n, "when", fields{
					"tool": func(n *node) { r.string(n, "when.tool", &p.tool) },
					"args": func(n *node) { p.where = r.predicates(n, "when.args") },
				})
			},
			"decision": func(n *node) { r.decision(n, "decision", &p.decision) },
			"set": func(n *node) {
				if n.kind != kindMap {
					r.report(n.pos, "write set: {arg: value}", "set must be a mapping, not %s", n.kind)
				}
				p.set = n.pairs
			},
			"reason": func(n *node) { r.string(n, "reason", &p.reason) },
		}, "decision")
		if p.set != nil && p.decision != "modify" {
			r.report(n.pos, "write decision: modify, or remove set", "set belongs to decision: modify")
		}
		p.name = cmp.Or(p.reason, unnamed+when)
		rules = append(rules, p)
	})
	return rules
}

// A standIn is a policy that can be replaced, as a reload does.
type standIn struct {
	mu     sync.RWMutex
	now    policySource
	failed map[string]string // by call id: the reason of the entry that failed
}

func (s *standIn) set(p policySource) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.version = cmp.Or(p.version, s.now.version)
	s.now = p
}

func (s *standIn) source() policySource {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.now
}

// Decide implements runtime.Policy.
func (s *standIn) Decide(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
	src := s.source()
	text, violations := wire.Append(nil, walk.Unruled{Of: in.Args})
	if violations != nil {
		return runtime.Decision{}, errors.New(violations[0].String())
	}
	var matches []policyRule
	for _, rule := range src.rules {
		matched, err := rule.matches(in.Tool.Name, wire.Raw(text))
		if err != nil {
			return runtime.Decision{}, err
		}
		if matched {
			matches = append(matches, rule)
		}
	}
	if len(matches) == 0 && src.missing == "deny" {
		return runtime.Decision{Revision: src.version}, nil // nothing allows it
	}
	if len(matches) == 0 {
		if src.missing == "deny" { // nothing allows the call: no_allow
			return runtime.Decision{Effect: runtime.EffectDeny, Revision: src.version}, nil
		}
		matches = []policyRule{{decision: src.missing, name: defaultAsk}}
	}
	d, err := combine(matches, src.version)
	if failed, ok := errors.AsType[*evaluationError](err); ok {
		s.fail(in.CallID, failed.reason)
	}
	if c := in.Tool.Consent; err == nil && d.Effect != runtime.EffectDeny && c != nil && c.Ask == runtime.ConsentAskAlways {
		d.Effect = runtime.EffectAsk
		d.Asks = append(d.Asks, runtime.Ask{ID: declaredAsk, MaxCover: runtime.CoverTool})
	}
	return d, err
}

// The ids of asks that no entry of the policy has.
const (
	declaredAsk = "declared" // as the Rego library calls it
	defaultAsk  = unnamed + "policy_default"
	unnamed     = "unnamed:" // before the id of an entry without a reason
)

// fail notes why the evaluation for a call failed.
func (s *standIn) fail(call, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed == nil {
		s.failed = map[string]string{}
	}
	s.failed[call] = reason
}

// whyFailed returns the reason of the entry that failed for a call.
func (s *standIn) whyFailed(call string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.failed[call]
}

// Asks reports whether a rule asks about calls of a tool. A grant that a rule
// asked for ends with the rule.
func (s *standIn) Asks(tool, id string) bool {
	src := s.source()
	return id == declaredAsk || id == defaultAsk && src.missing == "ask" || slices.ContainsFunc(src.rules, func(p policyRule) bool {
		return p.decision == "ask" && p.name == id && (p.tool == "" || p.tool == tool)
	})
}

func (p *policyRule) matches(tool string, args wire.Value) (bool, error) {
	if p.tool != "" && p.tool != tool {
		return false, nil
	}
	for i := range p.where {
		met, err := p.where[i].Met(args)
		if err != nil || !met {
			return false, err
		}
	}
	return true, nil
}

// An evaluationError is what an entry says that decides error.
type evaluationError struct{ reason string }

// Error implements error.
func (e *evaluationError) Error() string { return cmp.Or(e.reason, "the evaluation failed") }

// combine makes one decision of all rules that match: the strictest wins.
func combine(matches []policyRule, revision string) (runtime.Decision, error) {
	d := runtime.Decision{Effect: runtime.EffectAllow, Revision: revision}
	of := func(decision string) []policyRule {
		return slices.DeleteFunc(slices.Clone(matches), func(p policyRule) bool { return p.decision != decision })
	}
	if failed := of("error"); len(failed) > 0 {
		return runtime.Decision{Revision: revision}, &evaluationError{failed[0].reason}
	}
	for _, p := range of("deny") {
		d.Effect = runtime.EffectDeny
		d.Denials = append(d.Denials, runtime.Denial{Code: p.reason, Message: cmp.Or(p.reason, "the policy denies the call")})
	}
	if d.Effect == runtime.EffectDeny {
		return d, nil
	}
	for _, p := range of("ask") {
		d.Effect = runtime.EffectAsk
		d.Asks = append(d.Asks, runtime.Ask{ID: p.name, Message: p.reason, MaxCover: runtime.CoverTool})
	}
	for _, p := range of("modify") {
		for _, m := range p.set {
			d.Rewrites = append(d.Rewrites, runtime.Rewrite{
				Code: cmp.Or(p.reason, "modify"), Pointer: "/" + wire.EscapePointer(m.name), Value: m.val.appendJSON(nil),
			})
		}
	}
	return d, nil
}
