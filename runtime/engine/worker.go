package engine

import (
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/tap"
	"github.com/ambit-tools/ambit/runtime/internal/workers"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// A worker executes one call after the other.
type worker = workers.Worker[call, scratch]

// A scratch is what a worker needs to decide about a call, and uses again for the next one.
type scratch struct {
	input      runtime.PolicyInput // of the policy, which must not retain it
	view       view                // of the facts
	rulesCall  rules.Call          // for the rules
	effect     rules.Digest        // of the call, set by fillRulesCall
	evaluation evaluation
	tapped     *tap.Decision // for the tap; nil: there is none
	err        error         // of the handler
}
