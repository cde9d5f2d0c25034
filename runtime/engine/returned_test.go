package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// shortDeadline gives a tool 20 ms for an attempt.
func shortDeadline(s *runtime.Spec) { s.Deadline = 20 * time.Millisecond }

// late returns an executor whose timers come late, and its clock.
func late(t *testing.T, tool *runtime.Tool, opts ...engine.Option) (*rig, *lateClock) {
	clock := &lateClock{now: time.Unix(1000, 0), timers: map[*lateTimer]time.Time{}}
	opts = append([]engine.Option{engine.WithClock(clock)}, opts...)
	return newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{tool}, opts...), clock
}

// pass advances the time without firing a timer, as when the handler is scheduled first
// after the process was stopped.
func (c *lateClock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// TestTheClockJudgesAHandler: the instant of return decides, whether the timer or the
// goroutine comes first.
// SEMANTICS 6.1.3
func TestTheClockJudgesAHandler(t *testing.T) {
	for name, tc := range map[string]struct {
		passes time.Duration
		end    func() error
		kind   runtime.OutcomeKind
	}{
		"in time":         {passes: 20*time.Millisecond - 1, kind: runtime.Completed},
		"at the deadline": {passes: 20 * time.Millisecond, kind: runtime.TimedOut},
		"late":            {passes: 30 * time.Millisecond, kind: runtime.TimedOut},
		"late error":      {passes: 30 * time.Millisecond, kind: runtime.TimedOut, end: func() error { return errors.New("no") }},
		"late panic":      {passes: 30 * time.Millisecond, kind: runtime.TimedOut, end: func() error { panic("no") }},
		"error in time":   {passes: 10 * time.Millisecond, kind: runtime.Failed, end: func() error { return errors.New("no") }},
	} {
		t.Run(name, func(t *testing.T) {
			var clock *lateClock
			r, c := late(t, readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
				clock.pass(tc.passes)
				if tc.end != nil {
					return nil, tc.end()
				}
				return okRead(ctx, in)
			}, shortDeadline))
			clock = c
			out := r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
			assert.Equal(t, tc.kind, out.Kind, out.Message)
			require.NoError(t, r.exec.Shutdown(t.Context()))
			if tc.kind == runtime.TimedOut {
				assert.Equal(t, "tool.late_result", r.kinds("c1")[len(r.kinds("c1"))-1])
			}
		})
	}
}

// slowArtifacts lets time pass while an output is stored.
type slowArtifacts struct {
	runtime.MemoryArtifacts
	put func()
}

func (s *slowArtifacts) Put(ctx context.Context, ref runtime.ArtifactRef, data []byte) error {
	s.put()
	return s.MemoryArtifacts.Put(ctx, ref, data)
}

// TestAResultInTimeBecomesTheOutcome: time that the engine takes for the result after
// the deadline does not count, but it is bounded, also by the turn.
// SEMANTICS 6.1.4
func TestAResultInTimeBecomesTheOutcome(t *testing.T) {
	for name, tc := range map[string]struct {
		passes time.Duration
		timer  bool
		budget time.Duration
		kind   runtime.OutcomeKind
	}{
		"short":                 {passes: time.Second, kind: runtime.Completed},
		"short, with timers":    {passes: time.Second, timer: true, kind: runtime.Completed},
		"within the grace":      {passes: 5*time.Second - 1, timer: true, kind: runtime.Completed},
		"without end":           {passes: 5 * time.Second, kind: runtime.TimedOut},
		"without end, timers":   {passes: 5 * time.Second, timer: true, kind: runtime.TimedOut},
		"after the turn":        {passes: time.Second, budget: time.Second, kind: runtime.TimedOut},
		"after the turn, timer": {passes: time.Second, timer: true, budget: time.Second, kind: runtime.TimedOut},
		"before its end":        {passes: time.Second - 1, timer: true, budget: time.Second, kind: runtime.Completed},
	} {
		t.Run(name, func(t *testing.T) {
			var clock *lateClock
			store := &slowArtifacts{put: func() {
				if tc.timer {
					clock.jump(tc.passes)
				} else {
					clock.pass(tc.passes)
				}
			}}
			tool := readTool(okRead, named("slow"), shortDeadline, func(s *runtime.Spec) { s.Artifact = &runtime.Artifact{Over: 1} })
			r, c := late(t, tool, engine.WithMinimumBudget(0), engine.WithArtifacts(store))
			clock = c
			out := r.run().Turn(engine.TurnConfig{Budget: tc.budget}).Execute(t.Context(), callOf("c1", "slow", goodInput))
			assert.Equal(t, tc.kind, out.Kind, out.Message)
			require.NoError(t, r.exec.Shutdown(t.Context()))
		})
	}
}

// TestACommitDecidedInTimeStands: the deadline of the attempt, and a process that is
// stopped while it commits, do not undo the commit; the end of the turn does.
// SEMANTICS 6.8.3
func TestACommitDecidedInTimeStands(t *testing.T) {
	for name, tc := range map[string]struct {
		seal, commit time.Duration // the duration of these steps
		budget       time.Duration
		kind         runtime.OutcomeKind
		stands       int
	}{
		"slow seal":             {seal: time.Second, kind: runtime.Completed, stands: 1},
		"endless seal":          {seal: 5 * time.Second, kind: runtime.TimedOut},
		"seal after the turn":   {seal: time.Second, budget: time.Second, kind: runtime.TimedOut},
		"stopped in the commit": {commit: time.Hour, kind: runtime.Completed, stands: 1},
		"commit after the turn": {commit: time.Hour, budget: time.Minute, kind: runtime.Unknown, stands: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var clock *lateClock
				l := &ledgerOfWrites{at: map[string]func(){
					"seal":   func() { clock.pass(tc.seal) },
					"commit": func() { clock.jump(tc.commit) },
				}}
				r, c := late(t, writeTool(l, okRead, shortDeadline), engine.WithJournal(new(journal.Memory)),
					engine.WithParticipant("writes", l), engine.WithMinimumBudget(0))
				clock = c
				r.recover()
				out := r.run().Turn(engine.TurnConfig{Budget: tc.budget}).Execute(t.Context(), callOf("c1", "file_read", goodInput))
				assert.Equal(t, tc.kind, out.Kind, out.Message)
				assert.Equal(t, tc.kind == runtime.TimedOut, out.RolledBack)
				assert.Len(t, l.stands, tc.stands)
				require.NoError(t, r.exec.Shutdown(t.Context()))
			})
		})
	}
}
