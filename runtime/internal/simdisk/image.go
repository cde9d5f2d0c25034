package simdisk

import (
	"math/rand/v2"

	"modernc.org/libc"
)

// pageOfMemory is how much memory SQLite shares at once, in bytes.
const pageOfMemory = 32 << 10

// Snap takes an image of what a crash would leave just before the n-th write or
// sync from now. The disk itself is not changed.
func (d *Disk) Snap(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.snap, d.image = n, nil
}

// Image returns the image that Snap was to take; when there were too few writes
// meanwhile it is taken now, which is told by early.
func (d *Disk) Image() (image map[string][]byte, early bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	early = d.image != nil
	if !early {
		d.image = d.remains()
	}
	image, d.image, d.snap = d.image, nil, 0
	return image, early
}

// count counts a write or sync that is about to happen. The lock is held.
func (d *Disk) count() {
	d.ops++
	if d.snap > 0 && !d.cut {
		if d.snap--; d.snap == 0 {
			d.image = d.remains()
		}
	}
}

// Around has f called before every write and sync, and what f returns after it:
// so that a test can stop the world between any two of them, on several disks.
// It is called before anything is open.
func (d *Disk) Around(f func() (after func())) { d.around = f }

// enter calls the function that Around has set. The lock is not held.
func (d *Disk) enter() (after func()) {
	if d.around == nil {
		return func() {}
	}
	return d.around()
}

// Reseed restarts the random numbers from a seed.
func (d *Disk) Reseed(seed uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rng = rand.New(rand.NewPCG(seed, 0x5eed))
}

// Load replaces the contents of the files of d, while they stay open, and clears the
// memory that their users share. No goroutine may read them meanwhile.
func (d *Disk) Load(files map[string][]byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for name := range files {
		if d.now[name] == nil {
			d.now[name] = &file{age: d.age}
		}
	}
	for name, f := range d.now {
		f.seen = append(f.seen[:0], files[name]...)
		f.synced, f.pending = append(f.synced[:0], f.seen...), nil
		for _, p := range f.shm {
			clear(memory(p, pageOfMemory))
		}
	}
	d.syncNames()
}

// free frees the shared memory.
func (f *file) free(tls *libc.TLS) {
	for _, p := range f.shm {
		libc.Xfree(tls, p)
	}
	f.shm = nil
}
