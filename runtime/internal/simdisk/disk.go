package simdisk

import (
	"io/fs"
	"math/rand/v2"
	"slices"
	"sync"
)

// sector is what the disk writes at once, in bytes.
const sector = 512

// A Fault is a way in which an operation fails.
type Fault int

// The faults.
const (
	NoFault   Fault = iota
	PowerCut        // this operation and all after it fail, until Crash
	WriteFail       // a write fails with EIO, half done
	Full            // a write fails with ENOSPC, and so do all that make a file longer, until Room or Crash
	SyncFail        // a sync fails, and what it should have written is lost
	ReadFail        // a read fails with EIO
)

// A Disk is a simulated disk. It is safe for concurrent use.
type Disk struct {
	mu      sync.Mutex
	rng     *rand.Rand
	now     map[string]*file // what programs see
	durable map[string]*file // the names that are on the disk
	age     int              // grows with every crash: a file opened before can only be closed
	fault   Fault
	left    int // operations until the fault
	cut     bool
	full    bool
	failed  int // faults that happened
	ops     int
	locks   map[string][]byte // holders of locks
	snap    int               // operations until an image is taken
	image   map[string][]byte

	around func() func() // by Around; nil: none

	vfs vfs
}

// A file is the content of a file.
type file struct {
	seen    []byte  // by programs
	synced  []byte  // on the disk for certain
	pending []write // on their way there
	age     int

	shm    []uintptr // shared memory
	opens  int
	shared [8]int
	excl   [8]uintptr
	level  map[uintptr]int32
}

// A write is one that was not synced yet.
type write struct {
	off  int64
	data []byte // nil: the file is cut at off
}

// New makes an empty disk. It must be closed.
func New(seed uint64) (*Disk, error) {
	d := &Disk{}
	d.Reset(seed, nil)
	if err := d.register(); err != nil {
		return nil, err
	}
	return d, nil
}

// Reset makes d a disk that has these files, all synced. Nothing may be open.
func (d *Disk) Reset(seed uint64, files map[string][]byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rng = rand.New(rand.NewPCG(seed, 0x5eed))
	d.now, d.durable, d.locks = map[string]*file{}, map[string]*file{}, map[string][]byte{}
	d.age++
	d.fault, d.cut, d.full, d.failed, d.ops, d.snap = NoFault, false, false, 0, 0, 0
	for name, data := range files {
		f := &file{seen: slices.Clone(data), synced: slices.Clone(data), age: d.age}
		d.now[name], d.durable[name] = f, f
	}
}

// Files returns what programs see.
func (d *Disk) Files() map[string][]byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	files := map[string][]byte{}
	for name, f := range d.now {
		files[name] = slices.Clone(f.seen)
	}
	return files
}

// Inject makes the n-th operation from now of the kind that a fault is about fail.
func (d *Disk) Inject(f Fault, n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fault, d.left = f, n
}

// Room gives a disk that is full room again.
func (d *Disk) Room() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.full = false
}

// Dead reports whether the power is cut.
func (d *Disk) Dead() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.cut
}

// Failed returns how many operations have failed since the last crash.
func (d *Disk) Failed() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failed
}

// Ops returns how many writes and syncs there were since the disk was reset.
func (d *Disk) Ops() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ops
}

// Crash cuts the power, when it is not cut yet, and turns it on again. A file that was
// opened before can only be closed.
func (d *Disk) Crash() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.age++
	d.fault, d.cut, d.full, d.failed = NoFault, false, false, 0
	clear(d.locks)
	after := map[string]*file{}
	for name, img := range d.remains() {
		after[name] = &file{seen: img, synced: slices.Clone(img), age: d.age}
	}
	d.now, d.durable = after, map[string]*file{}
	d.syncNames()
}

// remains returns what a crash would leave. The lock is held.
func (d *Disk) remains() map[string][]byte {
	luck := d.rng.IntN(4) // how much of the unsynced data is written differs from crash to crash
	after := map[string][]byte{}
	for _, name := range d.names() {
		f := d.durable[name]
		if now := d.now[name]; now != f && d.rng.IntN(2) == 0 {
			f = now
		}
		if f != nil {
			after[name] = d.settle(f, luck)
		}
	}
	return after
}

// names returns all names in an order that does not depend on the map's.
func (d *Disk) names() []string {
	var list []string
	for name := range d.now {
		list = append(list, name)
	}
	for name := range d.durable {
		if d.now[name] == nil {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// settle returns what a crash leaves of a file: each unsynced sector is written with a
// probability of luck in three.
func (d *Disk) settle(f *file, luck int) []byte {
	img := append(make([]byte, 0, max(len(f.seen), len(f.synced))), f.synced...)
	for _, w := range f.pending {
		if w.data == nil {
			if d.rng.IntN(3) < luck {
				img = resize(img, w.off)
			}
			continue
		}
		for s := 0; s < len(w.data); {
			// Sectors are where they are on the disk, not in the write.
			e := min(len(w.data), s+sector-int(w.off+int64(s))%sector)
			if d.rng.IntN(3) < luck {
				img = put(img, w.off+int64(s), w.data[s:e])
			}
			s = e
		}
	}
	return img
}

func resize(b []byte, n int64) []byte {
	if int64(len(b)) >= n {
		return b[:n]
	}
	if n <= int64(cap(b)) {
		end := len(b)
		b = b[:n]
		clear(b[end:])
		return b
	}
	return append(b, make([]byte, n-int64(len(b)))...)
}

func put(b []byte, off int64, data []byte) []byte {
	if end := off + int64(len(data)); int64(len(b)) < end {
		b = resize(b, end)
	}
	copy(b[off:], data)
	return b
}

// strike says whether an operation fails now, and how. The lock is held.
func (d *Disk) strike(kinds ...Fault) Fault {
	if d.cut {
		return PowerCut
	}
	if d.fault == NoFault || !slices.Contains(kinds, d.fault) {
		return NoFault
	}
	if d.left--; d.left > 0 {
		return NoFault
	}
	f := d.fault
	d.fault = NoFault
	d.failed++
	d.cut, d.full = f == PowerCut, f == Full
	return f
}

// write writes to a file. The lock is held.
func (d *Disk) write(f *file, off int64, data []byte) Fault {
	if d.cut {
		return PowerCut
	}
	d.count()
	fault := d.strike(PowerCut, WriteFail, Full)
	if d.full && off+int64(len(data)) > int64(len(f.seen)) {
		return Full
	}
	if fault != NoFault {
		data = data[:len(data)/2]
	}
	if len(data) > 0 {
		f.seen = put(f.seen, off, data)
		f.pending = append(f.pending, write{off, slices.Clone(data)})
	}
	return fault
}

// truncate cuts a file. The lock is held.
func (d *Disk) truncate(f *file, size int64) Fault {
	d.count()
	if fault := d.strike(PowerCut, WriteFail); fault != NoFault {
		return fault
	}
	f.seen = resize(f.seen, size)
	f.pending = append(f.pending, write{off: size})
	return NoFault
}

// sync makes a file, and its name if that is new, outlive a crash. The lock is held.
func (d *Disk) sync(name string, f *file) Fault {
	d.count()
	fault := d.strike(PowerCut, SyncFail)
	switch fault {
	case NoFault:
		for _, w := range f.pending {
			if w.data == nil {
				f.synced = resize(f.synced, w.off)
			} else {
				f.synced = put(f.synced, w.off, w.data)
			}
		}
		f.pending = nil
		if d.durable[name] != f {
			d.syncNames()
		}
	case SyncFail:
		f.synced = d.settle(f, d.rng.IntN(3))
		f.pending = nil
	}
	return fault
}

func (d *Disk) syncNames() {
	clear(d.durable)
	for name, f := range d.now {
		d.durable[name] = f
	}
}

// Read returns at most limit bytes of a file, from an offset.
func (d *Disk) Read(name string, from, limit int64) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.strike(PowerCut, ReadFail) != NoFault {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrInvalid}
	}
	f := d.now[name]
	if f == nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	have := f.seen[min(from, int64(len(f.seen))):]
	return slices.Clone(have[:min(limit, int64(len(have)))]), nil
}

// Write replaces a file, as by a rename, and syncs it and the directory.
func (d *Disk) Write(name string, data []byte) error {
	defer d.enter()()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cut {
		return &fs.PathError{Op: "write", Path: name, Err: fs.ErrInvalid}
	}
	d.count()
	fault := d.strike(PowerCut, WriteFail, Full, SyncFail)
	if d.full || fault == WriteFail || fault != NoFault && d.rng.IntN(2) == 0 {
		return &fs.PathError{Op: "write", Path: name, Err: fs.ErrInvalid}
	}
	d.now[name] = &file{seen: slices.Clone(data), synced: slices.Clone(data), age: d.age}
	d.syncNames()
	if fault != NoFault { // of the directory, when the file had its name
		return &fs.PathError{Op: "sync", Path: name, Err: fs.ErrInvalid}
	}
	return nil
}

// Watch returns a function that fails when another file has the name.
func (d *Disk) Watch(name string) (same func() error, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	was := d.now[name]
	if was == nil {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	return func() error {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.now[name] != was {
			return &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
		}
		return nil
	}, nil
}

// Lock takes a lock, which a crash releases.
func (d *Disk) Lock(name string, note []byte) (unlock func() error, holder []byte, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if held := d.locks[name]; held != nil {
		return nil, held, nil
	}
	d.locks[name] = slices.Clone(note)
	age := d.age
	return func() error {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.age == age {
			delete(d.locks, name)
		}
		return nil
	}, nil, nil
}
