package engine

import (
	"fmt"
	"runtime/debug"
	"strings"
	"sync/atomic"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
)

// WithObserver adds a function that is told the outcome of every call, with the obligations that
// the policy attached, before Execute returns it. f acknowledges the obligations by returning.
// Execute waits for f only until the context of its caller ends; f then continues. The executor
// holds no lock while f runs, so f may call it. The executor reports to the error handler the
// obligations that no observer acknowledged, because there is none or none has returned. Observers
// are never told a result that came too late.
func WithObserver(f func(runtime.CallInfo, runtime.Outcome)) Option {
	return func(e *Executor) { e.observers = append(e.observers, f) }
}

// observe tells the observers how the call ended, and waits for them until done is closed. When
// done is nil it waits until they have returned.
func (c *call) observe(done <-chan struct{}) {
	if len(c.exec.observers) > 0 || len(c.obligations) > 0 {
		c.tellObservers(done)
	}
}

// observeLater tells the observers about a call whose caller does not wait.
func (c *call) observeLater() { c.observe(pastDone) }

// pastDone is a closed channel: the Done of a context that has ended.
var pastDone = func() <-chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}()

// tellObservers is observe when there is an observer or an obligation.
func (c *call) tellObservers(done <-chan struct{}) {
	o := &observation{call: c, info: runtime.CallInfoOf(c.info()), outcome: c.record.outcome()}
	e := c.exec
	if done == nil || len(e.observers) == 0 {
		o.run()
		return
	}
	told := sched.NewEvent()
	e.observing.Begin()
	e.sched.Busy(1)
	go func() {
		defer e.sched.Busy(-1)
		defer e.observing.End(&e.sched)
		defer e.sched.Fire(told)
		o.run()
	}()
	if !isClosed(done) && e.sched.Wait(told, nil, done) == sched.Done {
		o.report()
	}
}

func isClosed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// An observation is the delivery of one outcome to the observers.
type observation struct {
	call         *call
	info         runtime.CallInfo
	outcome      runtime.Outcome
	acknowledged atomic.Bool
	reported     atomic.Bool
}

// run tells all observers, and reports obligations that none has acknowledged.
func (o *observation) run() {
	defer o.report() // also when an observer calls runtime.Goexit
	for _, f := range o.call.exec.observers {
		if o.tell(f) {
			o.acknowledged.Store(true)
		}
	}
}

// tell tells one observer and reports whether it has returned.
func (o *observation) tell(f func(runtime.CallInfo, runtime.Outcome)) (returned bool) {
	defer func() {
		if v := recover(); v != nil {
			o.call.exec.report(o.fault(&CallError{Panic: v, Stack: debug.Stack()}))
		}
	}()
	f(o.info, o.outcome)
	return true
}

// report reports the obligations that the executor does not meet itself and that no observer has
// acknowledged.
func (o *observation) report() {
	if o.acknowledged.Load() || !o.reported.CompareAndSwap(false, true) {
		return
	}
	var codes []string
	for _, one := range o.outcome.Obligations {
		if one.Code != obligationRedact {
			codes = append(codes, one.Code)
		}
	}
	if len(codes) > 0 {
		o.call.exec.report(o.fault(&CallError{Err: fmt.Errorf(
			"no observer has acknowledged what the policy obliges to: %s", strings.Join(codes, ", "))}))
	}
}

// fault adds the call to a fault of an observer.
func (o *observation) fault(f *CallError) *CallError {
	f.Tool, f.CallID, f.SessionID, f.RunID = o.info.Tool, o.info.ID, o.info.Session, o.info.Run
	return f
}
