package engine

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// An awaiting is a call that another goroutine awaits.
type awaiting struct {
	w     outcomeWait
	r     *callRecord
	waits bool // for consent
	done  chan struct{}
}

func newAwaiting(asked bool) *awaiting {
	a := &awaiting{r: &callRecord{ID: "c", Tool: "a", Live: new(call)}, done: make(chan struct{})}
	a.w = outcomeWait{Sched: new(sched.Scheduler), Closed: sched.NewEvent(), Pending: func(c *call) (runtime.Outcome, bool) {
		return runtime.Outcome{Kind: runtime.Pending}, c == a.r.Live && a.waits
	}}
	if asked {
		a.r.Final, a.waits = sched.NewEvent(), true
		a.w.Sched.Fire(&a.r.First)
	}
	return a
}

// end gives the call its outcome.
func (a *awaiting) end() {
	a.r.Store(&runtime.Outcome{CallID: "c", Tool: "a", Kind: runtime.Completed, Output: wire.Raw(`1`)})
	a.waits = false
	a.w.Sched.Fire(a.r.Done())
}

// TestAwait: a goroutine that awaits a call gets its outcome, or the present one when it stops waiting.
func TestAwait(t *testing.T) {
	stop := func(a *awaiting) { close(a.done) }
	shut := func(a *awaiting) { a.w.Sched.Fire(a.w.Closed) }
	approve := func(a *awaiting) { a.waits = false }
	for name, row := range map[string]struct {
		asked           bool
		events          []func(*awaiting)
		outcome, answer runtime.OutcomeKind
		blocks          bool // Outcome goes on waiting
	}{
		"ends":                   {events: []func(*awaiting){(*awaiting).end}, outcome: runtime.Completed, answer: runtime.Completed},
		"stops":                  {events: []func(*awaiting){stop}, outcome: runtime.Cancelled, answer: runtime.Cancelled},
		"waits for consent":      {asked: true, answer: runtime.Pending, blocks: true},
		"consent, ends":          {asked: true, events: []func(*awaiting){(*awaiting).end}, outcome: runtime.Completed, answer: runtime.Completed},
		"consent, stops":         {asked: true, events: []func(*awaiting){stop}, outcome: runtime.Pending, answer: runtime.Pending},
		"approved, stops":        {asked: true, events: []func(*awaiting){approve, stop}, outcome: runtime.Cancelled, answer: runtime.Cancelled},
		"consent, shut":          {asked: true, events: []func(*awaiting){shut}, outcome: runtime.Pending, answer: runtime.Pending},
		"approved, shut, ends":   {asked: true, events: []func(*awaiting){approve, shut, (*awaiting).end}, outcome: runtime.Completed, answer: runtime.Completed},
		"approved, shut, stops":  {asked: true, events: []func(*awaiting){approve, shut, stop}, outcome: runtime.Cancelled, answer: runtime.Cancelled},
		"ended before it begins": {asked: true, events: []func(*awaiting){(*awaiting).end}, outcome: runtime.Completed, answer: runtime.Completed},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for what, wait := range map[string]func(*awaiting) runtime.Outcome{
					"outcome": func(a *awaiting) runtime.Outcome { return a.w.Outcome(a.r, a.done) },
					"answer":  func(a *awaiting) runtime.Outcome { return a.w.Answer(a.r, a.done) },
				} {
					a := newAwaiting(row.asked)
					for _, event := range row.events {
						event(a)
					}
					var got *runtime.Outcome
					go func() { out := wait(a); got = &out }()
					synctest.Wait()
					want := row.outcome
					if what == "answer" {
						want = row.answer
					} else if row.blocks {
						assert.Nil(t, got)
						a.end()
						synctest.Wait()
						want = runtime.Completed
					}
					if assert.NotNil(t, got, what) {
						assert.Equal(t, want, got.Kind, what)
					}
				}
			})
		})
	}
}
