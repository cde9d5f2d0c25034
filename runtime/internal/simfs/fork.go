package simfs

import (
	"maps"
	"math/rand/v2"
)

// Fork returns a copy of d as it is at this moment, with the changes that are not
// durable yet. The copy and d do not affect each other. The functions of Around and
// Watch are not copied.
func (d *Disk) Fork(seed uint64) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	twin := map[*inode]*inode{nil: nil}
	e := &Disk{
		r: rand.New(rand.NewPCG(seed, 0xf0)), faults: d.faults, fuse: d.fuse, dead: d.dead, boot: d.boot, ops: d.ops,
		clock: d.clock, inodes: d.inodes, root: d.root.fork(twin),
	}
	for _, n := range d.dirty {
		e.dirty = append(e.dirty, n.fork(twin))
	}
	for _, c := range d.pending {
		e.pending = append(e.pending, change{from: c.from.fork(twin), old: c.old, to: c.to.fork(twin), name: c.name, node: c.node.fork(twin)})
	}
	return e
}

// fork returns the twin of n. Contents are shared: they are only ever replaced or
// appended to, which a twin does in a place of its own.
func (n *inode) fork(twin map[*inode]*inode) *inode {
	if t, known := twin[n]; known {
		return t
	}
	t := new(inode)
	*t = *n
	twin[n] = t
	t.data, t.keptData = n.data[:len(n.data):len(n.data)], n.keptData[:len(n.keptData):len(n.keptData)]
	t.names, t.keptNames = forkNames(n.names, twin), forkNames(n.keptNames, twin)
	return t
}

func forkNames(names map[string]*inode, twin map[*inode]*inode) map[string]*inode {
	names = maps.Clone(names)
	for name, n := range names {
		names[name] = n.fork(twin)
	}
	return names
}
