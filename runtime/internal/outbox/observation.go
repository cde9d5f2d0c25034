package outbox

import (
	"fmt"
	"runtime/debug"
	"strings"
	"sync/atomic"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
)

// Observe gives an outcome to the observers, and returns when they have returned or when done is
// closed. A nil done is never closed; with one that is closed Observe does not wait. It reports to
// the error handler the obligations of the outcome that no observer has acknowledged by then, except
// those with the code met, which the executor meets itself.
func (d *Delivery) Observe(info runtime.CallInfo, out runtime.Outcome, met string, done <-chan struct{}) {
	o := &observation{delivery: d, info: info, outcome: out, met: met}
	if done == nil || len(d.Observers) == 0 {
		o.run()
		return
	}
	notified := sched.NewEvent()
	d.observing.Begin()
	d.sched.Busy(1)
	go func() {
		defer d.sched.Busy(-1)
		defer d.observing.End(d.sched)
		defer d.sched.Fire(notified)
		o.run()
	}()
	if !isClosed(done) && d.sched.Wait(notified, nil, done) == sched.Done {
		o.report()
	}
}

// An observation is the delivery of one outcome to the observers.
type observation struct {
	delivery     *Delivery
	info         runtime.CallInfo
	outcome      runtime.Outcome
	met          string // code of an obligation
	acknowledged atomic.Bool
	reported     atomic.Bool
}

// run notifies all observers, and reports obligations that none has acknowledged.
func (o *observation) run() {
	defer o.report() // also when an observer calls runtime.Goexit
	for _, f := range o.delivery.Observers {
		if o.notify(f) {
			o.acknowledged.Store(true)
		}
	}
}

// notify calls one observer and reports whether it has returned.
func (o *observation) notify(f func(runtime.CallInfo, runtime.Outcome)) (returned bool) {
	defer func() {
		if v := recover(); v != nil {
			o.fault(&action.CallError{Panic: v, Stack: debug.Stack()})
		}
	}()
	f(o.info, o.outcome)
	return true
}

// report reports the obligations that no observer has acknowledged, once.
func (o *observation) report() {
	if o.acknowledged.Load() || !o.reported.CompareAndSwap(false, true) {
		return
	}
	var codes []string
	for _, one := range o.outcome.Obligations {
		if one.Code != o.met {
			codes = append(codes, one.Code)
		}
	}
	if len(codes) > 0 {
		o.fault(&action.CallError{Err: fmt.Errorf("no observer has acknowledged what the policy obliges to: %s", strings.Join(codes, ", "))})
	}
}

// fault reports a fault of an observer of the call.
func (o *observation) fault(f *action.CallError) {
	f.Tool, f.CallID, f.SessionID, f.RunID = o.info.Tool, o.info.ID, o.info.Session, o.info.Run
	o.delivery.Report(f)
}

func isClosed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}
