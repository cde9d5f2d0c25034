package stream

import (
	"context"
	"errors"
	"sync"
	"time"
)

// The most that waits for a reader.
const (
	maxFrames = 256
	maxBytes  = 1 << 20
)

// errStalled says that a reader has taken nothing for longer than patience, or that what it may get could not be
// decided: it was told where to resume.
var errStalled = errors.New("the stream cannot go on")

// A frame is one message for a reader.
type frame struct {
	position uint64 // of the entry that it tells; 0: of none
	kind     string
	text     []byte
	live     bool // a piece of live output, which has no position
}

// A queue holds what waits for one reader. One goroutine takes, any number of them push.
type queue struct {
	some chan struct{} // tells the taker that there may be a frame
	room chan struct{} // tells a pusher that there may be room

	mu    sync.Mutex
	list  []frame
	bytes int
	taken uint64 // the last position that was taken
	last  bool   // nothing is pushed any more
}

func newQueue(after uint64) *queue {
	return &queue{some: make(chan struct{}, 1), room: make(chan struct{}, 1), taken: after}
}

// begin says which position the reader has got to before the first frame.
func (q *queue) begin(after uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.taken = after
}

// push adds a frame. While the queue is full it waits until the reader takes one, for at most
// patience: then it returns errStalled. A frame that is larger than the queue is pushed when the queue
// is empty.
func (q *queue) push(ctx context.Context, f frame) error {
	for !q.add(f) {
		t := time.NewTimer(patience)
		select {
		case <-q.room:
			t.Stop()
		case <-t.C:
			return errStalled
		case <-ctx.Done():
			t.Stop()
			return context.Cause(ctx)
		}
	}
	return nil
}

func (q *queue) add(f frame) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.last:
		return true // it is dropped: the reader was told that the stream ends
	case len(q.list) >= maxFrames || len(q.list) > 0 && q.bytes+len(f.text) > maxBytes:
		return false
	}
	q.list = append(q.list, f)
	q.bytes += len(f.text)
	signal(q.some)
	return true
}

// finish puts the last frame in the place of all that waits. make is told the position that the reader
// has got to.
func (q *queue) finish(make func(taken uint64) frame) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.last {
		return
	}
	q.list, q.last = []frame{make(q.taken)}, true
	signal(q.some)
}

// end puts the last frame behind all that waits.
func (q *queue) end(f frame) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.last {
		return
	}
	q.list, q.last = append(q.list, f), true
	q.bytes += len(f.text)
	signal(q.some)
}

// take returns the next frame. some is false when none has come before the timeout, and last is true
// when no other one comes.
func (q *queue) take(ctx context.Context, timeout time.Duration) (f frame, some, last bool, err error) {
	t := time.NewTimer(timeout)
	defer t.Stop()
	for {
		if ctx.Err() != nil {
			return f, false, false, context.Cause(ctx)
		}
		if f, some, last = q.next(); some {
			return f, some, last, nil
		}
		select {
		case <-q.some:
		case <-t.C:
			return f, false, false, nil
		case <-ctx.Done():
		}
	}
}

func (q *queue) next() (f frame, some, last bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.list) == 0 {
		return f, false, false
	}
	f = q.list[0]
	q.list[0] = frame{}
	q.list = q.list[1:]
	q.bytes -= len(f.text)
	q.taken = max(q.taken, f.position)
	signal(q.room)
	return f, true, q.last && len(q.list) == 0
}

// more reports whether a frame waits.
func (q *queue) more() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.list) > 0
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
