//go:build ambitdebug

package lockorder

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
)

// A holding is a lock that a goroutine holds, or waits for.
type holding struct {
	lock Lock
	rank int
	at   uintptr // where it was acquired
}

// order lists the locks.
var order = Order()

// held has the holdings of each goroutine, by its id.
var held struct {
	sync.Mutex
	of map[uint64][]holding
}

// fail ends the process. A panic would not do, because the engine recovers those of handlers.
var fail = func(message string) {
	fmt.Fprintf(os.Stderr, "ambitdebug: %s\n\n%s", message, debug.Stack())
	os.Exit(2)
}

// acquire records that the goroutine acquires l, and returns its id. It fails when the order forbids
// that.
func acquire(l Lock) (id uint64) {
	h := holding{lock: l, rank: slices.Index(order, l)}
	var pc [1]uintptr
	if runtime.Callers(3, pc[:]) == 1 {
		h.at = pc[0]
	}
	id = goroutine()
	held.Lock()
	if held.of == nil {
		held.of = map[uint64][]holding{}
	}
	before := slices.Clone(held.of[id])
	held.of[id] = append(held.of[id], h)
	held.Unlock()
	for _, b := range before {
		if b.rank >= h.rank {
			fail(fmt.Sprintf("%T is acquired while %T is held, which was acquired at %s", h.lock, b.lock, b.place()))
			return id
		}
	}
	return id
}

// release records that a goroutine released l.
func release(l Lock, id uint64) {
	held.Lock()
	defer held.Unlock()
	list := held.of[id]
	i := slices.IndexFunc(list, func(h holding) bool { return h.lock == l })
	switch {
	case i < 0: // the mutex itself panics when it is not locked
	case len(list) == 1:
		delete(held.of, id)
	default:
		held.of[id] = slices.Delete(list, i, i+1)
	}
}

// place returns the line that acquired h.
func (h holding) place() string {
	f, _ := runtime.CallersFrames([]uintptr{h.at}).Next()
	return fmt.Sprintf("%s:%d", f.File, f.Line)
}

// goroutine returns the id of the goroutine, which only its stack trace tells.
func goroutine() uint64 {
	var buf [64]byte
	trace := bytes.TrimPrefix(buf[:runtime.Stack(buf[:], false)], []byte("goroutine "))
	digits, _, _ := bytes.Cut(trace, []byte(" "))
	id, err := strconv.ParseUint(string(digits), 10, 64)
	if err != nil {
		fail(fmt.Sprintf("no goroutine id in %q", trace))
	}
	return id
}
