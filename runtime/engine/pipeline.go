package engine

// execute runs the pipeline in the goroutine of w, because policies and handlers may hang. The
// timer or the caller then ends the call, and the next step returns workerDone.
func (c *call) execute(w *worker) {
	c.worker = w
	if why := c.exec.workers.Halted(); why != 0 {
		c.endHalted(why)
	}
	defer c.leave() // slot and gates; a panic or runtime.Goexit becomes a result
	if r := c.pipeline(); r != nil {
		c.finish(r)
	}
	c.workReturned = true
}

// pipeline takes the call through its steps. A step returns nil when the next one follows, the
// result with which it ends the call, or workerDone.
func (c *call) pipeline() *result {
	if c.life.Reevaluating() { // an earlier process had started its handler
		if r := (rerun{c}).evaluate(); r != nil {
			return r
		}
		if r := c.restart(); r != nil {
			return r
		}
		return c.attempts()
	}
	if !c.approved() { // a call that waited for consent has passed these
		if !c.needsReadmission {
			if r := c.decode(); r != nil {
				return r
			}
		}
		if r := c.checkGates(); r != nil {
			return r
		}
	}
	if r := c.decide(); r != nil {
		return r
	}
	if c.life.Attempt() == 0 { // it has to wait for its batch or for a slot, or was approved
		if r := c.awaitTurn(); r != nil {
			return r
		}
		if r := c.start(); r != nil {
			return r
		}
	}
	return c.attempts()
}
