package chain

import (
	"crypto/hmac"
	"encoding/binary"
)

// LinkSize is how many bytes of an authenticator the next entry of the session has.
const LinkSize = 16

// A Back says what an entry follows in its session. Its authenticator covers that.
type Back struct {
	Distance uint64         // how many positions before it the previous entry is; 0: there is none
	Link     [LinkSize]byte // how the authenticator of that entry begins
}

// LinkOf returns what the next entry of a session has of an authenticator.
func LinkOf(m MAC) [LinkSize]byte { return [LinkSize]byte(m[:LinkSize]) }

// A Column is what the column mac of an entry has.
type Column struct {
	Flags byte
	MAC   MAC
	Back  Back
}

// MaxColumn is the length that no column exceeds.
const MaxColumn = 1 + Size + LinkSize + binary.MaxVarintLen64

// Append appends the form that is stored.
func (c *Column) Append(b []byte) []byte {
	b = append(append(append(b, c.Flags), c.MAC[:]...), c.Back.Link[:]...)
	return binary.AppendUvarint(b, c.Back.Distance)
}

// ParseColumn is the reverse of Append. It reports false for what no owner stores.
func ParseColumn(b []byte) (c Column, ok bool) {
	const fixed = 1 + Size + LinkSize
	if len(b) <= fixed {
		return c, false
	}
	distance, n := binary.Uvarint(b[fixed:])
	if n != len(b)-fixed {
		return c, false
	}
	return Column{b[0], MAC(b[1:]), Back{distance, [LinkSize]byte(b[1+Size:])}}, true
}

// Name returns the name of a session in the tree of the sessions. Without the key nothing is known of it,
// so that ids cannot be chosen to make the tree deep.
func (c *Chain) Name(session string) (name [LinkSize]byte) {
	c.begin(domainName)
	m := c.end([]byte(session))
	return LinkOf(m)
}

// Root returns the authenticator of the root of the tree of the sessions as it was after so many entries,
// the last of which has the authenticator tail.
func (c *Chain) Root(rooted uint64, root [Size]byte, tail MAC) MAC {
	c.begin(domainRoot)
	c.number(rooted)
	c.buf = append(c.buf, root[:]...)
	return c.end(tail[:])
}

// HoldsRoot reports whether the stored root of a tree is authentic.
func (c *Chain) HoldsRoot(rooted uint64, root, stored []byte, tail MAC) bool {
	if rooted == 0 {
		return len(root) == 0 && len(stored) == 0
	}
	if len(root) != Size {
		return false
	}
	want := c.Root(rooted, [Size]byte(root), tail)
	return hmac.Equal(want[:], stored)
}
