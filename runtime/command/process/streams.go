package process

import (
	"io"
	"sync"
	"time"
)

const (
	chunkSize  = 8 << 10
	chunkDelay = 100 * time.Millisecond
	maxPending = 64 << 10 // of each stream, while Output is slow
)

// Streams keep the output of a process and pass it on, in chunks of at most 8 KiB that wait
// 100 ms at most, for runners. A receiver that is slow loses chunks, and does not slow the
// process down. A Streams is safe for concurrent use.
type Streams struct {
	keep [2]*Keeper
	to   func(Chunk)          // nil: only kept
	most int64                // bytes that are passed on of each stream
	tee  func(Stream, []byte) // nil: none

	mu      sync.Mutex
	pending [2][]byte
	offset  [2]int64 // of the first pending byte
	seen    [2]int64 // bytes that the process wrote
	wake    chan struct{}
	done    chan struct{} // closed when nothing is passed on any more
	closed  bool
}

// NewStreams returns the streams of the process of a job: what its limits say is kept, and passed on to
// its Output and its Spool. Close must be called.
func NewStreams(job *Job) *Streams {
	most, to := job.Spec.Limits.Output, job.Output
	s := &Streams{keep: [2]*Keeper{NewKeeper(most), NewKeeper(most)}, to: to, most: most, tee: job.Spool,
		wake: make(chan struct{}, 1), done: make(chan struct{})}
	if job.Kept != nil {
		job.Kept(s.Kept)
	}
	if to == nil {
		close(s.done)
	} else {
		go s.deliver()
	}
	return s
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// Writer returns where the output of a process goes. Its Write never fails or waits.
func (s *Streams) Writer(i Stream) io.Writer {
	return writerFunc(func(b []byte) (int, error) {
		if s.tee != nil {
			s.tee(i, b)
		}
		n, err := s.keep[i].Write(b) // first: what is passed on is kept
		if s.to != nil {
			s.add(i, b)
		}
		return n, err
	})
}

// add appends to what is pending, as far as there is room and the cap allows.
func (s *Streams) add(i Stream, b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.seen[i]
	s.seen[i] += int64(len(b))
	if at >= s.most || len(b) == 0 {
		return
	}
	b = b[:min(int64(len(b)), s.most-at)]
	p := s.pending[i]
	if len(p) > 0 && s.offset[i]+int64(len(p)) != at { // a gap: what follows waits until this is delivered
		return
	}
	if len(p) == 0 {
		s.offset[i] = at
	}
	s.pending[i] = append(p, b[:min(len(b), maxPending-len(p))]...)
	if len(p) == 0 || len(s.pending[i]) >= chunkSize {
		s.poke()
	}
}

func (s *Streams) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// deliver passes chunks on until the streams are closed and nothing is pending.
func (s *Streams) deliver() {
	defer close(s.done)
	for over := false; !over; {
		<-s.wake
		s.gather()
		for _, c := range s.take() {
			for ; len(c.Data) > 0; c.Offset += chunkSize {
				n := min(chunkSize, len(c.Data))
				s.to(Chunk{Stream: c.Stream, Offset: c.Offset, Data: c.Data[:n:n]})
				c.Data = c.Data[n:]
			}
		}
		s.mu.Lock()
		over = s.closed && len(s.pending[0]) == 0 && len(s.pending[1]) == 0
		s.mu.Unlock()
	}
}

// gather returns when a chunk is full, its delay is over, or the streams are closed (SEMANTICS 2.5.6).
func (s *Streams) gather() {
	delay := time.NewTimer(chunkDelay)
	defer delay.Stop()
	for !s.due() {
		select {
		case <-delay.C:
			return
		case <-s.wake:
		}
	}
}

func (s *Streams) due() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed || len(s.pending[0]) >= chunkSize || len(s.pending[1]) >= chunkSize
}

func (s *Streams) take() (list []Chunk) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, p := range s.pending {
		if len(p) > 0 {
			list = append(list, Chunk{Stream: Stream(i), Offset: s.offset[i], Data: p})
			s.pending[i] = nil
		}
	}
	return list
}

// Close returns when what is pending has been passed on.
func (s *Streams) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.poke()
	<-s.done
}

// Kept returns what is kept so far.
func (s *Streams) Kept() (stdout, stderr Output) {
	return s.keep[Stdout].Output(), s.keep[Stderr].Output()
}
