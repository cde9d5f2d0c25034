package simfs

import (
	"io/fs"
	"time"

	"github.com/ambit-tools/ambit/runtime/internal/disk"
)

// An inode is a file or a directory: as it is seen, and as it is on the disk.
type inode struct {
	id    uint64
	mode  fs.FileMode
	mtime int64
	ctime int64
	data  []byte            // of a file
	names map[string]*inode // of a directory

	keptMode  fs.FileMode
	keptData  []byte
	keptNames map[string]*inode

	synced   bool // what is seen is on the disk
	listed   bool // in Disk.dirty
	lostFrom int  // the data between these offsets is lost: a sync of it failed
	lostTo   int
	doomed   bool // a sync of the directory failed: no change of its names lasts
}

// inode makes a file or a directory. d.mu is held, or d is new.
func (d *Disk) inode(mode fs.FileMode) *inode {
	d.inodes++
	now := d.now()
	n := &inode{id: d.inodes, mode: mode, mtime: now, ctime: now, keptMode: mode}
	if mode.IsDir() {
		n.names, n.keptNames = map[string]*inode{}, map[string]*inode{}
	}
	return n
}

// touched notes that n has changed. d.mu is held.
func (d *Disk) touched(n *inode) {
	n.ctime, n.synced = d.now(), false
	d.list(n)
}

// list notes that there is something to be done for n at the next crash.
func (d *Disk) list(n *inode) {
	if !n.listed {
		n.listed = true
		d.dirty = append(d.dirty, n)
	}
}

// info describes an inode, as it was when it was asked for.
type info struct {
	name  string
	mode  fs.FileMode
	size  int64
	mtime int64
	ident disk.Identity
}

func (n *inode) info(name string) fs.FileInfo {
	return info{name, n.mode, int64(len(n.data)), n.mtime, disk.Identity{Inode: n.id, Changed: n.ctime}}
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return i.mode }
func (i info) ModTime() time.Time { return time.Unix(0, i.mtime) }
func (i info) IsDir() bool        { return i.mode.IsDir() }
func (i info) Sys() any           { return i.ident }
