package agent

import (
	"time"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/ambit-tools/ambit/examples/agent_loop/refunds"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/opa"
)

// Setup binds the generated tools to a desk and the policies to both.
func Setup(opts ...engine.Option) (*engine.Executor, error) {
	reg, err := runtime.NewRegistry(refunds.Tools(NewDesk())...)
	if err != nil {
		return nil, err
	}
	rules, err := refunds.Policies()
	if err != nil {
		return nil, err
	}
	policy, err := opa.Load(rules, reg)
	if err != nil {
		return nil, err
	}
	// Models take seconds to answer: a policy on a busy machine may take a part of that.
	patient := engine.WithPolicyTimeout(2 * time.Second)
	long := engine.WithArtifacts(new(runtime.MemoryArtifacts))
	return engine.NewExecutor(reg, policy, append([]engine.Option{patient, long}, opts...)...)
}
