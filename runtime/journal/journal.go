package journal

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// The errors of a Journal, to be found with errors.Is.
var (
	// ErrConflict says that entries do not continue the journal: another writer has
	// appended, or the journal was not read to its end before.
	ErrConflict = errors.New("the entries do not continue the journal")
	// ErrLost says that this process may not write the journal any more: another
	// one owns it, or an earlier write failed so that it is not known what is on disk.
	ErrLost = errors.New("the journal may not be written any more")
	// ErrUnavailable says that the journal cannot be written now, for example because
	// the disk is full. Nothing of the change is in it, this process still owns it,
	// and the same change may be possible later.
	ErrUnavailable = errors.New("the journal cannot be written now")

	// ErrClaimed says that another executor of this process writes the journal.
	ErrClaimed = errors.New("another executor of this process writes the journal: shut that one down first")

	// ErrNoEntry says that the journal has no entry at a position.
	ErrNoEntry = errors.New("the journal has no such entry")

	// ErrClosed says that the journal was closed.
	ErrClosed = errors.New("the journal is closed")
)

// An ArchivedError says that entries up to a position are not in the journal any more: they are in
// segments. Read returns it when the entry after its position is one of them, Entries when one of those asked for is, and
// Back when the next one is.
type ArchivedError struct {
	Seq     uint64 // the entry that was asked for
	Last    uint64 // the last entry that is archived
	Segment string // the file to which Seq was archived; empty: it is not known
}

// Error says which entries are archived, and where.
func (e *ArchivedError) Error() string {
	if e.Segment == "" {
		return fmt.Sprintf("the entries up to %d are archived: read them from the segments", e.Last)
	}
	return fmt.Sprintf("the entries up to %d are archived, and entry %d in the segment %q: read it there", e.Last, e.Seq, e.Segment)
}

// A Segment is a file to which entries of a journal were archived.
type Segment struct {
	First, Last uint64   // its entries
	File        string   // its name when it was written
	Digest      [32]byte // of its header and its index
}

// A SignedCheckpoint is a signed statement about the first entries of a journal.
type SignedCheckpoint struct {
	Size uint64 // how many entries
	Note []byte
}

// Segments has entries that were archived from a journal, without private values. It is safe for concurrent use.
type Segments interface {
	// Entries returns the entries at some positions, in the order of these. The error says which it has not, and why.
	Entries(ctx context.Context, seqs ...uint64) ([]Entry, error)
}

// A Mark says what an entry means for the call that it is about.
type Mark uint8

// The marks.
const (
	MarkNone    Mark = iota
	MarkOpened       // the first entry of the call
	MarkStarted      // from here on the call may have had an effect
	MarkEnded        // the call has its outcome
	MarkUndoing      // from here on an undo of the call may have an effect
	MarkUndone       // the undo has a result
)

// An Entry is one fact as it is stored.
type Entry struct {
	Seq     uint64    // its position: from 1, without gaps
	At      time.Time // when it happened, in nanoseconds, UTC
	Kind    string    // as in the record
	Session string
	Run     string // empty: of no run
	Call    string // empty: of no call
	Tool    string // empty: of no tool
	Mark    Mark
	Leaf    []byte // the record; what the audit hashes
	Private []byte // what may be erased; nil: there is nothing
}

// A CallKey names a call: its id is unique in its session.
type CallKey struct{ Session, Call string }

// A Journal stores entries. Its methods are safe for concurrent use, but for
// Append, which one goroutine at a time calls.
//
// What it returns is the caller's to keep and must not be changed.
type Journal interface {
	// Append stores entries, all of them or none, and returns when they would
	// outlive a crash. The first one continues the journal, otherwise nothing is
	// stored and the error is ErrConflict. While the journal cannot be written it is
	// ErrUnavailable, nothing is stored, and the same entries may come again. After an error of which it is not known
	// what it left behind every later Append fails with ErrLost.
	Append(ctx context.Context, entries []Entry) error

	// Read returns the entries after a position, at most limit, in their order;
	// none when the journal ends there.
	Read(ctx context.Context, after uint64, limit int) ([]Entry, error)

	// Call returns the entries of one call in their order; none when there are none.
	Call(ctx context.Context, key CallKey) ([]Entry, error)

	// Unfinished returns the calls that were opened and have not ended, in the
	// order in which they were opened.
	Unfinished(ctx context.Context) ([]CallKey, error)

	// Back calls f with the entries of a session, the last of those before a position
	// first, until f returns false; before math.MaxUint64: from the end. Session "" has the
	// entries that are of no session. f may call other methods of the journal.
	Back(ctx context.Context, session string, before uint64, f func(*Entry) bool) error

	// Entries returns the entries at positions, in the order of these. The error is
	// ErrNoEntry when one is not there.
	Entries(ctx context.Context, seqs ...uint64) ([]Entry, error)

	// Open returns the sessions in which a call or an undo has begun and not ended, sorted.
	Open(ctx context.Context) ([]string, error)
}

// An Owner is what a Journal is too, when only one process at a time may write
// it: a lease, which has to be renewed.
type Owner interface {
	// Epoch returns the number of this ownership. It grows with every owner and is
	// handed to handlers as the fence.
	Epoch() uint64

	// Renew renews the lease. The error is ErrLost when another process has it, and
	// ErrUnavailable when this one has it and that cannot be recorded now.
	Renew(ctx context.Context) error

	// Claim makes the caller the only executor of this process that appends, until
	// release is called. The error is ErrClaimed when there is another one.
	Claim(ctx context.Context) (release func(), err error)
}

// A Fencer is what an Owner is too, when it can keep a successor out while an
// effect of this owner is under way.
type Fencer interface {
	// Fence calls effect, once, while this ownership stands: the stored epoch is that
	// of Epoch, and a successor can store the next one only when effect has returned.
	// With an error effect was not called; it is ErrLost when there is a successor.
	// Effects may run at the same time.
	Fence(ctx context.Context, effect func()) error
}

// A Write sets the value of a key in the state that a store keeps with its journal. A
// nil Value deletes the key.
type Write struct {
	Key   string
	Value []byte
}

// A Keeper is what a Journal is too, when it keeps keys, apart from its entries.
type Keeper interface {
	// Key returns the key of a name, 32 random bytes, which is made when it is asked
	// for the first time and is the same ever after.
	Key(ctx context.Context, name string) ([]byte, error)
}
