// Package simfs is a disk in memory that fails as disks do: the power fails in the
// middle of any operation, and what was not synced is lost, wholly, in part or not
// at all; reads, writes and syncs fail; there is no space left.
//
// A seed decides everything, so that a failure of a test can be reproduced:
//
//	d := simfs.New(seed)
//	d.CutAfter(17)        // power fails at the 17th operation that changes something
//	... use d.Root() ...  // errors are ErrPower from then on
//	d.Crash()             // power is back: the durable content is left, and a random part of the rest
//
// A failed sync is as in Linux: what was to be written is lost, although it can
// still be read until the power fails, and a second sync succeeds without writing it.
package simfs

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"sync"
	"syscall"
	"time"

	"github.com/ambit-tools/ambit/runtime/internal/disk"
)

// ErrPower is the error of everything between the loss of power and Crash.
var ErrPower = errors.New("simulated loss of power")

// Faults says how often operations fail: one of so many, 0 for never.
type Faults struct {
	Read  int // of reads
	Write int // of writes and changes of names, with EIO
	Space int // of writes and changes of names, with ENOSPC
	Sync  int // of syncs, with EIO
}

// A Disk is a simulated disk. It is safe for concurrent use; what happens is
// decided by its seed where one goroutine uses it.
type Disk struct {
	mu      sync.Mutex
	r       *rand.Rand
	faults  Faults
	fuse    int // operations until power goes; 0: it stays
	dead    bool
	boot    int
	ops     int
	clock   int64
	inodes  uint64
	root    *inode
	pending []change // of names, in their order
	dirty   []*inode // changed since power came back
	watch   func(op, name string)
	around  func() func()
}

// New returns an empty disk.
func New(seed uint64) *Disk {
	d := &Disk{r: rand.New(rand.NewPCG(seed, 0x5eed))}
	d.root = d.inode(fs.ModeDir | 0o755)
	return d
}

// Root returns the directory at the top. The caller must call it again after Crash.
func (d *Disk) Root() disk.Dir {
	d.mu.Lock()
	defer d.mu.Unlock()
	return &dir{disk: d, boot: d.boot, node: d.root}
}

// CutAfter cuts the power at the n-th operation from now that changes something;
// 0: never.
func (d *Disk) CutAfter(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fuse = n
}

// Fail sets how often operations fail from now on.
func (d *Disk) Fail(f Faults) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults = f
}

// Watch has f called before names are changed: it is told what is done, rename,
// remove or mkdir, and to which name.
func (d *Disk) Watch(f func(op, name string)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.watch = f
}

// Around has f called before every operation that may change something, and what f
// returns after it: so that a test can stop the world between any two of them,
// on several disks. It is called before anything is open.
func (d *Disk) Around(f func() (after func())) { d.around = f }

// enter calls the function that Around has set. d.mu is not held.
func (d *Disk) enter() (after func()) {
	if d.around == nil {
		return func() {}
	}
	return d.around()
}

// Dead says whether the power is gone.
func (d *Disk) Dead() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.dead
}

// Operations returns how many operations have changed something.
func (d *Disk) Operations() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ops
}

// now returns a time that is later than every one before. d.mu is held.
func (d *Disk) now() int64 {
	d.clock++
	return d.clock * int64(time.Millisecond)
}

// begin counts an operation that changes something. When the power fails with it, done
// is random: whether the operation still takes effect. d.mu is held.
func (d *Disk) begin(boot int) (done bool, err error) {
	if err := d.powered(boot); err != nil {
		return false, err
	}
	d.ops++
	if d.fuse > 0 {
		if d.fuse--; d.fuse == 0 {
			d.dead = true
			return d.r.IntN(2) == 0, ErrPower
		}
	}
	switch {
	case d.one(d.faults.Write):
		return false, syscall.EIO
	case d.one(d.faults.Space):
		return false, syscall.ENOSPC
	}
	return true, nil
}

// powered fails when there is no power, or for what was opened before a crash.
func (d *Disk) powered(boot int) error {
	if d.dead || boot != d.boot {
		return ErrPower
	}
	return nil
}

// one is true one of n times.
func (d *Disk) one(n int) bool { return n > 0 && d.r.IntN(n) == 0 }

// tell calls the function that Watch has set.
func (d *Disk) tell(op, name string) {
	d.mu.Lock()
	watch := d.watch
	d.mu.Unlock()
	if watch != nil {
		watch(op, name)
	}
}
