// Package chain authenticates what a store holds: entries, each with the one before it,
// checkpoints, values of the state, the head, and a tree of its sessions. An authenticator
// is HMAC-SHA256 under the key of the store.
package chain

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"math"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// Size is the length of an authenticator in bytes.
const Size = sha256.Size

// IDSize is the length of the id of a store in bytes.
const IDSize = 16

// KeySize is the length of a key in bytes.
const KeySize = 32

// What is authenticated begins with what it is, so that an authenticator of one
// kind is never one of another.
const (
	domainBegin      = "ambit store begin 1\n"
	domainEntry      = "ambit store entry 2\n"
	domainHead       = "ambit store head 2\n"
	domainCheckpoint = "ambit store checkpoint 1\n"
	domainState      = "ambit store state 1\n"
	domainName       = "ambit store session name 1\n"
	domainRoot       = "ambit store root 1\n"
	domainSegment    = "ambit store segment 1\n"
	domainArchived   = "ambit store head 3\n"
)

// FlagMore is a flag of an entry, which are the first byte of its column mac: more
// entries of the same Append follow.
const FlagMore = 1

// flagTimed is another one: the entry has a time.
const flagTimed = 2

// A MAC is an authenticator: HMAC-SHA256 under the key of the chain.
type MAC [Size]byte

// A Secret is what authenticators are made with.
type Secret struct {
	Key [KeySize]byte
	ID  [IDSize]byte // of the store
}

// A Head is up to where a store was durable.
type Head struct {
	Size  uint64 // entries
	Tail  MAC    // the authenticator of the last one
	Epoch uint64 // of the owner; 0: the store was never made to its end

	Rooted uint64     // the entries that Root is about
	Root   [Size]byte // of the tree of the sessions

	Archived uint64 // entries that are in segments and not in the store
}

// NotAuthentic is the text of ErrMAC.
const NotAuthentic = "its authenticator is not one of the store's owner"

// ErrMAC says of an entry that was read that it does not verify.
var ErrMAC = errors.New(NotAuthentic)

// A Chain computes authenticators. One goroutine at a time uses it.
type Chain struct {
	id  [IDSize]byte
	h   hash.Hash
	buf []byte
}

// New returns a chain under the key of a store.
func New(s *Secret) *Chain {
	return &Chain{id: s.ID, h: hmac.New(sha256.New, s.Key[:]), buf: make([]byte, 0, 512)}
}

// begin starts the text of an authenticator.
func (c *Chain) begin(domain string) { c.buf = append(append(c.buf[:0], domain...), c.id[:]...) }

func (c *Chain) number(n uint64) { c.buf = binary.BigEndian.AppendUint64(c.buf, n) }

func (c *Chain) text(s string) {
	c.number(uint64(len(s)))
	c.buf = append(c.buf, s...)
}

// end returns the authenticator of what was written and of a last part, which is
// not copied.
func (c *Chain) end(last []byte) (m MAC) {
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

// First returns the authenticator that the first entry is chained to.
func (c *Chain) First() MAC {
	c.begin(domainBegin)
	return c.end(nil)
}

// Entry returns the authenticator of an entry after one with the authenticator
// before, which follows another one in its session. Of the flags it looks at FlagMore.
func (c *Chain) Entry(before MAC, back Back, e *journal.Entry, flags byte) (byte, MAC) {
	at := int64(0)
	flags &= FlagMore
	if !e.At.IsZero() {
		flags |= flagTimed
		at = e.At.UnixNano()
	}
	c.begin(domainEntry)
	c.buf = append(c.buf, before[:]...)
	c.number(e.Seq)
	c.number(back.Distance)
	c.buf = append(c.buf, back.Link[:]...)
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

// Checkpoint returns the authenticator of a stored checkpoint.
func (c *Chain) Checkpoint(size uint64, tail MAC, note []byte) MAC {
	c.begin(domainCheckpoint)
	c.number(size)
	c.buf = append(c.buf, tail[:]...)
	return c.end(note)
}

// State returns the authenticator of a value of the state.
func (c *Chain) State(key string, value []byte) MAC {
	c.begin(domainState)
	c.text(key)
	return c.end(value)
}

// Head returns the authenticator of a head.
func (c *Chain) Head(h *Head) MAC {
	if c.begin(domainHead); h.Archived > 0 {
		c.begin(domainArchived)
		c.number(h.Archived)
	}
	c.number(h.Size)
	c.buf = append(c.buf, h.Tail[:]...)
	c.number(h.Epoch)
	c.number(h.Rooted)
	c.buf = append(c.buf, h.Root[:]...)
	return c.end(nil)
}

// A Link verifies entries that follow each other.
type Link struct {
	Chain *Chain
	Last  MAC
}

// Next reports whether an entry with a column mac follows the last one.
func (l *Link) Next(e *journal.Entry, stored *Column) bool {
	flags, want := l.Chain.Entry(l.Last, stored.Back, e, stored.Flags)
	if flags != stored.Flags || !hmac.Equal(want[:], stored.MAC[:]) {
		return false
	}
	l.Last = stored.MAC
	return true
}

// Holds reports whether the row of a checkpoint is authentic.
func (c *Chain) Holds(size uint64, note, tail, stored []byte) bool {
	if len(tail) != Size {
		return false
	}
	want := c.Checkpoint(size, MAC(tail), note)
	return hmac.Equal(want[:], stored)
}
