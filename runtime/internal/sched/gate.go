package sched

import (
	"sync/atomic"
	"time"

	"github.com/ambit-tools/ambit/runtime/internal/lockorder"
)

// A Gate counts goroutines, until it is shut and lets no more in. The zero value is open.
type Gate struct {
	inside atomic.Int64
	closed atomic.Bool

	mu    lockorder.Mutex[lockorder.Gate]
	sched *Scheduler // of the goroutine that waits
	idle  *Event     // fires when the gate is shut and all have left; nil: no goroutine waits
}

// Enter counts a goroutine, unless the gate is shut.
func (g *Gate) Enter() bool {
	g.inside.Add(1)
	if g.closed.Load() {
		g.Leave()
		return false
	}
	return true
}

// Force counts a goroutine, even if the gate is shut.
func (g *Gate) Force() { g.inside.Add(1) }

// Leave undoes an Enter.
func (g *Gate) Leave() {
	if g.inside.Add(-1) > 0 || !g.closed.Load() {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.idle != nil {
		g.sched.Fire(g.idle)
		g.idle = nil
	}
}

// Shut lets no further goroutines in.
func (g *Gate) Shut() { g.closed.Store(true) }

// IsShut reports whether g was shut.
func (g *Gate) IsShut() bool { return g.closed.Load() }

// Wait waits until all have left a shut gate, late fires, or done is closed. late and done may be
// nil. It returns how many are still inside.
func (g *Gate) Wait(s *Scheduler, late *Event, done <-chan struct{}) int64 {
	for g.inside.Load() > 0 {
		g.mu.Lock()
		if g.idle == nil {
			g.idle, g.sched = NewEvent(), s
		}
		idle := g.idle
		g.mu.Unlock()
		if g.inside.Load() == 0 { // the last one may have left before it saw idle
			break
		}
		if s.Wait(idle, late, done) != First {
			return g.inside.Load()
		}
	}
	return 0
}

// WaitFor waits until all have left a shut gate, at most for d. It returns how many are still inside.
func (g *Gate) WaitFor(s *Scheduler, d time.Duration) int64 {
	late := NewEvent()
	t := s.After(d, func() { s.Fire(late) })
	defer t.Stop()
	return g.Wait(s, late, nil)
}
