package whatif

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/engine"
)

// A rehearsal makes the earlier calls that a question assumes, so that the run
// stands as if they had been made: valid, allowed, agreed to and successful, and
// long enough ago that no cooldown of theirs is left.
type rehearsal struct {
	file  *dsl.File
	exec  *engine.Executor
	ses   *engine.Session
	turn  *engine.Turn
	clock *pastClock
	calls int
}

// A pastClock is slow by what is left of the past that a rehearsal needs. It goes on
// as time does: on one that stood still nothing would ever be due, and a policy that
// does not end would not be stopped.
type pastClock struct {
	behind atomic.Int64

	at    time.Time    // the instant to stand at when the rehearsal is over; zero: the present
	since atomic.Int64 // when it began to, in nanoseconds since made
	made  time.Time
}

// Now implements runtime.Clock. A clock that stands at an instant goes on by whole
// seconds: what takes none of them is judged at that very instant.
func (c *pastClock) Now() time.Time {
	now := time.Now()
	if !c.at.IsZero() {
		now = c.at.Add((now.Sub(c.made) - time.Duration(c.since.Load())).Truncate(time.Second))
	}
	return now.Add(-time.Duration(c.behind.Load()))
}

// arrive lets the clock come to the end of the rehearsal.
func (c *pastClock) arrive() {
	c.since.Store(int64(time.Since(c.made)))
	c.behind.Store(0)
}

// AfterFunc implements runtime.Clock.
func (c *pastClock) AfterFunc(d time.Duration, f func()) runtime.Timer { return time.AfterFunc(d, f) }

// newPastClock returns a clock that is so far behind that a rehearsal of calls,
// each after the longest cooldown, ends in the present, or at an instant.
func newPastClock(f *dsl.File, counts map[string]int, at time.Time) (*pastClock, error) {
	pause, all := longest(f), 0
	for _, n := range counts {
		all += n
	}
	if pause > 0 && all >= int(maxPast/pause) {
		return nil, cmdutil.Usage("--count: with a cooldown of "+pause.String()+" so many calls take more than a life", "ask for fewer")
	}
	c := &pastClock{at: at, made: time.Now()}
	c.behind.Store(int64(pause) * int64(all))
	return c, nil
}

// longest is the longest cooldown of f.
func longest(f *dsl.File) time.Duration {
	var d time.Duration
	if f.Rules != nil {
		d = f.Rules.Cooldown
	}
	for _, t := range f.Tools {
		if t.Rules != nil {
			d = max(d, t.Rules.Cooldown)
		}
	}
	return d
}

// maxPast is how far back a rehearsal may begin.
const maxPast = 100 * 365 * 24 * time.Hour

// play makes the calls, in an order that the rules allow; tools that end the run
// come last.
func (r *rehearsal) play(ctx context.Context, counts map[string]int) error {
	left, pause := maps.Clone(counts), longest(r.file)
	defer r.clock.arrive()
	for {
		made, refused := r.round(ctx, left, pause)
		switch {
		case refused == nil || ctx.Err() != nil:
			return ctx.Err()
		case made == 0:
			return cannotAssume(refused)
		}
	}
}

// round makes those of the calls that are left which the rules allow now. It
// returns how many there were, and the last outcome that was none.
func (r *rehearsal) round(ctx context.Context, left map[string]int, pause time.Duration) (made int, refused *runtime.Outcome) {
	ends := func(t *dsl.Tool) int {
		if t.Rules != nil && t.Rules.ExitLoop {
			return 1
		}
		return 0
	}
	tools := slices.SortedStableFunc(slices.Values(r.file.Tools), func(a, b *dsl.Tool) int { return ends(a) - ends(b) })
	for _, t := range tools {
		if refused != nil && ends(t) > 0 {
			return made, refused
		}
		for left[t.Name] > 0 {
			out := r.call(ctx, t)
			if out.Kind != runtime.Completed {
				refused = &out
				break
			}
			left[t.Name]--
			made++
			r.clock.behind.Add(-int64(pause))
		}
	}
	return made, refused
}

func cannotAssume(out *runtime.Outcome) error {
	hint := ""
	if len(out.Steps) > 0 {
		hint = "before it: " + stepsText(out.Steps)
	}
	return cmdutil.Problem("an earlier call of "+cmdutil.Quote(out.Tool)+" cannot be assumed: "+out.Message, hint)
}

// stepsText is what would unblock a call, in words.
func stepsText(steps []runtime.Step) string {
	words := make([]string, len(steps))
	for i, s := range steps {
		words[i] = s.String()
	}
	return strings.Join(words, ", ")
}

// call makes one earlier call, and agrees to it when that is wanted.
func (r *rehearsal) call(ctx context.Context, t *dsl.Tool) runtime.Outcome {
	r.calls++
	out := r.turn.Execute(ctx, runtime.Call{Tool: t.Name, Input: r.input(t)})
	if out.Kind != runtime.Pending {
		return out
	}
	request, ok := r.exec.Request(out.RequestID)
	if !ok {
		return out
	}
	people := request.Requirement.Approvers
	for i := len(people); len(people) < request.Requirement.Quorum; i++ {
		people = append(people, fmt.Sprintf("approver %d", i))
	}
	for _, id := range people {
		answer := r.exec.Decide(ctx, out.RequestID, action.Answer{By: runtime.ProgramActor(id), Approve: true})
		if answer.Kind == runtime.ResolutionAccepted {
			return r.ses.Await(ctx, out.CallID)
		}
	}
	return out
}

// input returns arguments that no rule refuses and no earlier call had.
func (r *rehearsal) input(t *dsl.Tool) []byte {
	args := map[string]any{"rehearsed": r.calls}
	if t.Idempotency != nil {
		for _, name := range t.Idempotency.Key {
			args[name] = r.calls
		}
	}
	if t.Rules != nil && t.Rules.AllowedOperations != nil && len(t.Rules.AllowedOperations.Values) > 0 {
		args[t.Rules.AllowedOperations.Arg] = t.Rules.AllowedOperations.Values[0]
	}
	b, _ := json.Marshal(args) // texts and numbers always have a JSON form
	return b
}
