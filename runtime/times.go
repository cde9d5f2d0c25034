package runtime

import (
	"time"
)

// Times says what the parts of a call took one after the other. The rest of its
// duration is the executor's own work and the waits for durable entries.
type Times struct {
	Policy  time.Duration `json:"policy_ns,omitempty"`  // evaluations of the policy
	Consent time.Duration `json:"consent_ns,omitempty"` // from the request to the call's return to a worker
	Queue   time.Duration `json:"queue_ns,omitempty"`   // waiting for the rest of the batch and for a slot of the tool
	Handler time.Duration `json:"handler_ns,omitempty"` // all attempts of the handler, without the pauses between them
}

// timesJSON is the JSON form of Times, in milliseconds.
type timesJSON struct {
	Policy  float64 `json:"policy,omitempty"`
	Consent float64 `json:"consent,omitempty"`
	Queue   float64 `json:"queue,omitempty"`
	Handler float64 `json:"handler,omitempty"`
}

func jsonOf(t Times) timesJSON {
	const unit = float64(time.Millisecond)
	return timesJSON{float64(t.Policy) / unit, float64(t.Consent) / unit, float64(t.Queue) / unit, float64(t.Handler) / unit}
}
