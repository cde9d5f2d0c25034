package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// start is when the phases of the tests begin. They end a second later.
var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func after(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }

// step is what a test does to a call.
type step func(*Call) bool

func prepare(c *Call) bool  { return c.Prepare(time.Time{}) }
func evaluate(c *Call) bool { return c.Evaluate(start, 2, time.Second) }
func admit(c *Call) bool    { return !c.Evaluated() && c.Enter(Admitting, after(1)) }
func begin(c *Call) bool    { return c.Begin(after(1)) }
func release(c *Call) bool  { return c.Release() == Released }
func inTime(c *Call) bool   { return !c.Return(start, time.Time{}, false) }
func tooLate(c *Call) bool  { return c.EnterGrace(c.Moment(), start) }
func commit(c *Call) bool   { return c.Commit(start, 2, time.Second, time.Time{}) }

func enter(p Phase) step {
	return func(c *Call) bool { return c.Enter(p, after(1)) }
}

// admitted are the steps to an admitted call, and running those to a handler that runs.
var (
	admitted = []step{prepare, evaluate, admit}
	running  = append(admitted[:3:3], begin, release)
)

// ways holds the steps that take the zero call to each phase.
var ways = [phases][]step{
	Idle:       {},
	Preparing:  {prepare},
	Deciding:   {prepare, evaluate},
	Admitting:  admitted,
	Repeating:  append(admitted[:3:3], enter(Repeating)),
	Previewing: append(admitted[:3:3], enter(Previewing)),
	Waiting:    append(admitted[:3:3], (*Call).Ask),
	Held:       append(admitted[:3:3], enter(Held)),
	Queued:     append(admitted[:3:3], enter(Queued)),
	Running:    running,
	Grace:      append(running[:5:5], tooLate),
	Backoff:    append(running[:5:5], inTime, (*Call).EndAttempt),
	Finishing:  append(running[:5:5], inTime),
	Committing: append(running[:5:5], inTime, commit),
	Decided:    append(running[:5:5], inTime, func(c *Call) bool { return c.Decide(start) }),
}

// at returns a call in phase p.
func at(t testing.TB, p Phase) *Call {
	t.Helper()
	c := take(t, ways[p]...)
	require.Equal(t, p, c.Phase())
	return c
}

// take returns the call that some steps make of the zero one.
func take(t testing.TB, steps ...step) *Call {
	t.Helper()
	c := &Call{}
	for i, f := range steps {
		require.True(t, f(c), "step %d is refused in %v", i, c.Phase())
	}
	return c
}
