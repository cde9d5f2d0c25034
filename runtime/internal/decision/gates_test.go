package decision_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/decision"
)

// A plain policy does not say which tools it denies.
type plain struct{}

func (plain) Decide(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
	return runtime.Decision{}, nil
}

// A gating policy denies each call of the tool a, and panics for b.
type gating struct{ plain }

func (gating) Gates(_ context.Context, in *runtime.PolicyInput) (runtime.Denial, bool) {
	if in.Tool.Name == "b" {
		panic("oops")
	}
	return runtime.Denial{Code: "mode_off"}, in.Tool.Name == "a"
}

// TestGates: a tool that the policy denies for good is withheld. A policy that does not say so, or panics, withholds none.
func TestGates(t *testing.T) {
	for name, row := range map[string]struct {
		policy runtime.Policy
		denied bool
	}{"a": {gating{}, true}, "b": {gating{}, false}, "c": {gating{}, false}, "d": {plain{}, false}} {
		d, denied := decision.Gates(context.Background(), row.policy, &runtime.PolicyInput{Tool: &runtime.Spec{Name: name}})
		assert.Equal(t, row.denied, denied, name)
		if denied {
			assert.Equal(t, "mode_off", d.Code)
		}
	}
}
