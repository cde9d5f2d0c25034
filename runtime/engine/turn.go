package engine

import (
	"sync/atomic"
	"time"

	"github.com/ambit-tools/ambit/runtime/internal/lockorder"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
)

// A TurnConfig describes a Turn.
type TurnConfig struct {
	Budget      time.Duration // for all calls of the turn together; 0: none, negative: used up
	Cap         time.Duration // for each attempt of a call, where its tool declares a longer deadline; 0: none, negative: used up, as by Budget
	ConsentWait time.Duration // how long a caller waits for consent before its call is pending; 0: not at all
}

// A Turn is one message of the model and its calls. The zero value denies them.
type Turn struct {
	run         *Run
	number      int           // in the run, from 1 (SEMANTICS 2.1.7)
	budgetEnds  time.Time     // zero: no budget
	limit       time.Duration // of an attempt; 0: that of its tool
	consentWait time.Duration
	minimum     time.Duration // the part of the budget that a call needs to be admitted

	blocking atomic.Bool // blocked is not empty
	mu       lockorder.Mutex[lockorder.Turn]
	blocked  map[int]struct{} // positions of tools that timed out and must not run again in the turn
}

// Turn starts a turn of r. Its budget runs from now.
func (r *Run) Turn(cfg TurnConfig) *Turn {
	t := &Turn{run: r, consentWait: cfg.ConsentWait, limit: max(cfg.Cap, 0)}
	if cfg.Cap < 0 {
		cfg.Budget = cfg.Cap
	}
	if r == nil || r.session == nil {
		return t
	}
	t.minimum = r.session.exec.minimum
	r.session.mu.Lock()
	r.node.calls.turns++
	t.number = r.node.calls.turns
	r.session.mu.Unlock()
	if cfg.Budget != 0 {
		t.budgetEnds = r.session.exec.sched.Now().Add(cfg.Budget)
	}
	return t
}

// remainingBudget returns how much of the budget is left at now; ok is false when the turn has no
// budget.
func (t *Turn) remainingBudget(now time.Time) (d time.Duration, ok bool) {
	if t.budgetEnds.IsZero() {
		return 0, false
	}
	return t.budgetEnds.Sub(now), true
}

// block keeps the tool at position i from running until the turn ends.
func (t *Turn) block(i int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.blocked == nil {
		t.blocked = map[int]struct{}{}
	}
	t.blocked[i] = struct{}{}
	t.blocking.Store(true)
}

// blocks reports whether the tool at position i is blocked.
func (t *Turn) blocks(i int) bool { return t.blocking.Load() && t.isBlocked(i) }

// isBlocked is blocks when at least one tool is blocked.
func (t *Turn) isBlocked(i int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, blocked := t.blocked[i]
	return blocked
}

// A batch is the state of one call in a batch.
type batch struct {
	admitted sched.Event  // fires when the call is admitted
	open     *sched.Event // fires when all calls of the batch are: they may start
}
