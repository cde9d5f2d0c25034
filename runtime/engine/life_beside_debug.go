//go:build ambitdebug

package engine

import (
	"fmt"
	"runtime/debug"
)

// disagree ends the process. A panic of this goroutine might be taken for one of a
// handler, and the lock of the call is held.
func disagree(c *call, what string, flags, life any) {
	text := fmt.Sprintf("call %q: %s: the flags say %v, the state machine says %v\nmachine %+v\nflags: phase %v attempt %d\n%s",
		c.id, what, flags, life, c.life, c.phase, c.attempt, debug.Stack())
	go panic(text)
	select {}
}

func agree(c *call, what string, flags, life bool) bool {
	if flags != life {
		disagree(c, what, flags, life)
	}
	return flags
}

func (c *call) compare(where string) {
	l := &c.life
	if c.attempt != l.Attempt() {
		disagree(c, where+": attempt", c.attempt, l.Attempt())
	}
	if c.undoing {
		return
	}
	if !l.Ended() && lifePhases[c.phase] != l.Phase() {
		disagree(c, where+": phase", lifePhases[c.phase], l.Phase())
	}
	agree(c, where+": evaluating", c.evaluating, l.Evaluating())
	if c.attempt > 0 && c.phase != 0 && !l.Rejudging() {
		agree(c, where+": fence", !c.fence.closed, l.Passes(c.attempt))
	}
}
