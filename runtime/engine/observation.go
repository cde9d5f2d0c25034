package engine

import (
	"fmt"
	"runtime/debug"
	"strings"
	"sync/atomic"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/redact"
)

// An observation is the delivery of one outcome to the observers.
type observation struct {
	call         *call
	info         runtime.CallInfo
	outcome      runtime.Outcome
	acknowledged atomic.Bool
	reported     atomic.Bool
}

// run notifies all observers, and reports obligations that none has acknowledged.
func (o *observation) run() {
	defer o.report() // also when an observer calls runtime.Goexit
	for _, f := range o.call.exec.observers {
		if o.notify(f) {
			o.acknowledged.Store(true)
		}
	}
}

// notify calls one observer and reports whether it has returned.
func (o *observation) notify(f func(runtime.CallInfo, runtime.Outcome)) (returned bool) {
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
		if one.Code != redact.Obligation {
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

func isClosed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// pastDone is a closed channel: the Done of a context that has ended.
var pastDone = func() <-chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}()
