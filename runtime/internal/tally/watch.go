package tally

import (
	"time"

	"github.com/ambit-tools/ambit/runtime"
)

// A Part is what a call spends time with.
type Part uint8

// The parts of a call.
const (
	Other Part = iota
	Policy
	Consent
	Queue
	Handler
	parts
)

// A Watch measures what the parts of a call take. The zero value measures no part. It is not safe for
// concurrent use.
type Watch struct {
	spent [parts]time.Duration
	since time.Time
	part  Part
}

// Enter ends the present part at now and begins another one.
func (w *Watch) Enter(p Part, now time.Time) {
	if w.part != Other {
		w.spent[w.part] += max(now.Sub(w.since), 0)
	}
	w.part, w.since = p, now
}

// Times returns what the parts took that have ended.
func (w *Watch) Times() runtime.Times {
	return runtime.Times{Policy: w.spent[Policy], Consent: w.spent[Consent], Queue: w.spent[Queue], Handler: w.spent[Handler]}
}
