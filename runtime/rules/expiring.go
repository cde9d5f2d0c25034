package rules

import (
	"cmp"
	"slices"
)

// sweptAtOnce is how many items an admission takes out of each expiring at most: more
// than it can add, and so few that no admission takes long after a pause.
const sweptAtOnce = 4

// expiring holds items until an instant each, in first-in-first-out queues: one for
// each duration that tools declare, as what lasts equally long expires in the order
// in which it ended. Adding and taking an item cost the same however many there are.
// The zero value is empty.
type expiring[T any] struct {
	queues []queue[T] // by index of the duration
	next   Instant    // before it nothing expires
}

// add adds an item with the index of its duration.
func (x *expiring[T]) add(duration int, until Instant, item T) {
	for len(x.queues) <= duration {
		x.queues = append(x.queues, queue[T]{})
	}
	x.queues[duration].push(timed[T]{until, item})
	x.next = min(x.next, until)
}

// take removes and returns an item that has expired. An item may be kept until those of
// its duration that were added before it have expired, also when it expires first.
func (x *expiring[T]) take(now Instant) (item T, ok bool) {
	if now < x.next {
		return item, false
	}
	x.next = forever
	for i := range x.queues {
		first := x.queues[i].front()
		switch {
		case first == nil:
		case first.until <= now:
			x.next, item = first.until, first.item // there may be more
			x.queues[i].pop()
			return item, true
		default:
			x.next = min(x.next, first.until)
		}
	}
	return item, false
}

// sort brings items that were added in another order into that in which they expire.
func (x *expiring[T]) sort() {
	for i := range x.queues {
		var list []timed[T]
		q := &x.queues[i]
		for first := q.front(); first != nil; first = q.front() {
			list = append(list, *first)
			q.pop()
		}
		slices.SortStableFunc(list, func(a, b timed[T]) int { return cmp.Compare(a.until, b.until) })
		for _, item := range list {
			q.push(item)
		}
	}
}

// A timed item is held until an instant.
type timed[T any] struct {
	until Instant
	item  T
}

// A queue is a first-in-first-out queue in blocks: it neither copies items nor keeps
// the memory of those that left.
type queue[T any] struct {
	first, last *block[T]
	head, tail  int // the first item in first, and behind the last one in last
}

type block[T any] struct {
	items [16]timed[T]
	next  *block[T]
}

// push adds an item at the end.
func (q *queue[T]) push(t timed[T]) {
	switch {
	case q.last == nil:
		q.last = &block[T]{}
		q.first = q.last
	case q.tail == len(q.last.items):
		q.last.next = &block[T]{}
		q.last, q.tail = q.last.next, 0
	}
	q.last.items[q.tail] = t
	q.tail++
}

// front returns the first item, nil when there is none.
func (q *queue[T]) front() *timed[T] {
	if q.first == nil {
		return nil
	}
	return &q.first.items[q.head]
}

// pop removes the first item, which exists.
func (q *queue[T]) pop() {
	q.first.items[q.head] = timed[T]{}
	q.head++
	switch {
	case q.first == q.last && q.head == q.tail:
		*q = queue[T]{}
	case q.head == len(q.first.items):
		q.first, q.head = q.first.next, 0
	}
}
