package simfs

import (
	"bytes"
	"io/fs"
	"maps"
	"slices"
	"syscall"
)

// A change is a change of names: node leaves from, if that is set, and gets a
// name in to, if that is set.
type change struct {
	from *inode
	old  string
	to   *inode
	name string
	node *inode
}

// change carries out a change of names, which is not durable yet. d.mu is held.
func (d *Disk) change(c change) {
	if c.from != nil {
		delete(c.from.names, c.old)
		d.moved(c.from)
	}
	if c.to != nil {
		c.to.names[c.name] = c.node
		d.moved(c.to)
	}
	c.node.ctime = d.now()
	d.pending = append(d.pending, c)
}

func (d *Disk) moved(n *inode) {
	n.mtime = d.now()
	d.touched(n)
}

// last makes a change of names durable.
func (c *change) last() {
	if c.from != nil && c.from.keptNames[c.old] == c.node {
		delete(c.from.keptNames, c.old)
	}
	if c.to != nil {
		c.to.keptNames[c.name] = c.node
	}
}

// sync makes a file, or the names in a directory, durable. d.mu is held.
func (d *Disk) sync(boot int, n *inode, name string) error {
	done, err := d.begin(boot)
	if err == nil && d.one(d.faults.Sync) {
		done, err = false, syscall.EIO
		n.lose()
		d.list(n)
	}
	if done {
		d.persist(n)
	}
	if err != nil {
		return &fs.PathError{Op: "sync", Path: name, Err: err}
	}
	return nil
}

// lose drops what a failed sync was to write.
func (n *inode) lose() {
	if n.lostTo == 0 {
		n.lostFrom = len(n.keptData)
	}
	n.lostTo, n.doomed = len(n.data), n.mode.IsDir()
}

// written returns what can be on the disk of what is seen of a file: zeros where
// a sync has failed.
func (n *inode) written() []byte {
	data := slices.Clone(n.data)
	if to := min(n.lostTo, len(data)); n.lostFrom < to {
		clear(data[n.lostFrom:to])
	}
	return data
}

// persist makes what is seen of n durable, but for what an earlier sync has lost.
func (d *Disk) persist(n *inode) {
	if n.synced {
		return
	}
	n.keptMode = n.mode
	if !n.mode.IsDir() {
		n.keptData, n.synced = n.written(), true
		return
	}
	d.persistNames(n)
}

// persistNames makes the changes of a directory's names durable, and those of other
// directories that have to come before.
func (d *Disk) persistNames(n *inode) {
	if n.doomed {
		return
	}
	want := map[*inode]bool{n: true}
	chosen := make([]bool, len(d.pending))
	for i := len(d.pending) - 1; i >= 0; i-- {
		c := &d.pending[i]
		if want[c.from] || want[c.to] {
			chosen[i] = true
			for _, in := range []*inode{c.from, c.to} {
				if in != nil {
					want[in] = true
				}
			}
		}
	}
	rest := d.pending[:0]
	for i, c := range d.pending {
		if chosen[i] {
			c.last()
			continue
		}
		rest = append(rest, c)
	}
	clear(d.pending[len(rest):])
	d.pending = rest
}

// Crash cuts the power, if it is not cut, and restores it: what was not durable is
// lost, or there in part.
func (d *Disk) Crash() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.surviveNames()
	for _, n := range d.dirty {
		if !n.synced {
			d.survive(n)
		}
		n.mode, n.synced, n.listed = n.keptMode, true, false
		n.lostFrom, n.lostTo, n.doomed = 0, 0, false
		if n.mode.IsDir() {
			n.names = maps.Clone(n.keptNames)
		} else {
			n.data = slices.Clone(n.keptData)
		}
	}
	clear(d.dirty)
	d.dirty, d.pending = d.dirty[:0], d.pending[:0]
	d.dead, d.fuse, d.faults = false, 0, Faults{}
	d.boot++
}

// surviveNames decides which changes of names outlive the loss of power: mostly
// the first so many, sometimes another number in each directory.
func (d *Disk) surviveNames() {
	keep := d.r.IntN(len(d.pending) + 1)
	apart := d.r.IntN(3) == 0
	cut := map[*inode]bool{}
	for i := range d.pending {
		c := &d.pending[i]
		lost := i >= keep
		if apart {
			lost = d.r.IntN(4) == 0
		}
		for _, n := range []*inode{c.from, c.to} {
			lost = lost || n != nil && (cut[n] || n.doomed)
		}
		if lost {
			for _, n := range []*inode{c.from, c.to} {
				if n != nil {
					cut[n] = true
				}
			}
			continue
		}
		c.last()
	}
}

// survive decides what outlives the loss of power of what was not synced.
func (d *Disk) survive(n *inode) {
	if d.r.IntN(2) == 0 {
		n.keptMode = n.mode
	}
	if n.mode.IsDir() {
		return
	}
	data := n.written()
	switch {
	case d.r.IntN(4) == 0: // nothing
	case d.r.IntN(4) == 0 || !bytes.HasPrefix(data, n.keptData):
		n.keptData = data
	default: // a part of what was appended, whose end may be zeros
		start := len(n.keptData)
		data = data[:start+d.r.IntN(len(data)-start+1)]
		if len(data) > start && d.r.IntN(2) == 0 {
			clear(data[start+d.r.IntN(len(data)-start):])
		}
		n.keptData = data
	}
}
