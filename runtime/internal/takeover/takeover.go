// Package takeover fences the former owner of files off from its successor: an
// effect of the owner and a takeover exclude each other, by the lock of a file.
//
// The owner holds the lock shared while it compares the stored epoch with its own
// and carries out the effect. A successor holds it exclusively while it stores
// the next epoch. So an effect of an owner that was stopped has either ended
// before its successor begins, or does not happen.
package takeover

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/ambit-tools/ambit/runtime/internal/oslock"
)

// ErrHeld says that another process holds the lock: an effect of the former owner
// is under way, or a successor is taking over.
var ErrHeld = errors.New("another process holds the lock")

// retryEvery is how long a waiting takeover sleeps before it tries the lock again.
const retryEvery = 20 * time.Millisecond

// A Lock is the lock of one owner. Its methods are safe for concurrent use.
type Lock struct {
	file *os.File

	mu     sync.Mutex
	shared int // effects that hold the lock
}

// Open opens the file of a lock, which is made, for its owner alone, when it is not
// there. Nothing is locked yet. The file must not be moved: a successor that locks
// another file does not exclude the effects of this owner.
func Open(name string) (*Lock, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	return &Lock{file: f}, nil
}

// Take calls store, which makes the caller the owner, while no other process
// carries out an effect. It waits for effects that have begun, for at most wait, and
// returns ErrHeld then.
func (l *Lock) Take(wait time.Duration, store func() error) error {
	for end := time.Now().Add(wait); ; {
		held, err := oslock.Lock(l.file)
		if err != nil {
			return fmt.Errorf("lock %q: %w", l.file.Name(), err)
		}
		if !held {
			return errors.Join(store(), oslock.Unlock(l.file))
		}
		left := time.Until(end)
		if left <= 0 {
			return fmt.Errorf("lock %q: %w", l.file.Name(), ErrHeld)
		}
		time.Sleep(min(left, retryEvery))
	}
}

// Hold calls effect while no successor can take over, unless stands, which
// compares epochs, says that one has. It does not wait: where a successor is
// taking over the error is ErrHeld. Effects may run at the same time, and within
// one another.
func (l *Lock) Hold(stands func() error, effect func()) error {
	if err := l.enter(); err != nil {
		return err
	}
	defer l.leave()
	if err := stands(); err != nil {
		return err
	}
	effect()
	return nil
}

func (l *Lock) enter() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shared == 0 {
		held, err := oslock.LockShared(l.file)
		if err == nil && held {
			err = ErrHeld
		}
		if err != nil {
			return fmt.Errorf("lock %q: %w", l.file.Name(), err)
		}
	}
	l.shared++
	return nil
}

func (l *Lock) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shared--; l.shared == 0 {
		_ = oslock.Unlock(l.file) // closing the file unlocks it too
	}
}

// Read reads the file from its beginning, at most len(b) bytes.
func (l *Lock) Read(b []byte) (int, error) { return l.file.ReadAt(b, 0) }

// Write replaces what the file holds, durably.
func (l *Lock) Write(b []byte) error {
	if err := l.file.Truncate(int64(len(b))); err != nil {
		return err
	}
	if _, err := l.file.WriteAt(b, 0); err != nil {
		return err
	}
	return l.file.Sync()
}

// Close closes the file. It unlocks it.
func (l *Lock) Close() error { return l.file.Close() }
