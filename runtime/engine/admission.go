package engine

import (
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// An admission is what admit decided. The zero value admits the call.
type admission struct {
	again bool         // evaluate again: the facts have changed, or another call excludes all others
	wait  *sched.Event // for which to wait before; nil: none
	ends  *result      // of a call that is not admitted; stop: it waits for consent, or has ended
}

// ending returns the admission of a call that is not admitted.
func ending(e *result) admission { return admission{ends: e} }

// check returns the verdict of the rules about the call. The session's lock is held.
func (c *call) check(rc *rules.Call) rules.Verdict {
	s := c.run.session
	at := c.exec.instant(c.clock())
	if c.resumed() && c.reservation == reserved {
		return s.state.Recheck(at, rc)
	}
	return s.state.Check(at, rc)
}
