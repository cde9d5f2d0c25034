package opa

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/runtime"
)

// Gates implements runtime.Offers: it says of a tool, before it is called, what the library denies
// whatever the arguments are: behavior, capabilities and modes (policies/gating.rego). What the
// policies of an application deny is not known before there is a call.
func (p *Policy) Gates(_ context.Context, in *runtime.PolicyInput) (runtime.Denial, bool) {
	if b := in.Tool.Behaviors; len(b) > 0 && !slices.Contains(b, in.Behavior) {
		return runtime.Denial{
			Code:    runtime.ReasonBehaviorNotAllowed.String(),
			Message: fmt.Sprintf("%s is offered only in %s", in.Tool.Name, strings.Join(b, " or ")),
		}, true
	}
	for _, c := range in.Tool.Capabilities {
		if !slices.Contains(in.Capabilities, c) {
			return runtime.Denial{Code: runtime.ReasonCapabilityMissing.String(), Message: fmt.Sprintf("needs the capability %q", c)}, true
		}
	}
	for _, m := range in.Tool.Modes {
		if !slices.Contains(m.Values, in.Modes[m.Name]) {
			return runtime.Denial{
				Code:    runtime.ReasonModeOff.String(),
				Message: fmt.Sprintf("does not run while the mode %q is %q", m.Name, in.Modes[m.Name]),
			}, true
		}
	}
	return runtime.Denial{}, false
}
