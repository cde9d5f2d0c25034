package engine

import (
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/refusal"
)

// An evaluation is the result of the policy about a call. The rules are checked separately.
type evaluation struct {
	refusal.Refusal
	decision runtime.Decision
	fault    *CallError
	asks     bool // the call needs consent
}
