package consent

import (
	"cmp"
	"container/heap"
	"time"
)

// The queues of sessions in Books.
const (
	dueNext  = iota // by when something is due
	agedNext        // by when something may be removed
	queues
)

// A place is where a session is in a queue.
type place struct {
	at    time.Time
	made  uint64 // of the request that is due; 0: in another queue
	index int    // from 1; 0: it is not in the queue
}

// A sessionQueue is a heap of sessions, so that none is looked at before its time.
type sessionQueue struct {
	which int
	list  []*shelved
}

func newQueues() (all [queues]*sessionQueue) {
	for i := range all {
		all[i] = &sessionQueue{which: i}
	}
	return all
}

// Len implements heap.Interface.
func (q *sessionQueue) Len() int { return len(q.list) }

// Less implements heap.Interface.
func (q *sessionQueue) Less(i, j int) bool {
	x, y := &q.list[i].next[q.which], &q.list[j].next[q.which]
	return cmp.Or(x.at.Compare(y.at), cmp.Compare(x.made, y.made), cmp.Compare(q.list[i].session, q.list[j].session)) < 0
}

// Swap implements heap.Interface.
func (q *sessionQueue) Swap(i, j int) {
	q.list[i], q.list[j] = q.list[j], q.list[i]
	q.list[i].next[q.which].index, q.list[j].next[q.which].index = i+1, j+1
}

// Push implements heap.Interface.
func (q *sessionQueue) Push(x any) {
	of := x.(*shelved)
	q.list = append(q.list, of)
	of.next[q.which].index = len(q.list)
}

// Pop implements heap.Interface.
func (q *sessionQueue) Pop() any {
	last := len(q.list) - 1
	of := q.list[last]
	q.list[last] = nil
	q.list = q.list[:last]
	of.next[q.which].index = 0
	return of
}

// first returns the session whose time comes first, nil when nothing is to come.
func (q *sessionQueue) first() *shelved {
	if len(q.list) == 0 {
		return nil
	}
	return q.list[0]
}

// set moves a session to the place of a time, and takes it out when that is zero: nothing is to come.
func (q *sessionQueue) set(of *shelved, at time.Time, made uint64) {
	p := &of.next[q.which]
	in := p.index > 0
	switch {
	case at.IsZero() && in:
		heap.Remove(q, p.index-1)
		return
	case at.IsZero(), in && p.at.Equal(at) && p.made == made:
		return
	}
	if p.at, p.made = at, made; in {
		heap.Fix(q, p.index-1)
	} else {
		heap.Push(q, of)
	}
}

// requeue moves a session whose book has changed to its places.
func (b *Books) requeue(of *shelved) {
	var due, aged time.Time
	var made uint64
	if of.Len() > 0 {
		due, made = of.open.list[0].due(), of.open.list[0].made
	}
	if len(of.aged) > 0 {
		aged = of.aged[0].at
	}
	b.queues[dueNext].set(of, due, made)
	b.queues[agedNext].set(of, aged, 0)
}
