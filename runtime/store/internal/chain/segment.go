package chain

import (
	"crypto/hmac"
	"encoding/json"
)

// A Segment says which entries were archived, and where they went. Its row in the store begins the chain of the
// entries that follow.
type Segment struct {
	First  uint64     `json:"first"`
	Last   uint64     `json:"last"`
	File   string     `json:"file"`
	Digest [Size]byte `json:"digest"` // of the file
	Tail   MAC        `json:"tail"`   // the authenticator of the last entry
}

// Row returns the columns data and mac of a segment.
func (c *Chain) Row(s *Segment) (data, mac []byte, err error) {
	if data, err = json.Marshal(s); err != nil {
		return nil, nil, err
	}
	m := c.segment(data)
	return data, m[:], nil
}

// ReadSegment is the reverse of Row. It reports false for what no owner stores. A nil chain verifies nothing.
func (c *Chain) ReadSegment(last uint64, data, mac []byte) (s Segment, ok bool) {
	if c != nil {
		if want := c.segment(data); !hmac.Equal(want[:], mac) {
			return s, false
		}
	}
	if json.Unmarshal(data, &s) != nil || s.Last != last || s.First == 0 || s.First > last {
		return Segment{}, false
	}
	return s, true
}

func (c *Chain) segment(data []byte) MAC {
	c.begin(domainSegment)
	return c.end(data)
}
