package engine

import "github.com/ambit-tools/ambit/runtime"

// A rerun is a call whose handler an earlier process had started, and which recovery runs again.
type rerun struct{ *call }

// allowed reports whether the handler may be run again. The budget of the turn, which bounds
// all attempts of the call together, must allow it too.
func (c rerun) allowed() bool {
	spec := c.tool
	return spec != nil && spec.spec.Idempotent && spec.spec.Retry != nil && c.life.Attempt() <= spec.spec.Retry.Max && c.final != nil && c.hasBudgetFor(0)
}

// begin passes the call to a worker, which evaluates the policy again and runs the handler again.
// The call keeps its reservation.
func (c rerun) begin() {
	if !c.exec.gate.Enter() {
		c.finish(c.interruption)
		return
	}
	if !c.run.node.workers.Enter() {
		c.exec.gate.Leave()
		c.finish(c.interruption)
		return
	}
	c.inGates = true
	c.reenterExecutor()
	c.handlerDone.Store(false)
	trace(c.call)
	c.life.Rerun()
	c.exec.workers.Take(c.call)
}

// evaluate evaluates the present policy for a call whose handler an earlier process
// started. The call stays unknown if the policy does not allow it, or asks for consent. Like those
// of decide, the facts of the evaluation still hold when the call runs again (SEMANTICS section 3.5).
func (c rerun) evaluate() *result {
	c.args, c.text = c.final, c.finalText
	for try := 1; ; try++ {
		if try == maxTries && !c.excludeOtherCalls() {
			return workerDone
		}
		if !c.snapshot() {
			return cancellation(runtime.ReasonRunClosed)
		}
		if !c.evaluatePolicy() {
			return workerDone
		}
		j := &c.worker.Scratch.evaluation
		adm := c.admitAgain(j.Reason == runtime.ReasonNone && !j.asks && equalValues(c.final, c.args))
		switch {
		case adm.again && !c.waitFor(adm.wait):
			return workerDone
		case adm.again:
			continue
		case adm.ends == nil && c.life.Reevaluating(): // it has to wait for a slot
			return c.awaitSlot()
		}
		return adm.ends
	}
}

// admitAgain lets the handler of a call run again, or wait for a slot of its tool, if the policy
// allows it and the facts that the policy saw still hold.
func (c rerun) admitAgain(allowed bool) admission {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.run.session
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case c.life.Ended():
		return notAdmitted(workerDone)
	case s.admitting != c.call && (s.admitting != nil || !c.worker.Scratch.view.unchanged()):
		return admission{again: true, wait: s.admittingDone}
	}
	s.endExclusion(c.call)
	if !allowed {
		// restoreInterruption completes this result
		return notAdmitted(&result{outcome: runtime.Outcome{Message: "the policy does not let it run as it was"}})
	}
	c.requestSlot(func() {})
	if c.slotGranted != nil || c.turn.blocks(c.index) {
		return admission{}
	}
	return admission{ends: c.startAgain(true)}
}

// awaitSlot waits for a slot before the handler of a call runs again.
func (c rerun) awaitSlot() *result {
	if r := c.awaitTurn(); r != nil {
		return r
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.startAgain(false)
}

// startAgain records that the handler of a call runs again. c.mu is held.
func (c rerun) startAgain(session bool) *result {
	if !c.life.Reevaluated() {
		return workerDone
	}
	c.transition(runtime.EventRetrying, runtime.StateExecuting, &note{at: c.clock(), session: session})
	return nil
}
