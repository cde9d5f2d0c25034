package process

import (
	"bytes"
	"crypto/sha256"
	"hash"
	"sync"
)

// An Output is what is kept of a stream.
type Output struct {
	Head      []byte
	Tail      []byte // what follows Head, or what came last where Truncated
	Size      int64  // of the whole stream, in bytes
	SHA256    [sha256.Size]byte
	Lines     int64 // of the whole stream, one that has no end included
	Truncated bool  // between Head and Tail
}

// Dropped returns how many bytes are missing between Head and Tail.
func (o *Output) Dropped() int64 { return o.Size - int64(len(o.Head)) - int64(len(o.Tail)) }

// A Keeper keeps the head and the tail of a stream, half of its cap each, and counts and hashes
// the rest. A process that floods is neither blocked nor remembered. It is safe for concurrent
// use.
type Keeper struct {
	mu   sync.Mutex
	most int
	head []byte
	ring []byte
	next int // where in a full ring the oldest byte is
	size int64
	rows int64 // line feeds
	open bool  // the last line has no end
	sum  hash.Hash
}

// NewKeeper returns a keeper of at most so many bytes.
func NewKeeper(most int64) *Keeper { return &Keeper{most: int(max(0, most)), sum: sha256.New()} }

// Write implements io.Writer. It never fails.
func (k *Keeper) Write(b []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := len(b)
	k.size += int64(n)
	k.rows += int64(bytes.Count(b, []byte{'\n'}))
	k.sum.Write(b)
	if n > 0 {
		k.open = b[n-1] != '\n'
	}
	half := k.most / 2
	if room := k.most - half - len(k.head); room > 0 {
		take := min(room, len(b))
		k.head, b = append(k.head, b[:take]...), b[take:]
	}
	b = b[max(0, len(b)-half):]
	if room := min(half-len(k.ring), len(b)); room > 0 {
		k.ring, b = append(k.ring, b[:room]...), b[room:]
	}
	for len(b) > 0 {
		m := copy(k.ring[k.next:], b)
		k.next, b = (k.next+m)%half, b[m:]
	}
	return n, nil
}

// Output returns what is kept so far.
func (k *Keeper) Output() Output {
	k.mu.Lock()
	defer k.mu.Unlock()
	o := Output{Head: append([]byte{}, k.head...), Size: k.size, Lines: k.rows}
	o.Tail = append(append(o.Tail, k.ring[k.next:]...), k.ring[:k.next]...)
	k.sum.Sum(o.SHA256[:0])
	o.Truncated = o.Dropped() > 0
	if k.open {
		o.Lines++
	}
	return o
}
