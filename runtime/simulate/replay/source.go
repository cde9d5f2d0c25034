package replay

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A Source is where a recording is read from: every journal.Journal is one.
type Source interface {
	// Read returns the entries after a position, at most limit, in their order; none
	// when there are no more.
	Read(ctx context.Context, after uint64, limit int) ([]journal.Entry, error)
}

// page is how many entries are read at once.
const page = 1000

// maxLine is the length of the longest line that is read: far more than limits of
// inputs and outputs let a record have.
const maxLine = 64 << 20

// A Lines is a Source of the lines that audit.Export writes.
type Lines struct{ entries []journal.Entry }

// ReadLines reads an export to its end. A line whose leaf_hash is not that of its
// record is refused; one without is taken, so that recordings can be written by
// hand. An export has no private values, and not what they refer to.
func ReadLines(r io.Reader) (*Lines, error) {
	l := &Lines{}
	scan := bufio.NewScanner(r)
	scan.Buffer(nil, maxLine)
	for n := 1; scan.Scan(); n++ {
		text := bytes.TrimSpace(scan.Bytes())
		if len(text) == 0 {
			continue
		}
		entry, err := readLine(text)
		if err == nil && len(l.entries) > 0 && entry.Seq <= l.entries[len(l.entries)-1].Seq {
			err = fmt.Errorf("position %d does not come after %d: the lines are not in the order of the journal", entry.Seq, l.entries[len(l.entries)-1].Seq)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		l.entries = append(l.entries, entry)
	}
	if err := scan.Err(); err != nil {
		return nil, fmt.Errorf("after line %d: %w", len(l.entries), err)
	}
	return l, nil
}

// readLine returns the entry of one line.
func readLine(text []byte) (journal.Entry, error) {
	var line struct {
		Seq    uint64          `json:"seq"`
		Hash   string          `json:"leaf_hash"`
		Record json.RawMessage `json:"record"`
	}
	if bad := wire.Unmarshal(text, wire.Limits{Size: len(text) + 1, Depth: 1_000, Number: len(text) + 1}, &line); bad != nil {
		return journal.Entry{}, fmt.Errorf("it is not a line of an export: %s", bad[0])
	}
	if line.Seq == 0 || line.Record == nil {
		return journal.Entry{}, errors.New(`it lacks "seq" or "record": it is not a line of an export`)
	}
	if sum := leafHash(line.Record); line.Hash != "" && !strings.EqualFold(line.Hash, sum) {
		return journal.Entry{}, fmt.Errorf("the hash of entry %d is not that of its record: the line was changed", line.Seq)
	}
	return journal.Entry{Seq: line.Seq, Leaf: slices.Clone(line.Record)}, nil
}

// leafHash is the hash of a leaf of a Merkle tree (RFC 6962).
func leafHash(leaf []byte) string {
	h := sha256.New()
	h.Write([]byte{0})
	h.Write(leaf)
	return hex.EncodeToString(h.Sum(nil))
}

// Read implements Source.
func (l *Lines) Read(_ context.Context, after uint64, limit int) ([]journal.Entry, error) {
	from, _ := slices.BinarySearchFunc(l.entries, after+1, func(e journal.Entry, seq uint64) int {
		switch {
		case e.Seq < seq:
			return -1
		case e.Seq > seq:
			return 1
		}
		return 0
	})
	return slices.Clone(l.entries[from:min(len(l.entries), from+max(limit, 0))]), nil
}
