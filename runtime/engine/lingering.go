package engine

import (
	"time"

	"github.com/ambit-tools/ambit/runtime"
)

// recordLingering records that the handler of an ended call still runs after the grace. c.mu is
// held.
func (c *call) recordLingering(now time.Time) {
	c.transition(runtime.EventLingering, c.state, &note{at: now})
}

// departHandler records that the handler of c has returned.
func (c *call) departHandler() {
	c.left.Store(true)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.life.Depart() {
		c.exec.lingering.Add(-1)
	}
}
