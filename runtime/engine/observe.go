package engine

import (
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
)

// WithObserver adds a function that gets the outcome of every call, with the obligations that the
// policy attached, before Execute returns it. f acknowledges the obligations by returning. Execute
// waits for f only until the context of its caller ends; f then continues. The executor holds no
// lock while f runs, so f may call it. The executor reports to the error handler the obligations
// that no observer acknowledged, because there is none or none has returned. Observers never get a
// result that came too late.
func WithObserver(f func(runtime.CallInfo, runtime.Outcome)) Option {
	return func(e *Executor) { e.observers = append(e.observers, f) }
}

// notifyObservers is observe when there is an observer or an obligation.
func (c *call) notifyObservers(done <-chan struct{}) {
	o := &observation{call: c, info: runtime.CallInfoOf(c.info()), outcome: c.record.outcome()}
	e := c.exec
	if done == nil || len(e.observers) == 0 {
		o.run()
		return
	}
	notified := sched.NewEvent()
	e.observing.Begin()
	e.sched.Busy(1)
	go func() {
		defer e.sched.Busy(-1)
		defer e.observing.End(&e.sched)
		defer e.sched.Fire(notified)
		o.run()
	}()
	if !isClosed(done) && e.sched.Wait(notified, nil, done) == sched.Done {
		o.report()
	}
}
