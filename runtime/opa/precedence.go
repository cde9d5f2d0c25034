package opa

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/runtime"
)

// The codes of denials that no rule gives.
const (
	codeNoAllow           = "no_allow"
	codeNoApprover        = "no_common_approver"
	codeUnknownObligation = "unknown_obligation"
)

// decide turns what the policies said into a decision: error over deny over ask
// over modify over allow. Whatever was said stays in the decision, so that it
// can be shown; Effect says what counts.
func (a answers) decide(revision string) (runtime.Decision, error) {
	rewrites, err := mergeRewrites(a.rewrites)
	if err != nil {
		return runtime.Decision{}, err
	}
	d := runtime.Decision{Denials: a.denials, Asks: a.asks, Rewrites: rewrites, Obligations: a.obligations, Revision: revision}
	for _, o := range a.obligations {
		if !slices.Contains(obligationCodes(), o.Code) {
			d.Denials = append(d.Denials, runtime.Denial{Code: codeUnknownObligation, Message: fmt.Sprintf("nothing can fulfil the obligation %q", o.Code), At: o.At})
		}
	}
	if !mergeAsks(d.Asks) {
		d.Denials = append(d.Denials, runtime.Denial{Code: codeNoApprover, Message: "nobody may give every consent that is asked for", At: d.Asks[0].At})
	}
	slices.SortStableFunc(d.Denials, compareDenials)
	switch {
	case len(d.Denials) > 0:
		d.Effect = runtime.EffectDeny
	case len(d.Asks) > 0:
		d.Effect = runtime.EffectAsk
	case len(a.allows) > 0:
		d.Effect = runtime.EffectAllow
	default:
		d.Denials = []runtime.Denial{{Code: codeNoAllow, Message: "no policy allows this call"}}
	}
	return d, nil
}

// compareDenials puts the library's reasons first, in their order, then the others by code and position.
func compareDenials(a, b runtime.Denial) int {
	rank := func(d runtime.Denial) int {
		if i := slices.Index(libraryCodes(), d.Code); i >= 0 {
			return i
		}
		return len(libraryCodes())
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Code, b.Code), cmp.Compare(a.At, b.At), cmp.Compare(a.Message, b.Message))
}

// mergeAsks gives every ask the terms that satisfy all of them: the approvers
// that all allow, the highest quorum, the shortest timeout, the narrowest
// cover. An ask that names no approvers leaves them open. It returns false when
// no approver is left.
func mergeAsks(asks []runtime.Ask) bool {
	if len(asks) == 0 {
		return true
	}
	merged := runtime.Ask{Quorum: 1, MaxCover: asks[0].MaxCover}
	named := false
	for _, a := range asks {
		if len(a.Approvers) > 0 && !named {
			merged.Approvers, named = slices.Clone(a.Approvers), true
		} else if len(a.Approvers) > 0 {
			merged.Approvers = slices.DeleteFunc(merged.Approvers, func(name string) bool { return !slices.Contains(a.Approvers, name) })
		}
		merged.Quorum = max(merged.Quorum, a.Quorum)
		if a.Timeout > 0 && (merged.Timeout == 0 || a.Timeout < merged.Timeout) {
			merged.Timeout = a.Timeout
		}
		merged.MaxCover = min(merged.MaxCover, a.MaxCover)
	}
	for i := range asks {
		a := &asks[i]
		a.Approvers, a.Quorum, a.Timeout, a.MaxCover = merged.Approvers, merged.Quorum, merged.Timeout, merged.MaxCover
	}
	return !named || len(merged.Approvers) > 0
}

// mergeRewrites drops rewrites that say the same, and refuses those that do not fit together.
func mergeRewrites(rewrites []runtime.Rewrite) ([]runtime.Rewrite, error) {
	rewrites = slices.Clone(rewrites)
	slices.SortStableFunc(rewrites, func(a, b runtime.Rewrite) int {
		return cmp.Or(strings.Compare(a.Pointer, b.Pointer), strings.Compare(a.At, b.At))
	})
	var kept []runtime.Rewrite
	for _, r := range rewrites {
		if r.Pointer != "" && !strings.HasPrefix(r.Pointer, "/") {
			return nil, fmt.Errorf("%s: the pointer %q is not a JSON Pointer", r.At, r.Pointer)
		}
		same := false
		for _, k := range kept {
			switch {
			case k.Pointer == r.Pointer && string(k.Value) == string(r.Value):
				same = true
			case k.Pointer == r.Pointer:
				return nil, fmt.Errorf("%s and %s rewrite %q to different values", k.At, r.At, r.Pointer)
			case strings.HasPrefix(r.Pointer, k.Pointer+"/"):
				return nil, fmt.Errorf("%s and %s rewrite %q and %q, one inside the other", k.At, r.At, k.Pointer, r.Pointer)
			}
		}
		if !same {
			kept = append(kept, r)
		}
	}
	return kept, nil
}
