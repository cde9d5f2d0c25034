package engine

import (
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
)

// A BatchMode says how the calls of a batch follow each other.
type BatchMode uint8

// The modes of a batch.
const (
	Parallel   BatchMode = iota // all are admitted, in order, then they run together
	Sequential                  // each ends before the next is admitted
)

// wait waits until the rest of the batch is admitted too. It reports false when the call has ended.
func (b *batch) wait(c *call) bool {
	c.exec.sched.Fire(&b.admitted)
	return c.enterPhase(lifecycle.Held, c.budgetEnds()) && c.exec.sched.Wait(b.open, c.done(), nil) == sched.First && c.refreshNow()
}

// refreshNow updates the time of the call after a wait.
func (c *work) refreshNow() bool {
	c.now = c.clock()
	return true
}
