package runtime

import (
	"time"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// Times says what the parts of a call took, as the journal records it.
type Times = journal.Times

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
