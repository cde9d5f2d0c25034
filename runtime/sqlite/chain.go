package sqlite

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"math"

	"github.com/ambit-tools/ambit/runtime/journal"
)

const (
	macSize = sha256.Size
	idSize  = 16
)

// What is authenticated begins with what it is, so that an authenticator of one
// kind is never one of another.
const (
	domainBegin      = "ambit store begin 1\n"
	domainEntry      = "ambit store entry 1\n"
	domainHead       = "ambit store head 1\n"
	domainCheckpoint = "ambit store checkpoint 1\n"
	domainState      = "ambit store state 1\n"
)

// The flags of an entry are the first byte of its column mac.
const (
	flagMore  = 1 << iota // more entries of the same Append follow
	flagTimed             // the entry has a time
)

// A mac is an authenticator: HMAC-SHA256 under the key of the chain.
type mac [macSize]byte

// A secret is what authenticators are made with.
type secret struct {
	key [keySize]byte
	id  [idSize]byte // of the store
}

// A chain computes authenticators. One goroutine at a time uses it.
type chain struct {
	id  [idSize]byte
	h   hash.Hash
	buf []byte
}

func newChain(s *secret) *chain {
	return &chain{id: s.id, h: hmac.New(sha256.New, s.key[:]), buf: make([]byte, 0, 512)}
}

// begin starts the text of an authenticator.
func (c *chain) begin(domain string) { c.buf = append(append(c.buf[:0], domain...), c.id[:]...) }

func (c *chain) number(n uint64) { c.buf = binary.BigEndian.AppendUint64(c.buf, n) }

func (c *chain) text(s string) {
	c.number(uint64(len(s)))
	c.buf = append(c.buf, s...)
}

// end returns the authenticator of what was written and of a last part, which is
// not copied.
func (c *chain) end(last []byte) (m mac) {
	c.number(uint64(len(last)))
	c.h.Reset()
	c.h.Write(c.buf)
	c.h.Write(last)
	if cap(c.buf) > math.MaxUint16 {
		c.buf = nil // an unusual text must not be paid for ever after
	}
	c.h.Sum(m[:0])
	return m
}

// first returns the authenticator that the first entry is chained to.
func (c *chain) first() mac {
	c.begin(domainBegin)
	return c.end(nil)
}

// entry returns the authenticator of an entry after one with the authenticator
// before. Of the flags it looks at flagMore.
func (c *chain) entry(before mac, e *journal.Entry, flags byte) (byte, mac) {
	at := int64(0)
	flags &= flagMore
	if !e.At.IsZero() {
		flags |= flagTimed
		at = e.At.UnixNano()
	}
	c.begin(domainEntry)
	c.buf = append(c.buf, before[:]...)
	c.number(e.Seq)
	c.buf = append(c.buf, flags)
	c.number(uint64(at))
	c.buf = append(c.buf, byte(e.Mark))
	c.text(e.Kind)
	c.text(e.Session)
	c.text(e.Run)
	c.text(e.Call)
	c.text(e.Tool)
	return flags, c.end(e.Leaf)
}

// checkpoint returns the authenticator of a stored checkpoint.
func (c *chain) checkpoint(size uint64, tail mac, note []byte) mac {
	c.begin(domainCheckpoint)
	c.number(size)
	c.buf = append(c.buf, tail[:]...)
	return c.end(note)
}

// state returns the authenticator of a value of the state.
func (c *chain) state(key string, value []byte) mac {
	c.begin(domainState)
	c.text(key)
	return c.end(value)
}

// head returns the authenticator of a head.
func (c *chain) head(h *head) mac {
	c.begin(domainHead)
	c.number(h.size)
	c.buf = append(c.buf, h.tail[:]...)
	c.number(h.epoch)
	return c.end(nil)
}

// parseColumn splits what the column mac of an entry has. It reports false for what
// no owner stores there.
func parseColumn(b []byte) (flags byte, m mac, ok bool) {
	if len(b) != 1+macSize {
		return 0, m, false
	}
	return b[0], mac(b[1:]), true
}

// A link verifies entries that follow each other.
type link struct {
	c    *chain
	last mac
	more bool // the last entry is not the last of its Append
}

// next reports whether an entry with a column mac follows the last one.
func (l *link) next(e *journal.Entry, stored []byte) bool {
	flags, m, ok := parseColumn(stored)
	if !ok {
		return false
	}
	was, want := l.c.entry(l.last, e, flags)
	if was != flags || !hmac.Equal(want[:], m[:]) {
		return false
	}
	l.last, l.more = m, flags&flagMore != 0
	return true
}
