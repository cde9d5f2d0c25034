package audit

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/ambit-tools/ambit/runtime/store/internal/merkle"
)

// A Checkpoint says what a log was when it had Size entries.
//
// Note is a signed note, followed by a zero byte and hints: the tree at that
// size, and the hashes of the entries since the checkpoint before. The hints are
// not signed. They are believed only if the signed root follows from them.
type Checkpoint struct {
	Size uint64
	Note []byte
}

// Signed returns the signed note alone, as it is anchored.
func (c Checkpoint) Signed() []byte {
	signed, _, _ := bytes.Cut(c.Note, []byte{0})
	return signed
}

// Checkpoints stores the checkpoints of one journal, most simply in the same store.
// Its methods are safe for concurrent use.
type Checkpoints interface {
	// SaveCheckpoint stores a checkpoint and returns when it would outlive a crash.
	// Sizes grow. The note is not text: it is stored and returned byte for byte.
	SaveCheckpoint(ctx context.Context, size uint64, note []byte) error

	// Checkpoints returns what was saved, in any order.
	Checkpoints(ctx context.Context) ([]Checkpoint, error)

	// RecentCheckpoints returns the checkpoints of at most size entries, the largest first, and no more
	// than most. A start asks for the last ones: it should read no others.
	RecentCheckpoints(ctx context.Context, size uint64, most int) ([]Checkpoint, error)
}

// MemoryCheckpoints keeps checkpoints in memory. The zero value is empty and
// ready for use.
type MemoryCheckpoints struct {
	mu   sync.Mutex
	list []Checkpoint
}

// SaveCheckpoint stores a checkpoint.
func (m *MemoryCheckpoints) SaveCheckpoint(_ context.Context, size uint64, note []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.list = append(m.list, Checkpoint{Size: size, Note: slices.Clone(note)})
	return nil
}

// Checkpoints returns what was saved.
func (m *MemoryCheckpoints) Checkpoints(context.Context) ([]Checkpoint, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.list), nil
}

// RecentCheckpoints returns those of at most size entries, the largest first.
func (m *MemoryCheckpoints) RecentCheckpoints(_ context.Context, size uint64, most int) ([]Checkpoint, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return recent(m.list, size, most), nil
}

// recent returns the checkpoints of a list of at most size entries, the largest first, and of equal
// ones the one that was saved first.
func recent(list []Checkpoint, size uint64, most int) []Checkpoint {
	fit := slices.DeleteFunc(slices.Clone(list), func(c Checkpoint) bool { return c.Size > size })
	slices.SortStableFunc(fit, func(a, b Checkpoint) int { return cmp.Compare(b.Size, a.Size) })
	return fit[:min(len(fit), max(most, 0))]
}

// sign returns the signed note of a tree: its origin, which is the name of the
// key, its size and its root, a line each, as C2SP tlog-checkpoint has it. Where the
// journal was restored there is a line more.
func sign(t *tree, restored []uint64, signer note.Signer) ([]byte, error) {
	text := signer.Name() + "\n" + strconv.FormatUint(t.Size, 10) + "\n" + t.Root().String() + "\n" + restoresLine(restored)
	return note.Sign(&note.Note{Text: text}, signer)
}

// pack joins a signed note and its hints.
func pack(signed []byte, t *tree, leaves []tlog.Hash) []byte {
	out := make([]byte, 0, len(signed)+1+(len(t.Peaks)+len(leaves))*tlog.HashSize)
	out = append(append(out, signed...), 0)
	for _, list := range [][]tlog.Hash{t.Peaks, leaves} {
		for i := range list {
			out = append(out, list[i][:]...)
		}
	}
	return out
}

// hints returns the tree and the leaf hashes that are stored with the note of a
// checkpoint. They are unverified; ok says that they can be read.
func hints(c Checkpoint) (t tree, leaves []tlog.Hash, ok bool) {
	_, rest, found := bytes.Cut(c.Note, []byte{0})
	n := merkle.PeaksOf(c.Size)
	if !found || len(rest)%tlog.HashSize != 0 || len(rest) < n*tlog.HashSize {
		return tree{}, nil, false
	}
	list := make([]tlog.Hash, 0, len(rest)/tlog.HashSize)
	for h := range slices.Chunk(rest, tlog.HashSize) {
		list = append(list, tlog.Hash(h))
	}
	if uint64(len(list)-n) > c.Size {
		return tree{}, nil, false
	}
	return tree{Size: c.Size, Peaks: list[:n:n]}, list[n:], true
}

var errOrigin = errors.New("the note is about another log")

// A statement is what a signed note says.
type statement struct {
	said     uint64 // the size
	root     tlog.Hash
	restored []uint64 // down to which sizes the journal was restored before, in that order
	bad      error    // the note says nothing
}

// open checks the signature of a note and returns what it says.
func open(signed []byte, v note.Verifier) statement {
	if origin, _, _ := bytes.Cut(signed, []byte("\n")); string(origin) != v.Name() {
		return statement{bad: fmt.Errorf("%q where %q is verified: %w", shorten(origin), v.Name(), errOrigin)}
	}
	n, err := note.Open(signed, note.VerifierList(v))
	if err != nil {
		return statement{bad: fmt.Errorf("the note is not signed by the key of %q: %w", v.Name(), err)}
	}
	return parse(n.Text)
}

// parse reads the text of a note. It ignores lines after the third that it cannot
// interpret: they are for later versions.
func parse(text string) (s statement) {
	lines := strings.Split(text, "\n")
	if len(lines) < 4 {
		s.bad = errors.New("the note has fewer lines than origin, size and root")
		return s
	}
	size, ok := number(lines[1])
	if !ok {
		s.bad = fmt.Errorf("the note has no size in its second line, but %q", shorten([]byte(lines[1])))
		return s
	}
	h, err := base64.StdEncoding.DecodeString(lines[2])
	if err != nil || len(h) != tlog.HashSize {
		s.bad = fmt.Errorf("the note has no root in its third line, but %q", shorten([]byte(lines[2])))
		return s
	}
	s.said, s.root = size, tlog.Hash(h)
	s.restored, s.bad = restoresIn(lines[3:])
	return s
}

// number reads a count of entries, which is written in one way.
func number(text string) (uint64, bool) {
	n, err := strconv.ParseUint(text, 10, 63)
	return n, err == nil && text == strconv.FormatUint(n, 10)
}

// shorten keeps what is quoted in errors readable.
func shorten(b []byte) []byte {
	const limit = 80
	if len(b) > limit {
		return b[:limit]
	}
	return b
}
