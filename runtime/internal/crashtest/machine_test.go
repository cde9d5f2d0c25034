package crashtest

import (
	"math/rand/v2"
	"sync"

	"github.com/ambit-tools/ambit/runtime/internal/simdisk"
	"github.com/ambit-tools/ambit/runtime/internal/simfs"
)

// A machine is two disks that lose their power together: one for the database, one
// for files. Its lock is held over every change of one of them, and guards the
// model, so that what is known outside belongs to what is on the disks.
type machine struct {
	db  *simdisk.Disk
	rng *rand.Rand // of the disk for files, from crash to crash

	mu    sync.Mutex
	files *simfs.Disk
	left  int  // operations until the power fails; 0: it stays
	cuts  bool // the disks are really cut: no image is taken
	ops   int
	model *model
	after *picture // what the crash leaves; nil: there was none
}

// A picture is what a crash leaves, and what was known outside at that moment.
type picture struct {
	db    map[string][]byte
	files *simfs.Disk
	model *model
}

func newMachine() (*machine, error) {
	db, err := simdisk.New(0)
	if err != nil {
		return nil, err
	}
	m := &machine{db: db}
	db.Around(m.around)
	return m, nil
}

// reset makes the machine one on which nothing has happened.
func (m *machine) reset(seed uint64, files *simfs.Disk, cuts bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.db.Reseed(seed)
	m.rng = rand.New(rand.NewPCG(seed, 0xd15c))
	m.left, m.cuts, m.after, m.ops = 0, cuts, nil, 0
	m.model = newModel()
	m.mount(files)
}

// mount puts another disk for files into the machine.
func (m *machine) mount(files *simfs.Disk) {
	m.files = files
	files.Around(m.around)
}

// around is what happens around every change of a disk.
func (m *machine) around() (after func()) {
	m.mu.Lock()
	m.tick()
	return m.mu.Unlock
}

// tick lets the power go when it is time. The lock is held.
func (m *machine) tick() {
	m.ops++
	if m.left > 0 {
		if m.left--; m.left == 0 {
			m.fail()
		}
	}
}

// fail lets the power go. The lock is held.
func (m *machine) fail() {
	m.left = 0
	m.after = &picture{model: m.model.clone()}
	if m.cuts {
		m.db.Inject(simdisk.PowerCut, 1)
		m.files.CutAfter(1)
		return
	}
	m.after.db, _ = m.db.Image()
	m.after.files = m.files.Fork(m.rng.Uint64())
}

// arm lets the power go after so many operations.
func (m *machine) arm(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left = n
}

// soon lets the power go at the next operation. The lock is held.
func (m *machine) soon() {
	if m.left > 1 {
		m.left = 1
	}
}

// later lets the power go that many operations later.
func (m *machine) later(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.left > 0 {
		m.left += n
	}
}

// dead reports whether the power is gone: what happens now happens nowhere.
func (m *machine) dead() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.after != nil
}

// note changes what is known outside, unless the power goes first.
func (m *machine) note(f func(*model)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f(m.model)
}

// touch is note for what happens in the world outside, which is a moment at which
// the power can go.
func (m *machine) touch(f func(*model)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tick()
	f(m.model)
}

// crash lets the power go, if it is not gone.
func (m *machine) crash() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.after == nil {
		m.fail()
	}
}

// restart gives the machine power again. Nothing may be running on it.
func (m *machine) restart() {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.after
	m.after, m.left, m.model = nil, 0, p.model
	if m.cuts {
		m.db.Crash()
		m.files.Crash()
		return
	}
	m.db.Load(p.db)
	p.files.Crash()
	m.mount(p.files)
}
