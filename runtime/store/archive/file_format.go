package archive

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/ambit-tools/ambit/runtime/store/internal/merkle"
)

// The parts of a file: magic, header, frames, index and end.
const (
	magic      = "ambit segment 1\n"
	endMark    = "ambitend"
	endSize    = 8 + sha256.Size + len(endMark)
	maxHeader  = 1 << 20
	maxIndex   = 1 << 26
	maxFrame   = 1 << 28 // bytes of the entries of a frame, before they are compressed
	frameFull  = 1 << 20 // a frame of so many bytes gets no further entry
	maxEntries = 1024    // of a frame
	storeIDLen = 32      // hexadecimal digits
)

// A Header says which entries a segment has, and what proves them.
type Header struct {
	Store    string      `json:"store"`              // id of the store: 32 hexadecimal digits, lower case
	Origin   string      `json:"origin"`             // of its audit log
	First    uint64      `json:"first"`              // position of the first entry
	Last     uint64      `json:"last"`               // of the last one
	Before   []tlog.Hash `json:"before"`             // roots of the complete subtrees of the entries before First, the largest first
	Root     tlog.Hash   `json:"root"`               // of the audit log with Last entries
	Note     string      `json:"note"`               // signed checkpoint of that size
	Previous *tlog.Hash  `json:"previous,omitempty"` // Digest of the segment before; nil: it is not known
}

// check returns what is wrong with a header by itself.
func (h *Header) check() error {
	id, err := hex.DecodeString(h.Store)
	switch {
	case err != nil || len(id) != storeIDLen/2 || hex.EncodeToString(id) != h.Store:
		return fmt.Errorf("its header names no store, but %.40q", h.Store)
	case h.First == 0 || h.Last < h.First || h.Last > 1<<62:
		return fmt.Errorf("its header has the positions %d to %d", h.First, h.Last)
	case len(h.Before) != merkle.PeaksOf(h.First-1):
		return fmt.Errorf("its header has %d hashes of the tree before entry %d, which has %d", len(h.Before), h.First, merkle.PeaksOf(h.First-1))
	case h.Origin == "" || !strings.HasPrefix(h.Note, h.said()):
		return errors.New("its header has the checkpoint of another tree")
	}
	return nil
}

// said returns how the text of the checkpoint begins.
func (h *Header) said() string {
	return fmt.Sprintf("%s\n%d\n%s\n", h.Origin, h.Last, h.Root)
}

// A frame is a group of entries that are compressed together.
type frame struct {
	First  uint64    `json:"first"`
	Last   uint64    `json:"last"`
	Offset int64     `json:"offset"` // in the file
	Bytes  int64     `json:"bytes"`  // in the file
	Size   int64     `json:"size"`   // of the entries
	SHA256 tlog.Hash `json:"sha256"` // of the bytes in the file
}

// An index says where the frames are.
type index struct {
	Frames []frame `json:"frames"`
}

// check returns what is wrong with an index: the frames lie between two places in the file, without
// gaps, and have the entries of the header.
func (x *index) check(h *Header, from, to int64) error {
	next := h.First
	for i := range x.Frames {
		f := &x.Frames[i]
		if f.First != next || f.Last < f.First || f.Last-f.First >= maxEntries || f.Last > h.Last || f.Offset != from || f.Bytes <= 0 ||
			f.Bytes > to-from || f.Size <= 0 || f.Size > maxFrame {
			return fmt.Errorf("its index is wrong from entry %d on", next)
		}
		next, from = f.Last+1, from+f.Bytes
	}
	if next != h.Last+1 || from != to {
		return fmt.Errorf("its index ends at entry %d of %d", next-1, h.Last)
	}
	return nil
}

// line returns a value as a line of JSON.
func line(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	return append(text, '\n'), err
}

// parse reads a line that line has written, and no other spelling of it.
func parse(text []byte, v any) error {
	if err := json.Unmarshal(text, v); err != nil {
		return err
	}
	again, err := line(v)
	if err == nil && !bytes.Equal(again, text) {
		err = errors.New("it is not spelled as a segment is")
	}
	return err
}

// ending returns the end of a file, and the digest in it.
func ending(head, index []byte, offset int64) ([]byte, tlog.Hash) {
	at := binary.BigEndian.AppendUint64(nil, uint64(offset))
	h := sha256.New()
	for _, part := range [][]byte{head, index, at} {
		h.Write(part)
	}
	digest := tlog.Hash(h.Sum(nil))
	return append(append(at, digest[:]...), endMark...), digest
}
