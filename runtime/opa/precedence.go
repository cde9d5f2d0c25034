package opa

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/rewrites"
)

// codeUnknownObligation is the code of a denial that no rule gives.
const codeUnknownObligation = "unknown_obligation"

// decide turns the entries of the policies into a decision: error over deny over ask
// over modify over allow. All entries but the allows stay in the decision, so that it
// can be shown; Effect says what counts. Asks are passed on one by one, as the
// rules wrote them: package consent joins them with the declaration (SEMANTICS 3.6).
func (a answers) decide(revision string) (runtime.Decision, error) {
	merged, err := mergeRewrites(a.rewrites)
	if err != nil {
		return runtime.Decision{}, err
	}
	d := runtime.Decision{Denials: a.denials, Asks: a.asks, Rewrites: merged, Obligations: a.obligations, Revision: revision}
	for _, o := range a.obligations {
		if !slices.Contains(policydir.ObligationCodes(), o.Code) {
			d.Denials = append(d.Denials, runtime.Denial{Code: codeUnknownObligation, Message: fmt.Sprintf("nothing can fulfil the obligation %q", o.Code), At: o.At})
		}
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
		d.Denials = []runtime.Denial{{Code: policydir.CodeNoAllow, Message: "no policy allows this call"}}
	}
	return d, nil
}

// compareDenials puts the library's reasons first, in their order, then all other reasons by code and position.
func compareDenials(a, b runtime.Denial) int {
	rank := func(d runtime.Denial) int {
		if i := slices.Index(policydir.LibraryCodes(), d.Code); i >= 0 {
			return i
		}
		return len(policydir.LibraryCodes())
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Code, b.Code), cmp.Compare(a.At, b.At), cmp.Compare(a.Message, b.Message))
}

// mergeRewrites drops rewrites that say the same, and refuses those that do not fit together.
func mergeRewrites(wanted []runtime.Rewrite) ([]runtime.Rewrite, error) {
	wanted = slices.Clone(wanted)
	slices.SortStableFunc(wanted, func(a, b runtime.Rewrite) int {
		return cmp.Or(strings.Compare(a.Pointer, b.Pointer), strings.Compare(a.At, b.At))
	})
	if _, err := rewrites.Places(wanted); err != nil {
		return nil, err
	}
	// One after the other when they are of one place, where they have one value now.
	return slices.CompactFunc(wanted, func(a, b runtime.Rewrite) bool { return a.Pointer == b.Pointer }), nil
}
