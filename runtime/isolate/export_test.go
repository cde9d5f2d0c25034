//go:build linux || darwin

package isolate

import "time"

// CountSeconds makes a runner count its patience with a box by the ticks of a channel.
func (r *Runner) CountSeconds(ticks <-chan time.Time) {
	r.seconds = func() (<-chan time.Time, func()) { return ticks, func() {} }
}

// Patience is how many ticks a box may be silent.
const Patience = patience
