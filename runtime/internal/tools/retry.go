package tools

import (
	"cmp"
	"math/rand/v2"
	"time"

	"github.com/ambit-tools/ambit/runtime"
)

// The defaults of a Retry whose fields are zero (SEMANTICS section 8).
const (
	DefaultRetryInitial = time.Second
	DefaultRetryCap     = 30 * time.Second
)

// MayRetry reports whether the handler may be run again after a number of attempts, of which the
// last one was late or returned a transient error: only that of an idempotent tool, after a timeout or such an
// error (SEMANTICS section 6.2).
func (t *Tool) MayRetry(attempts int, late, transient bool) bool {
	if !t.repeats(attempts) {
		return false
	}
	if late {
		return t.Spec.Retry.OnTimeout
	}
	return transient
}

// MayRetryTimeout reports whether a handler that runs past its deadline gets a grace: whether it
// is run again when it returns within the grace.
func (t *Tool) MayRetryTimeout(attempts int) bool {
	return t.repeats(attempts) && t.Spec.Retry.OnTimeout
}

// MayRerun reports whether a handler that a restart has interrupted may be run again; t may be nil.
func (t *Tool) MayRerun(attempts int) bool { return t != nil && t.repeats(attempts) }

func (t *Tool) repeats(attempts int) bool {
	return t.Spec.Retry != nil && t.Spec.Idempotent && attempts <= t.Spec.Retry.Max
}

// Backoff returns how long to wait after a number of attempts: twice as long each time, up to a
// cap, and randomly shortened, so that calls that failed together are not retried together.
func Backoff(r *runtime.Retry, attempts int) time.Duration {
	d, most := cmp.Or(r.Initial, DefaultRetryInitial), cmp.Or(r.Cap, DefaultRetryCap)
	for i := 1; i < attempts && d < most; i++ {
		d *= 2
	}
	d = min(d, most)
	return d - rand.N(d/2+1)
}
