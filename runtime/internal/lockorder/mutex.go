//go:build !ambitdebug

package lockorder

import "sync"

// Checked reports whether the order is checked, which makes each lock some microseconds slower.
const Checked = false

// A Mutex is a sync.Mutex whose place in the order is that of L.
type Mutex[L Lock] = sync.Mutex

// A RWMutex is a sync.RWMutex whose place in the order is that of L.
type RWMutex[L Lock] = sync.RWMutex
