package consent

import (
	"cmp"
	"container/heap"
	"slices"
	"time"
)

// A request is a Request as a Book keeps it.
type request struct {
	Request
	number   uint64 // of the event that asked: the order in which requests are listed
	made     uint64 // among all requests and grants of Books
	reminded bool
	place    int // in the queue of the open ones
}

// due returns when an open request is to be reminded of, or expires (SEMANTICS 5.4).
func (r *request) due() time.Time {
	if r.reminded {
		return r.Expires
	}
	return r.Remind
}

// before orders requests by when they are due.
func (r *request) before(o *request) bool {
	if c := r.due().Compare(o.due()); c != 0 {
		return c < 0
	}
	return r.number < o.number
}

// A dueQueue is a heap of the open requests: the one that is due next is the first.
// Adding and removing one takes O(log n).
type dueQueue struct {
	list  []*request
	looks *int // tests count comparisons; nil otherwise
}

// Len implements heap.Interface.
func (q *dueQueue) Len() int { return len(q.list) }

// Less implements heap.Interface.
func (q *dueQueue) Less(i, j int) bool {
	if q.looks != nil {
		*q.looks++
	}
	return q.list[i].before(q.list[j])
}

// Swap implements heap.Interface.
func (q *dueQueue) Swap(i, j int) {
	q.list[i], q.list[j] = q.list[j], q.list[i]
	q.list[i].place, q.list[j].place = i, j
}

// Push implements heap.Interface.
func (q *dueQueue) Push(x any) {
	r := x.(*request)
	r.place = len(q.list)
	q.list = append(q.list, r)
}

// Pop implements heap.Interface.
func (q *dueQueue) Pop() any {
	last := len(q.list) - 1
	r := q.list[last]
	q.list[last] = nil
	q.list = q.list[:last]
	return r
}

// first returns up to most requests that are due at an instant, in order. It
// looks at no more than twice as many beside them: those below each in the heap.
func (q *dueQueue) first(at time.Time, most int) []*request {
	var found []*request
	next := make([]int, 0, most+1) // places whose parents were found
	if len(q.list) > 0 {
		next = append(next, 0)
	}
	for len(next) > 0 && len(found) < most {
		least := 0
		for i := range next {
			if q.Less(next[i], next[least]) {
				least = i
			}
		}
		place := next[least]
		r := q.list[place]
		if at.Before(r.due()) {
			break
		}
		found = append(found, r)
		next = slices.Delete(next, least, least+1)
		for child := 2*place + 1; child <= 2*place+2 && child < len(q.list); child++ {
			next = append(next, child)
		}
	}
	return found
}

// sorted returns requests in the order in which they were made.
func sorted(list []*request) []*request {
	slices.SortFunc(list, func(a, b *request) int { return cmp.Compare(a.number, b.number) })
	return list
}

// A memory is an id whose entries may be removed when an instant has passed: its
// request, when that has ended, and its grant, when that has ended.
type memory struct {
	id string
	at time.Time
}

// A memoryQueue is a heap of memories, the oldest first.
type memoryQueue []memory

// Len implements heap.Interface.
func (q memoryQueue) Len() int { return len(q) }

// Less implements heap.Interface.
func (q memoryQueue) Less(i, j int) bool { return q[i].at.Before(q[j].at) }

// Swap implements heap.Interface.
func (q memoryQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// Push implements heap.Interface.
func (q *memoryQueue) Push(x any) { *q = append(*q, x.(memory)) }

// Pop implements heap.Interface.
func (q *memoryQueue) Pop() any {
	last := len(*q) - 1
	m := (*q)[last]
	(*q)[last] = memory{}
	*q = (*q)[:last]
	return m
}

// age notes that the entries of an id may be removed after an instant.
func (b *Book) age(id string, at time.Time) { heap.Push(&b.aged, memory{id, at}) }

// Prune removes requests and grants that have ended and are older than an instant, at
// most so many, the oldest first, and returns the ids of the requests. A later answer
// to one of them is UnknownRequest.
func (b *Book) Prune(before time.Time, most int) (forgotten []string) {
	for range most {
		if len(b.aged) == 0 || !b.aged[0].at.Before(before) {
			break
		}
		id := heap.Pop(&b.aged).(memory).id
		if r := b.requests[id]; r != nil && r.Status > StatusApproved && r.Expires.Before(before) {
			delete(b.requests, id)
			forgotten = append(forgotten, id)
		}
		if g := b.grants[id]; g != nil && !g.Live(before) && g.Revoked.Before(before) {
			delete(b.grants, id)
			b.drop(g)
			b.pruned = true
		}
	}
	return forgotten
}
