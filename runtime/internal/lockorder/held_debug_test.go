//go:build ambitdebug

package lockorder

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

// failures returns what fail is told while f runs.
func failures(t *testing.T, f func()) (told []string) {
	t.Helper()
	was := fail
	defer func() { fail = was }()
	fail = func(message string) { told = append(told, message) }
	f()
	return told
}

func TestRightOrderPasses(t *testing.T) {
	var call Mutex[Call]
	var session Mutex[Session]
	var batch RWMutex[Batch]
	assert.Empty(t, failures(t, func() {
		for range 2 {
			call.Lock()
			session.Lock()
			batch.RLock()
			call.Unlock() // not the last one that was acquired
			batch.RUnlock()
			session.Unlock()
		}
		batch.Lock()
		batch.Unlock()
	}))
	assert.Empty(t, held.of)
}

func TestWrongOrderIsFound(t *testing.T) {
	var call, other Mutex[Call]
	var session Mutex[Session]
	var batch RWMutex[Batch]
	for name, test := range map[string]struct {
		do   func()
		told string
	}{
		"an earlier lock": {func() {
			session.Lock()
			call.Lock()
			call.Unlock()
			session.Unlock()
		}, "lockorder.Call is acquired while lockorder.Session is held, which was acquired at "},
		"two of a kind": {func() {
			call.Lock()
			other.Lock()
			other.Unlock()
			call.Unlock()
		}, "lockorder.Call is acquired while lockorder.Call is held"},
		"a second reader in one goroutine": {func() {
			batch.RLock()
			batch.RLock()
			batch.RUnlock()
			batch.RUnlock()
		}, "lockorder.Batch is acquired while lockorder.Batch is held"},
	} {
		t.Run(name, func(t *testing.T) {
			told := failures(t, test.do)
			if assert.Len(t, told, 1) {
				assert.Contains(t, told[0], test.told)
			}
			assert.Empty(t, held.of)
		})
	}
}

// TestUnlockedByAnotherGoroutine: the goroutine that has locked a Mutex need not unlock it.
func TestUnlockedByAnotherGoroutine(t *testing.T) {
	var call Mutex[Call]
	assert.Empty(t, failures(t, func() {
		for range 2 {
			call.Lock()
			var done sync.WaitGroup
			done.Go(call.Unlock)
			done.Wait()
		}
	}))
	assert.Empty(t, held.of)
}

// TestOtherGoroutinesHoldTheirOwn: the order is that of one goroutine.
func TestOtherGoroutinesHoldTheirOwn(t *testing.T) {
	var call Mutex[Call]
	var session Mutex[Session]
	assert.Empty(t, failures(t, func() {
		session.Lock()
		var done sync.WaitGroup
		done.Go(func() {
			call.Lock()
			call.Unlock() //nolint:staticcheck // an empty section: only the order counts
		})
		done.Wait()
		session.Unlock()
	}))
}
