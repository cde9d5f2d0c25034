package simdisk

import (
	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// The levels of a lock on a file, as SQLite counts them.
const (
	shared    = 1
	reserved  = 2
	pendingEx = 3
	exclusive = 4
)

func (d *Disk) xLock(_ *libc.TLS, p uintptr, want int32) int32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	h, alive := d.handle(p)
	if !alive {
		return sqlite3.SQLITE_IOERR_LOCK
	}
	id := at[cfile](p).id
	for other, has := range h.f.level {
		if other != id && (want >= reserved && has >= reserved || want == exclusive && has >= shared || has >= pendingEx) {
			return sqlite3.SQLITE_BUSY
		}
	}
	if h.f.level == nil {
		h.f.level = map[uintptr]int32{}
	}
	h.f.level[id] = max(h.f.level[id], want)
	return sqlite3.SQLITE_OK
}

func (d *Disk) xUnlock(_ *libc.TLS, p uintptr, keep int32) int32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	h, _ := d.handle(p)
	id := at[cfile](p).id
	if keep == 0 {
		delete(h.f.level, id)
	} else if h.f.level[id] > keep {
		h.f.level[id] = keep
	}
	return sqlite3.SQLITE_OK
}

func (d *Disk) xCheckReservedLock(_ *libc.TLS, p, out uintptr) int32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	h, _ := d.handle(p)
	held := false
	for _, has := range h.f.level {
		held = held || has >= reserved
	}
	*at[int32](out) = libc.Bool32(held)
	return sqlite3.SQLITE_OK
}

// release releases all locks of an open file. The lock of the disk is held.
func (d *Disk) release(f *file, id uintptr) {
	delete(f.level, id)
	for i := range f.excl {
		if f.excl[i] == id {
			f.excl[i] = 0
		}
	}
}

func (d *Disk) xShmMap(tls *libc.TLS, p uintptr, page, size, extend int32, out uintptr) int32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	h, alive := d.handle(p)
	if !alive {
		return sqlite3.SQLITE_IOERR_SHMMAP
	}
	for int(page) >= len(h.f.shm) {
		if extend == 0 {
			*at[uintptr](out) = 0
			return sqlite3.SQLITE_OK
		}
		h.f.shm = append(h.f.shm, libc.Xcalloc(tls, 1, libc.Tsize_t(size)))
	}
	*at[uintptr](out) = h.f.shm[page]
	return sqlite3.SQLITE_OK
}

func (d *Disk) xShmLock(_ *libc.TLS, p uintptr, off, n, flags int32) int32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	h, _ := d.handle(p)
	f, id := h.f, at[cfile](p).id
	unlock, excl := flags&sqlite3.SQLITE_SHM_UNLOCK != 0, flags&sqlite3.SQLITE_SHM_EXCLUSIVE != 0
	for i := off; i < off+n; i++ {
		if !unlock && (f.excl[i] != 0 && f.excl[i] != id || excl && f.shared[i] > 0) {
			return sqlite3.SQLITE_BUSY
		}
	}
	for i := off; i < off+n; i++ {
		switch {
		case unlock && excl:
			f.excl[i] = 0
		case unlock:
			f.shared[i] = max(0, f.shared[i]-1)
		case excl:
			f.excl[i] = id
		default:
			f.shared[i]++
		}
	}
	return sqlite3.SQLITE_OK
}

func (d *Disk) xShmBarrier(*libc.TLS, uintptr) {
	d.mu.Lock()
	defer d.mu.Unlock() // locking and unlocking is a barrier
}

// xShmUnmap keeps the memory until the file is closed for the last time: other
// connections may still use it. A connection that is opened after that gets new memory.
func (d *Disk) xShmUnmap(*libc.TLS, uintptr, int32) int32 { return sqlite3.SQLITE_OK }
