package engine

import (
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/outcomes"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
)

// An outcomeWait is how a goroutine that did not make a call waits for its outcome.
type outcomeWait struct {
	Sched   *sched.Scheduler
	Closed  *sched.Event                        // fires when requests for consent are answered no more
	Pending func(*call) (runtime.Outcome, bool) // the outcome pending of a call, if it waits for consent
}

// Outcome returns the outcome of a call. It returns the present one when done is closed before, and that of a
// call that waits for consent when requests are answered no more.
func (w outcomeWait) Outcome(r *callRecord, done <-chan struct{}) runtime.Outcome {
	saw := w.Sched.Wait(&r.First, nil, done)
	if saw != sched.Done && r.Final != nil {
		if saw = w.Sched.Wait(r.Final, w.Closed, done); saw == sched.Second {
			if out, waits := w.Pending(r.Live); waits {
				return out
			}
			saw = w.Sched.Wait(r.Final, nil, done)
		}
	}
	if saw == sched.Done {
		return w.present(r)
	}
	return r.Outcome()
}

// Answer returns the first answer to a call: its outcome, or pending when it waits for consent. It returns the
// present outcome when done is closed before.
func (w outcomeWait) Answer(r *callRecord, done <-chan struct{}) runtime.Outcome {
	if !r.First.Fired() && w.Sched.Wait(&r.First, nil, done) == sched.Done {
		return w.present(r)
	}
	if r.Final == nil {
		return r.Outcome()
	}
	if out, waits := w.Pending(r.Live); waits {
		return out
	}
	if w.Sched.Wait(r.Final, nil, done) == sched.Done {
		return w.present(r)
	}
	return r.Outcome()
}

// present returns the present outcome of a call, which may be pending, or cancelled when the call goes on.
func (w outcomeWait) present(r *callRecord) runtime.Outcome {
	if r.First.Fired() {
		if r.Ended() {
			return r.Outcome()
		}
		if out, waits := w.Pending(r.Live); waits {
			return out
		}
	}
	return outcomes.StillRuns(r.ID, r.Tool)
}
