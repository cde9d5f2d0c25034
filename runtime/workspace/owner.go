package workspace

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/takeover"
)

// ErrTakenOver says that the directory was opened again since, by another process
// or this one: the Workspace that came later owns it, and this one writes nothing
// any more.
var ErrTakenOver = errors.New("the workspace was opened again, and belongs to the one that came later")

const (
	// ownerFile is the file of the lock, among the undo logs. It holds the epoch.
	ownerFile = "owner"
	// maxOwner is how many bytes of it are read.
	maxOwner = 1024
	// takeoverWait is how long Open waits for an effect of the former owner: as long
	// as the outcome of a call does.
	takeoverWait = 5 * time.Second
)

// An owner is one ownership of a workspace. What the file holds while it stands
// begins with the epoch, and is never written twice.
type owner struct {
	lock  *takeover.Lock
	epoch []byte
}

// own makes the caller the owner of the workspace whose undo logs are in a
// directory of this machine.
func own(logs string) (*owner, error) {
	lock, err := takeover.Open(filepath.Join(logs, ownerFile))
	if err != nil {
		return nil, err
	}
	o := &owner{lock: lock}
	err = lock.Take(takeoverWait, func() error {
		former, err := o.read()
		if err != nil {
			return err
		}
		number, _, _ := bytes.Cut(former, []byte(" "))
		n, _ := strconv.ParseUint(string(number), 10, 64) // one that was torn is followed by 1: the rest tells them apart
		host, _ := os.Hostname()                          // only told to people
		o.epoch = fmt.Appendf(nil, "%d %s process %d on host %.200s since %s\n", n+1, rand.Text(), os.Getpid(), host, time.Now().UTC().Format(time.RFC3339))
		return lock.Write(o.epoch)
	})
	if errors.Is(err, takeover.ErrHeld) {
		holder, _ := o.read() // only told to people
		err = fmt.Errorf("its owner is writing it: end that process (%s): %w", bytes.TrimSpace(holder), err)
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return o, nil
}

// read returns what the file holds.
func (o *owner) read() ([]byte, error) {
	b := make([]byte, maxOwner)
	n, err := o.lock.Read(b)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return b[:n], err
}

// stands fails when there is a later owner.
func (o *owner) stands() error {
	now, err := o.read()
	if err == nil && !bytes.Equal(now, o.epoch) {
		err = fmt.Errorf("%s: %w: %w", bytes.TrimSpace(now), ErrTakenOver, runtime.ErrFenced)
	}
	return err
}

// hold carries out an effect while no other process can take the workspace over.
// When one has, or is about to, effect is not called. A nil owner, that of a simulated
// disk, calls it at once.
func (o *owner) hold(effect func() error) error {
	if o == nil {
		return effect()
	}
	var result error
	if err := o.lock.Hold(o.stands, func() { result = effect() }); err != nil {
		if errors.Is(err, takeover.ErrHeld) {
			err = fmt.Errorf("%w: %w: %w", ErrTakenOver, runtime.ErrFenced, err)
		}
		return err
	}
	return result
}
