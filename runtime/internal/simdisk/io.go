package simdisk

import (
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// memory returns the bytes at an address outside of Go's memory.
func memory(p uintptr, n int32) []byte { return unsafe.Slice(at[byte](p), n) }

func (d *Disk) xClose(tls *libc.TLS, p uintptr) int32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	h, _ := d.handle(p)
	id := at[cfile](p).id
	d.release(h.f, id)
	if h.remove && d.now[h.name] == h.f {
		delete(d.now, h.name)
	}
	delete(d.vfs.open, id)
	if h.f.opens--; h.f.opens == 0 {
		h.f.free(tls)
	}
	return sqlite3.SQLITE_OK
}

func (d *Disk) xRead(_ *libc.TLS, p, buf uintptr, n int32, off int64) int32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	h, alive := d.handle(p)
	if !alive || d.strike(PowerCut, ReadFail) != NoFault {
		return sqlite3.SQLITE_IOERR_READ
	}
	b, c := memory(buf, n), 0
	if off < int64(len(h.f.seen)) {
		c = copy(b, h.f.seen[off:])
	}
	if c < int(n) {
		clear(b[c:])
		return sqlite3.SQLITE_IOERR_SHORT_READ
	}
	return sqlite3.SQLITE_OK
}

func (d *Disk) xWrite(_ *libc.TLS, p, buf uintptr, n int32, off int64) int32 {
	defer d.enter()()
	d.mu.Lock()
	defer d.mu.Unlock()
	h, alive := d.handle(p)
	if !alive {
		return sqlite3.SQLITE_IOERR_WRITE
	}
	return result(d.write(h.f, off, memory(buf, n)), sqlite3.SQLITE_IOERR_WRITE)
}

func (d *Disk) xTruncate(_ *libc.TLS, p uintptr, n int64) int32 {
	defer d.enter()()
	d.mu.Lock()
	defer d.mu.Unlock()
	h, alive := d.handle(p)
	if !alive {
		return sqlite3.SQLITE_IOERR_TRUNCATE
	}
	return result(d.truncate(h.f, n), sqlite3.SQLITE_IOERR_TRUNCATE)
}

func (d *Disk) xSync(_ *libc.TLS, p uintptr, _ int32) int32 {
	defer d.enter()()
	d.mu.Lock()
	defer d.mu.Unlock()
	h, alive := d.handle(p)
	if !alive {
		return sqlite3.SQLITE_IOERR_FSYNC
	}
	return result(d.sync(h.name, h.f), sqlite3.SQLITE_IOERR_FSYNC)
}

func (d *Disk) xFileSize(_ *libc.TLS, p, out uintptr) int32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	h, alive := d.handle(p)
	if !alive {
		return sqlite3.SQLITE_IOERR_FSTAT
	}
	*at[int64](out) = int64(len(h.f.seen))
	return sqlite3.SQLITE_OK
}

func xFileControl(*libc.TLS, uintptr, int32, uintptr) int32 { return sqlite3.SQLITE_NOTFOUND }

func xSectorSize(*libc.TLS, uintptr) int32 { return sector }

// xDeviceCharacteristics returns what SQLite supposes of every disk: that a torn write
// changes no other bytes.
func xDeviceCharacteristics(*libc.TLS, uintptr) int32 {
	return sqlite3.SQLITE_IOCAP_POWERSAFE_OVERWRITE
}
