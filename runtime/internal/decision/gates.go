package decision

import (
	"context"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
)

// Gates reports whether a policy that is a runtime.Offers denies each call of a tool, and why. Where the policy panics
// the tool is offered: the call is denied when it is made.
func Gates(ctx context.Context, p runtime.Policy, in *runtime.PolicyInput) (d runtime.Denial, denied bool) {
	offers, ok := p.(runtime.Offers)
	if !ok {
		return d, false
	}
	if err := usercode.Call(func() error { d, denied = offers.Gates(ctx, in); return nil }); err != nil {
		return runtime.Denial{}, false
	}
	return d, denied
}
