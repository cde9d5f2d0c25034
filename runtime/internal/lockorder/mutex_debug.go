//go:build ambitdebug

package lockorder

import "sync"

// Checked reports whether the order is checked, which makes each lock some microseconds slower.
const Checked = true

// A Mutex is a sync.Mutex whose place in the order is that of L. Lock ends the process when the
// goroutine holds a lock of the same place or of a later one.
type Mutex[L Lock] struct {
	mu     sync.Mutex
	holder uint64 // goroutine; guarded by mu
}

// Lock checks the order and locks m.
func (m *Mutex[L]) Lock() {
	var l L
	id := acquire(l)
	m.mu.Lock()
	m.holder = id
}

// Unlock unlocks m.
func (m *Mutex[L]) Unlock() {
	var l L
	id := m.holder
	m.mu.Unlock()
	release(l, id)
}

// A RWMutex is a sync.RWMutex whose place in the order is that of L. To the order, reading is
// locking: a second RLock of one goroutine deadlocks when a writer waits between the two. The
// goroutine that has locked m unlocks it.
type RWMutex[L Lock] struct{ mu sync.RWMutex }

// Lock checks the order and locks m for writing.
func (m *RWMutex[L]) Lock() {
	var l L
	acquire(l)
	m.mu.Lock()
}

// Unlock undoes Lock.
func (m *RWMutex[L]) Unlock() {
	var l L
	m.mu.Unlock()
	release(l, goroutine())
}

// RLock checks the order and locks m for reading.
func (m *RWMutex[L]) RLock() {
	var l L
	acquire(l)
	m.mu.RLock()
}

// RUnlock undoes RLock.
func (m *RWMutex[L]) RUnlock() {
	var l L
	m.mu.RUnlock()
	release(l, goroutine())
}
