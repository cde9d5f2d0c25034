package simdisk

import (
	"crypto/rand"
	"fmt"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// A vfs is what SQLite knows of a disk. Its memory is not Go's: SQLite keeps
// addresses of it.
type vfs struct {
	name    string
	tls     *libc.TLS
	cname   uintptr
	self    uintptr // sqlite3_vfs
	methods uintptr // sqlite3_io_methods
	keep    []any   // functions whose addresses SQLite has
	open    map[uintptr]*handle
	last    uintptr
}

// A cfile is an open file as SQLite sees it.
type cfile struct {
	methods uintptr
	id      uintptr
}

// A handle is an open file.
type handle struct {
	f      *file
	name   string
	remove bool // on close
}

// VFS returns the name under which SQLite knows the disk.
func (d *Disk) VFS() string { return d.vfs.name }

// address returns what C takes for the address of a function.
func address[T any](v *vfs, f T) uintptr {
	p := &struct{ f T }{f}
	v.keep = append(v.keep, p)
	return *(*uintptr)(unsafe.Pointer(p))
}

// at returns what is at an address outside of Go's memory.
func at[T any](p uintptr) *T { return *(**T)(unsafe.Pointer(&p)) }

func alloc[T any](tls *libc.TLS) uintptr {
	return libc.Xcalloc(tls, 1, libc.Tsize_t(unsafe.Sizeof(*new(T))))
}

// register makes the disk known to SQLite.
func (d *Disk) register() error {
	v := &d.vfs
	v.tls = libc.NewTLS()
	v.open = map[uintptr]*handle{}
	v.name = "sim" + rand.Text()
	var err error
	if v.cname, err = libc.CString(v.name); err != nil {
		return err
	}
	if rc := sqlite3.Xsqlite3_initialize(v.tls); rc != sqlite3.SQLITE_OK {
		return fmt.Errorf("initialize SQLite: %d", rc)
	}
	v.methods = alloc[sqlite3.Tsqlite3_io_methods](v.tls)
	v.self = alloc[sqlite3.Tsqlite3_vfs](v.tls)
	c := at[sqlite3.Tsqlite3_vfs](v.self)
	inherit(c, at[sqlite3.Tsqlite3_vfs](sqlite3.Xsqlite3_vfs_find(v.tls, 0)))
	c.FiVersion, c.FzName = 2, v.cname
	c.FszOsFile = int32(unsafe.Sizeof(cfile{}))
	c.FxOpen = address(v, d.xOpen)
	c.FxDelete = address(v, d.xDelete)
	c.FxAccess = address(v, d.xAccess)
	c.FxFullPathname = address(v, xFullPathname)
	d.methods(at[sqlite3.Tsqlite3_io_methods](v.methods))
	if rc := sqlite3.Xsqlite3_vfs_register(v.tls, v.self, 0); rc != sqlite3.SQLITE_OK {
		return fmt.Errorf("register %q with SQLite: %d", v.name, rc)
	}
	return nil
}

// inherit copies the functions that do not concern a disk from the system's VFS: clock,
// sleep, randomness. It does not copy the whole struct, which also has the link of the
// list of all registered VFSes.
func inherit(c, system *sqlite3.Tsqlite3_vfs) {
	c.FmxPathname, c.FpAppData = system.FmxPathname, system.FpAppData
	c.FxDlOpen, c.FxDlError, c.FxDlSym, c.FxDlClose = system.FxDlOpen, system.FxDlError, system.FxDlSym, system.FxDlClose
	c.FxRandomness, c.FxSleep, c.FxGetLastError = system.FxRandomness, system.FxSleep, system.FxGetLastError
	c.FxCurrentTime, c.FxCurrentTimeInt64 = system.FxCurrentTime, system.FxCurrentTimeInt64
}

// Close unregisters the disk from SQLite. Nothing on it may be open.
func (d *Disk) Close() error {
	v := &d.vfs
	rc := sqlite3.Xsqlite3_vfs_unregister(v.tls, v.self)
	for _, p := range []uintptr{v.self, v.methods, v.cname} {
		libc.Xfree(v.tls, p)
	}
	v.tls.Close()
	if rc != sqlite3.SQLITE_OK || len(v.open) != 0 {
		return fmt.Errorf("the disk is still in use: %d open files (%d)", len(v.open), rc)
	}
	return nil
}

func (d *Disk) methods(m *sqlite3.Tsqlite3_io_methods) {
	v := &d.vfs
	m.FiVersion = 2
	m.FxClose = address(v, d.xClose)
	m.FxRead = address(v, d.xRead)
	m.FxWrite = address(v, d.xWrite)
	m.FxTruncate = address(v, d.xTruncate)
	m.FxSync = address(v, d.xSync)
	m.FxFileSize = address(v, d.xFileSize)
	m.FxLock = address(v, d.xLock)
	m.FxUnlock = address(v, d.xUnlock)
	m.FxCheckReservedLock = address(v, d.xCheckReservedLock)
	m.FxFileControl = address(v, xFileControl)
	m.FxSectorSize = address(v, xSectorSize)
	m.FxDeviceCharacteristics = address(v, xDeviceCharacteristics)
	m.FxShmMap = address(v, d.xShmMap)
	m.FxShmLock = address(v, d.xShmLock)
	m.FxShmBarrier = address(v, d.xShmBarrier)
	m.FxShmUnmap = address(v, d.xShmUnmap)
}

// handle returns an open file, and whether it was opened since the last crash.
// The lock is held.
func (d *Disk) handle(p uintptr) (h *handle, alive bool) {
	h = d.vfs.open[at[cfile](p).id]
	return h, h.f.age == d.age
}

// result returns SQLite's code of a fault.
func result(f Fault, otherwise int32) int32 {
	switch f {
	case NoFault:
		return sqlite3.SQLITE_OK
	case Full:
		return sqlite3.SQLITE_FULL
	}
	return otherwise
}

func (d *Disk) xOpen(_ *libc.TLS, _, zName, pFile uintptr, flags int32, pOut uintptr) int32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	at[cfile](pFile).methods = 0
	d.vfs.last++
	name := fmt.Sprintf("temporary %d", d.vfs.last)
	if zName != 0 {
		name = libc.GoString(zName)
	}
	f := d.now[name]
	if d.strike(PowerCut) != NoFault || f == nil && flags&sqlite3.SQLITE_OPEN_CREATE == 0 {
		return sqlite3.SQLITE_CANTOPEN
	}
	if f == nil {
		f = &file{age: d.age}
		d.now[name] = f
	}
	f.opens++
	d.vfs.open[d.vfs.last] = &handle{f: f, name: name, remove: flags&sqlite3.SQLITE_OPEN_DELETEONCLOSE != 0}
	*at[cfile](pFile) = cfile{d.vfs.methods, d.vfs.last}
	if pOut != 0 {
		*at[int32](pOut) = flags
	}
	return sqlite3.SQLITE_OK
}

func (d *Disk) xDelete(_ *libc.TLS, _, zName uintptr, dirSync int32) int32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	name := libc.GoString(zName)
	if d.strike(PowerCut) != NoFault {
		return sqlite3.SQLITE_IOERR_DELETE
	}
	if d.now[name] == nil {
		return sqlite3.SQLITE_IOERR_DELETE_NOENT
	}
	delete(d.now, name)
	if dirSync != 0 {
		d.syncNames()
	}
	return sqlite3.SQLITE_OK
}

func (d *Disk) xAccess(_ *libc.TLS, _, zName uintptr, _ int32, out uintptr) int32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.now[libc.GoString(zName)]
	*at[int32](out) = libc.Bool32(f != nil)
	return sqlite3.SQLITE_OK
}

func xFullPathname(tls *libc.TLS, _, zName uintptr, n int32, out uintptr) int32 {
	libc.Xstrncpy(tls, out, zName, libc.Tsize_t(n))
	return sqlite3.SQLITE_OK
}
