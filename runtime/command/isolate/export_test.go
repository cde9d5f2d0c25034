//go:build linux || darwin

package isolate

import (
	"context"
	"os"
	"time"
)

// CountSeconds makes a runner count its patience with a box by the ticks of a channel.
func (r *Runner) CountSeconds(ticks <-chan time.Time) {
	r.seconds = func() (<-chan time.Time, func()) { return ticks, func() {} }
}

// Patience is how many ticks a box may be silent.
const Patience = patience

// WithoutEnter calls a function in a program that has not called Enter and was started by a name.
func WithoutEnter(name string, f func()) {
	was := os.Args[0]
	os.Args[0] = name
	entered.Store(false)
	defer func() {
		os.Args[0] = was
		entered.Store(true)
	}()
	f()
}

// Failed is what an agent makes of an error that kept a program from running, in init and in itself.
func Failed(err error) (reported, own error) {
	u := &run{}
	_, reported = u.hear(context.Background(), failed(err), nil, 0)
	return reported, cannot("step", err)
}
