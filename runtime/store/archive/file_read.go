package archive

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/internal/merkle"
)

// keptFrames is how many frames a File keeps, unless they are larger than keptBytes.
const (
	keptFrames = 4
	keptBytes  = 4 << 20
)

// A decoded frame has its leaves.
type decoded struct {
	first  uint64
	leaves [][]byte
}

// Read returns the entries after a position that the segment has, at most limit, in their order; it has
// those from Header.First to Header.Last. They have no private values. Where the file is damaged it returns the
// entries before the damage and an [*Error].
func (f *File) Read(ctx context.Context, after uint64, limit int) (list []journal.Entry, err error) {
	next := max(after+1, f.header.First)
	for next <= f.header.Last && len(list) < limit {
		if err := ctx.Err(); err != nil {
			return list, err
		}
		x := f.frameOf(next)
		leaves, err := f.leaves(x)
		if err != nil {
			return list, err
		}
		for ; next <= x.Last && len(list) < limit; next++ {
			e, err := entryOf(next, leaves[next-x.First])
			if err != nil {
				return list, &Error{f.path, next, next, "its leaf is no record", err}
			}
			list = append(list, e)
		}
	}
	return list, nil
}

// Prove reads all entries and returns an error, an [*Error], unless they lead from the tree before the
// first one to the root of the header.
func (f *File) Prove(ctx context.Context) error {
	tree := merkle.Tree{Size: f.header.First - 1, Peaks: slices.Clone(f.header.Before)}
	var h merkle.Hasher
	for i := range f.index.Frames {
		if err := ctx.Err(); err != nil {
			return err
		}
		leaves, err := f.leaves(&f.index.Frames[i])
		if err != nil {
			return err
		}
		for _, leaf := range leaves {
			tree.Add(h.Leaf(leaf))
		}
	}
	if tree.Root() != f.header.Root {
		return &Error{Path: f.path, First: f.header.First, Last: f.header.Last, What: "its entries do not lead to the root of its checkpoint"}
	}
	return nil
}

// frameOf returns the frame of an entry.
func (f *File) frameOf(seq uint64) *frame {
	list := f.index.Frames
	return &list[sort.Search(len(list), func(i int) bool { return list[i].Last >= seq })]
}

// leaves returns the leaves of a frame.
func (f *File) leaves(x *frame) ([][]byte, error) {
	f.mu.Lock()
	for i := range f.recent {
		if d := f.recent[i]; d.first == x.First {
			f.mu.Unlock()
			return d.leaves, nil
		}
	}
	f.mu.Unlock()
	leaves, err := f.decode(x)
	if err != nil {
		return nil, &Error{f.path, x.First, x.Last, "they cannot be read", err}
	}
	if x.Size <= keptBytes {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.recent = append(f.recent, decoded{x.First, leaves}); len(f.recent) > keptFrames {
			f.recent = slices.Delete(f.recent, 0, 1)
		}
	}
	return leaves, nil
}

// decode reads a frame.
func (f *File) decode(x *frame) ([][]byte, error) {
	packed := make([]byte, x.Bytes)
	if _, err := f.file.ReadAt(packed, x.Offset); err != nil {
		return nil, err
	}
	if sha256.Sum256(packed) != x.SHA256 {
		return nil, errors.New("its bytes are not those of the index")
	}
	// The room is that of the index. What decodes to more is refused when the room is full.
	raw, err := f.decoder.DecodeAll(packed, make([]byte, 0, x.Size))
	if err != nil {
		return nil, err
	}
	if int64(len(raw)) != x.Size {
		return nil, fmt.Errorf("it has %d bytes and %d in the index", len(raw), x.Size)
	}
	leaves := make([][]byte, 0, x.Last-x.First+1)
	for len(raw) > 0 {
		n, k := binary.Uvarint(raw)
		if k <= 0 || n > uint64(len(raw)-k) {
			return nil, fmt.Errorf("entry %d is longer than its frame", x.First+uint64(len(leaves)))
		}
		end := k + int(n)
		leaves = append(leaves, raw[k:end:end])
		raw = raw[end:]
	}
	if uint64(len(leaves)) != x.Last-x.First+1 {
		return nil, fmt.Errorf("it has %d entries", len(leaves))
	}
	return leaves, nil
}

// entryOf returns the entry of a leaf.
func entryOf(seq uint64, leaf []byte) (journal.Entry, error) {
	var r struct { // as in journal.Record, of which nothing else is needed
		Kind    string       `json:"event"`
		At      time.Time    `json:"at"`
		Session string       `json:"session"`
		Run     string       `json:"run"`
		Call    string       `json:"call"`
		Tool    string       `json:"tool"`
		Mark    journal.Mark `json:"mark"`
	}
	if err := json.Unmarshal(leaf, &r); err != nil {
		return journal.Entry{}, err
	}
	return journal.Entry{
		Seq: seq, At: r.At.UTC(), Kind: r.Kind, Session: r.Session, Run: r.Run, Call: r.Call, Tool: r.Tool, Mark: r.Mark, Leaf: leaf,
	}, nil
}
