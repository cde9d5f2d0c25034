// Package shadow evaluates a second policy beside that of an executor, to see what it would change
// before it decides calls.
package shadow

import (
	"slices"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/lockorder"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/tap"
)

// A Shadow is a second policy that evaluates the calls that the policy of an executor evaluates. It
// never decides a call.
//
// It runs in a goroutine of its own, after the policy, on the same facts and on its own copy of the
// arguments. Its errors, its panics and its duration do not affect calls. While 256 calls wait for
// it, further calls are not compared; Stats counts them. Undos and edited arguments are not compared
// either. A call that waited for consent is compared twice, because it is evaluated twice. The
// shadow has the policy's time limit, and does not count against the limit of concurrent
// evaluations.
type Shadow struct {
	policy runtime.Policy
	report func(Difference)

	mu    lockorder.Mutex[lockorder.ShadowStats]
	stats Stats
}

// New returns a Shadow for engine.WithDecisionTap. For each difference it calls report, which may be
// nil, and writes a record, policy.shadow, to the journal of the executor. The goroutine of the
// shadow calls report, one difference after the other.
//
// A Shadow may follow one executor after another, or several; report then may be called by several
// goroutines. A Shadow without a policy compares nothing.
func New(policy runtime.Policy, report func(Difference)) *Shadow {
	return &Shadow{policy: policy, report: report}
}

// Open implements the tap of an executor. Only an executor can call it.
func (s *Shadow) Open(host tap.Host) tap.Follower {
	if s == nil || s.policy == nil {
		return nil
	}
	return &follower{shadow: s, host: host, idle: sched.NewEvent()}
}

// A Difference is a call that the shadow would decide differently.
type Difference struct {
	Time             time.Time // when the policy was evaluated
	CallID, Tool     string
	SessionID, RunID string
	Agent, Principal string

	Active, Shadow Decision
	Err            error // of the shadow; for operators only
}

// A Decision has the members of a decision that are compared. A denial is compared only by its
// denials; Asks is empty unless the effect is ask.
type Decision struct {
	Effect      runtime.Effect `json:"effect"`
	Denials     []string       `json:"deny,omitempty"`        // codes, sorted
	Asks        []string       `json:"ask,omitempty"`         // ids, sorted
	Rewrites    []string       `json:"modify,omitempty"`      // pointers, sorted
	Obligations []string       `json:"obligations,omitempty"` // codes, sorted
	Failed      string         `json:"failed,omitempty"`      // why there is no decision: error, timeout, panic, ...
	Revision    string         `json:"policy_revision,omitempty"`
}

// Stats counts calls that were evaluated while there was a shadow.
type Stats struct {
	Compared  uint64
	Different uint64 // of Compared
	Failed    uint64 // of Compared: the shadow had no decision
	Dropped   uint64 // not compared: the shadow was too slow
}

// Stats returns how many calls were compared.
func (s *Shadow) Stats() Stats {
	if s == nil {
		return Stats{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}

// compared counts a comparison.
func (s *Shadow) compared(failed, different bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Compared++
	if failed {
		s.stats.Failed++
	}
	if different {
		s.stats.Different++
	}
}

// dropped counts n calls that are not compared.
func (s *Shadow) dropped(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Dropped += uint64(n)
}

// decisionOf returns the members of d that are compared.
func decisionOf(d *runtime.Decision) Decision {
	out := Decision{Effect: d.Effect, Revision: d.Revision}
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

// same reports whether two decisions are equal in effect.
func (d *Decision) same(o *Decision) bool {
	return d.Effect == o.Effect && (d.Failed == "") == (o.Failed == "") &&
		slices.Equal(d.Denials, o.Denials) && slices.Equal(d.Asks, o.Asks) &&
		slices.Equal(d.Rewrites, o.Rewrites) && slices.Equal(d.Obligations, o.Obligations)
}
