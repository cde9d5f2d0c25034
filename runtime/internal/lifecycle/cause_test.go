package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mayEnd says in which phases, in their order, each cause ends a call that has not ended.
// The cause names the moment in the second group, and none in the first.
var mayEnd = map[Cause][2]string{
	//           idle preparing deciding admitting previewing waiting held queued running grace backoff finishing committing decided
	NotEnded:    {"- - - - - - - - - - - - - - -", "- - - - - - - - - - - - - - -"},
	ByWorker:    {"x x x x x x x x x x x x x - x", "x x x x x x x x x x x x x - x"},
	ByReturn:    {"- - - - - - - - - - - x - x x", "- - - - - - - - - - - x - x x"},
	ByTimer:     {"- - - - - - - - - x x x x - -", "- - x x x x - x x x x - x x -"},
	ByCaller:    {"x x x x x x - x x x x x x - x", "x x x x x x - x x x x x x - x"},
	ByOperator:  {"x x x x x x x x x x x x x - x", "x x x x x x x x x x x x x - x"},
	ByShutdown:  {"x x x x x x - x x - - x - - -", "x x x x x x - x x - - x - - -"},
	ByLeaseIdle: {"x x x x x x - x x - - - - - -", "x x x x x x - x x - - - - - -"},
	ByLease:     {"x x x x x x - x x x x x x - x", "x x x x x x - x x x x x x - x"},
	ByConsent:   {"- - - - - - x - - - - - - - -", "- - - - - - x - - - - - - - -"},
	ByJournal:   {"x x x x x x x x x x x x x - x", "x x x x x x x x x x x x x - x"},
	ByRecovery:  {"x - - - - - - - - - - - - - -", "x - - - - - - - - - - - - - -"},
	ByAbandon:   {"- - - - - - - - - x x x x x x", "- - - - - - - - - x x x x x x"},
}

// TestWhoEndsACall lets each cause try to end a call in each phase. A call that has ended
// is ended by no cause again.
// SEMANTICS 2.2.2, 5.4.5, 6.8.3
func TestWhoEndsACall(t *testing.T) {
	for by := range causes + 1 {
		for p := range phases {
			for i, want := range mayEnd[by] {
				c := at(t, p)
				during := Moment{}
				if i == 1 {
					during = c.Moment()
				}
				ended := c.TryEnd(by, during, start)
				assert.Equal(t, want != "" && want[2*p] == 'x', ended, "%v ends a call that is %v (moment %d)", by, p, i)
				assert.Equal(t, ended, c.Ended())
				if !ended {
					continue
				}
				assert.Equal(t, by, c.Cause())
				assert.Equal(t, by != ByAbandon, c.Recorded())
				assert.Equal(t, p, c.Phase(), "the phase of an ended call is the one in which it ended")
				for again := range causes {
					assert.False(t, c.TryEnd(again, Moment{}, start), "%v ends a call that has ended", again)
				}
			}
		}
	}
}

// TestCauseOfAMomentThatHasPassed: a cause that has seen a call in one phase, or in one
// attempt, does not end it in a different one.
func TestCauseOfAMomentThatHasPassed(t *testing.T) {
	for p := range phases {
		for q := range phases {
			seen, c := at(t, p).Moment(), at(t, q)
			if p == q || seen == (Moment{}) {
				continue
			}
			for by := range causes {
				assert.False(t, c.TryEnd(by, seen, start), "%v that saw %v ends a call that is %v", by, p, q)
			}
			assert.False(t, c.EnterGrace(seen, start))
			assert.Equal(t, p, seen.Phase())
		}
	}
	c := at(t, Running)
	first := c.Moment()
	require.True(t, inTime(c) && c.EndAttempt() && begin(c))
	assert.False(t, c.TryEnd(ByTimer, first, start), "the timer of the first attempt")
	assert.False(t, c.EnterGrace(first, start))
	assert.True(t, c.TryEnd(ByTimer, c.Moment(), start))
}

// TestShutdown: a shutdown cancels handlers, ends calls without one, and leaves calls that
// wait for consent alone.
func TestShutdown(t *testing.T) {
	for p := range phases {
		c := at(t, p)
		what, during := c.Abort()
		switch p {
		case Waiting:
			assert.Equal(t, AbortNothing, what)
		case Running, Grace, Finishing, Committing, Decided:
			assert.Equal(t, AbortCancel, what, "%v", p)
			assert.False(t, c.TryEnd(ByShutdown, Moment{}, start))
		default:
			assert.Equal(t, AbortEnd, what, "%v", p)
			assert.True(t, c.TryEnd(ByShutdown, during, start))
			what, _ = c.Abort()
			assert.Equal(t, AbortNothing, what, "it has ended")
		}
		assert.Equal(t, what == AbortCancel, c.Aborted())
	}
}

// TestShutdownBeforeTheHandler: a shutdown that comes between the start of a call and its
// handler keeps the handler from running. One that comes between two releases does not.
func TestShutdownBeforeTheHandler(t *testing.T) {
	c := take(t, append(admitted[:3:3], begin)...)
	what, _ := c.Abort()
	require.Equal(t, AbortCancel, what)
	assert.Equal(t, ReleaseAborted, c.Release())
	assert.False(t, c.Released())
	assert.True(t, c.TryEnd(ByWorker, Moment{}, start))
	assert.Equal(t, ReleaseEnded, c.Release())

	c = at(t, Backoff)
	require.True(t, begin(c))
	c.Abort()
	assert.Equal(t, Released, c.Release(), "the first attempt may have had effects")
	require.True(t, inTime(c) && c.EndAttempt())
	assert.False(t, begin(c), "no attempt begins after a shutdown")
}

// TestAnEndedCallStaysEnded tries everything with calls that have ended in each phase.
func TestAnEndedCallStaysEnded(t *testing.T) {
	for p := range phases {
		c := at(t, p)
		by := ByOperator
		if p == Committing {
			by = ByReturn
		}
		require.True(t, c.TryEnd(by, Moment{}, start))
		was := *c
		for q := range phases + 1 {
			assert.False(t, c.Enter(q, after(1)), "%v: enter %v", p, q)
		}
		for what, done := range map[string]bool{
			"prepare": prepare(c), "evaluate": evaluate(c), "begin": begin(c), "release": release(c), "commit": commit(c),
			"return": inTime(c), "grace": c.EnterGrace(c.Moment(), start), "end attempt": c.EndAttempt(), "ask": c.Ask(),
			"resume": c.Resume(time.Time{}), "approve": c.Approve(), "detach": c.Detach(), "waits": c.AwaitsConsent(),
			"restore": c.Restore(1, false), "rerun": c.Rerun(), "reevaluated": c.Reevaluated(), "restore wait": c.RestoreWait(true),
			"undo": c.Undo(1, after(1)), "effect": c.EnterEffect(c.Attempt()), "overdue": c.Expire(after(100)).Overdue != Moment{},
		} {
			assert.False(t, done, "%v: %s", p, what)
		}
		c.Decide(start)
		c.Park()
		assert.Equal(t, was.phase, c.phase)
		assert.Equal(t, was.attempt, c.attempt)
		assert.Equal(t, was.cause, c.cause)
	}
}
