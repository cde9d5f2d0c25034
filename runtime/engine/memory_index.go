package engine

import (
	"hash/maphash"
	"iter"
)

// A callIndex finds the records of a session by the ids of their calls. It is a hash
// table of chains through the records, which store their hashes. A map of strings takes
// twice the time, most of it to grow, and six times the memory (BenchmarkIndex).
// The zero value is empty. The lock of the session guards it.
type callIndex struct {
	seed   maphash.Seed
	chains []*callRecord // a power of two, by the last bits of the hash
	count  int
}

// find returns the record of a call, nil when there is none.
func (x *callIndex) find(id string) *callRecord {
	if x.count == 0 {
		return nil
	}
	return x.lookup(id, maphash.String(x.seed, id))
}

// putIfAbsent adds r, whose id is set, or returns the record that has this id already (SEMANTICS 1.4).
func (x *callIndex) putIfAbsent(r *callRecord) (earlier *callRecord) {
	if x.chains == nil {
		x.seed, x.chains = maphash.MakeSeed(), make([]*callRecord, 8)
	}
	r.hash = maphash.String(x.seed, r.ID)
	if earlier = x.lookup(r.ID, r.hash); earlier != nil {
		return earlier
	}
	if x.count == len(x.chains) {
		x.grow()
	}
	x.count++
	x.link(r)
	return nil
}

// all yields every record, in no particular order.
func (x *callIndex) all() iter.Seq[*callRecord] {
	return func(yield func(*callRecord) bool) {
		for _, r := range x.chains {
			for ; r != nil; r = r.next {
				if !yield(r) {
					return
				}
			}
		}
	}
}

// lookup is find for a table that is not empty.
func (x *callIndex) lookup(id string, hash uint64) *callRecord {
	r := *x.chain(hash)
	for r != nil && (r.hash != hash || r.ID != id) {
		r = r.next
	}
	return r
}

// chain returns the head of the chain of a hash.
func (x *callIndex) chain(hash uint64) **callRecord {
	return &x.chains[hash&uint64(len(x.chains)-1)]
}

// link inserts r at the head of its chain.
func (x *callIndex) link(r *callRecord) {
	first := x.chain(r.hash)
	r.next, *first = *first, r
}

// remove takes r out, which is in the table.
func (x *callIndex) remove(r *callRecord) {
	at := x.chain(r.hash)
	for *at != r {
		at = &(*at).next
	}
	*at, r.next = r.next, nil
	x.count--
}

// grow doubles the table.
func (x *callIndex) grow() {
	old := x.chains
	x.chains = make([]*callRecord, 2*len(old))
	for _, r := range old {
		for r != nil {
			next := r.next
			x.link(r)
			r = next
		}
	}
}
