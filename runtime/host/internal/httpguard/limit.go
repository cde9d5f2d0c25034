package httpguard

import (
	"sync"
	"time"
)

const (
	burst     = 30          // answers at once
	refill    = time.Second // for one more
	maxLimits = 1000        // identities that are counted
)

// A Limiter bounds how many answers an identity gives at one door: 30 at once, then one a second. The zero
// value has counted none. It is safe for concurrent use.
type Limiter struct {
	mu   sync.Mutex
	full map[string]time.Time // by identity: when it may give as many as at first
}

// Take counts one answer of an identity, and reports whether it is not one too many.
func (l *Limiter) Take(id string) bool {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	full := l.full[id]
	if full.Before(now) {
		full = now
	}
	if full.Add(refill).After(now.Add(burst * refill)) {
		return false
	}
	if l.full == nil || len(l.full) >= maxLimits {
		l.forget(now)
	}
	l.full[id] = full.Add(refill)
	return true
}

// forget drops the identities that may give as many answers as at first, and all when there are none.
func (l *Limiter) forget(now time.Time) {
	keep := map[string]time.Time{}
	for id, full := range l.full {
		if full.After(now) {
			keep[id] = full
		}
	}
	if len(keep) >= maxLimits {
		clear(keep)
	}
	l.full = keep
}
