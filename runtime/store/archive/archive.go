package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/ambit-tools/ambit/runtime/internal/disk"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/audit"
)

// A Store is a journal whose first entries may be in segments. A store of runtime/store/sqlite is one.
type Store interface {
	journal.Journal
	audit.Lister[journal.SignedCheckpoint]

	// ID returns the id that segments name the store by.
	ID(ctx context.Context) (string, error)
	// Head returns how many entries the journal has, with those that were archived.
	Head(ctx context.Context) (uint64, error)
	// Segments returns the segments that have entries which the store has not, in their order.
	Segments(ctx context.Context) ([]journal.Segment, error)
	// Archive records a segment, and removes its entries, in one transaction. An error says that neither was done.
	Archive(ctx context.Context, s journal.Segment) error
	// Doubt makes Archive fail until the store is opened again, for an error of the disk with the segments.
	Doubt(err error)
	// Sweep removes what a crash has left of an earlier Archive.
	Sweep(ctx context.Context) error
}

// A Config says what Write archives. Those up to To are required.
type Config struct {
	Store    Store
	Verifier note.Verifier // of the audit log of the store
	Notes    [][]byte      // that were anchored
	Before   time.Time     // entries of that time and later stay, and all from after Now
	To       string        // file to write; of a folder, which is there, a file in it that is named by its entries and its store

	// Snapshot writes a snapshot of a session that does without the entries up to a position and without the calls that
	// ended before Forget. The default, which appends to Store, is wrong while an executor uses the store.
	Snapshot func(ctx context.Context, session string, last uint64, forget time.Time) error
	// Forget is the time before which ended calls are forgotten, so that their ids may be used again. The default, none, is wrong
	// where sessions go on for ever: what they hold grows with every call.
	Forget time.Time
	// Window states how long calls matter to later ones. The default, nil, is wrong where the journal has not recorded it of its owner:
	// Write refuses then. A longer window that is recorded holds.
	Window *time.Duration
	// Now is when the archive is made. The default, [time.Now], is wrong for a simulated clock alone.
	Now time.Time
}

// Done is what Write has done.
type Done struct {
	First, Last uint64 // entries of the segment
	File        string // its name, from the root
	Bytes       int64  // of the file
	Held        string // why no later entries were taken; empty: a later time would not have been needed
}

// A Refusal says why nothing can be archived.
type Refusal struct {
	What   string
	Remedy string

	Unanchored bool // no anchored checkpoint proves an entry that is not archived
}

// Error says why.
func (e *Refusal) Error() string { return e.What }

// Hint says what to do.
func (e *Refusal) Hint() string { return e.Remedy }

// Write archives. An error that is a [*Refusal] says that there is nothing to archive, and why.
func Write(ctx context.Context, cfg *Config) (*Done, error) {
	if err := cfg.Store.Sweep(ctx); err != nil { // what a crash has left of the archive before
		return nil, err
	}
	a := &archiving{Config: cfg}
	folder, err := a.place(ctx)
	if err != nil {
		return nil, err
	}
	if folder != nil {
		defer folder.Close()
	}
	if a.Config.Snapshot == nil {
		own := *cfg
		own.Snapshot = a.snapshot
		a.Config = &own
	}
	if err := a.closed(ctx); err != nil {
		return nil, err
	}
	if err := a.choose(ctx); err != nil {
		return nil, err
	}
	if err := a.settle(ctx); err != nil {
		return nil, err
	}
	h := &a.header
	if a.folder {
		a.to = filepath.Join(a.to, fmt.Sprintf("%012d-%012d-%.8s.segment", h.First, h.Last, h.Store)) // stores may share a folder
	}
	info, err := a.write(ctx)
	if err != nil {
		return nil, err
	}
	err = cfg.Store.Archive(ctx, journal.Segment{First: h.First, Last: h.Last, File: a.to, Digest: info.Digest})
	if err != nil {
		return nil, err
	}
	return &Done{First: h.First, Last: h.Last, File: a.to, Bytes: info.Bytes, Held: a.held}, nil
}

// place finds the folder of the file. It returns what is to be closed.
func (a *archiving) place(ctx context.Context) (opened io.Closer, err error) {
	if a.to, err = filepath.Abs(a.To); err != nil {
		return nil, err
	}
	if a.dir, a.folder = disk.Of(ctx), true; a.dir != nil {
		return nil, nil
	}
	in := a.to
	if info, err := os.Stat(in); err != nil || !info.IsDir() {
		in, a.folder = filepath.Dir(in), false
	}
	if _, err := os.Stat(in); errors.Is(err, fs.ErrNotExist) {
		return nil, &Refusal{What: fmt.Sprintf("there is no folder %q for the segment %q", in, a.to), Remedy: fmt.Sprintf("make it first: mkdir -p %q", in)}
	}
	if a.dir, err = disk.Open(in); err != nil {
		return nil, fmt.Errorf("write the segment %q: %w", a.to, err)
	}
	return a.dir, nil
}

// An archiving is a Write that is under way.
type archiving struct {
	*Config
	dir    disk.Dir // with the file
	to     string
	folder bool // to is dir: the file is named by its entries
	header Header
	fit    []audit.Proof // checkpoints at which the segment may end
	held   string        // what holds back later ones

	common *history.Single // what belongs to no session

	batch []journal.Entry // snapshots that are appended together
	head  uint64          // the entry before them
}

// write writes the segment, or takes over one that was written before.
func (a *archiving) write(ctx context.Context) (Info, error) {
	info, err := WriteFileOn(ctx, a.dir, a.to, a.header, a.Store)
	if taken := err; errors.Is(err, fs.ErrExist) {
		if info, err = a.adopt(ctx); err != nil {
			err = errors.Join(taken, err)
		}
	}
	if errors.Is(err, ErrFolder) {
		a.Store.Doubt(err)
	}
	return info, err
}

// adopt proves a segment that is there, and makes its name durable, if it has the entries to archive. It returns what WriteFile would
// have.
func (a *archiving) adopt(ctx context.Context) (info Info, err error) {
	f, err := OpenOn(a.dir, a.to)
	if err != nil {
		return info, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	h := f.Header()
	if h.Store != a.header.Store || h.First != a.header.First || h.Last != a.header.Last || h.Root != a.header.Root {
		return info, fmt.Errorf("the segment %q has entries %d to %d of the store %s", a.to, h.First, h.Last, h.Store)
	}
	if err := errors.Join(f.Signed(a.Verifier), f.Prove(ctx)); err != nil {
		return info, err
	}
	size, err := a.dir.Lstat(filepath.Base(a.to))
	if err == nil {
		err = keep(a.dir) // a crash may have come between the name and its sync
	}
	if err != nil {
		return info, err
	}
	return Info{Bytes: size.Size(), Digest: f.Digest()}, nil
}

// last returns the checkpoint at which the segment ends: the largest one, or, where a crash has left a segment that begins
// there, the one of that.
func (a *archiving) last() *audit.Proof {
	names := []string{filepath.Base(a.to)}
	if a.folder {
		names, _ = a.dir.List() // without the names, Write refuses to replace a file
	}
	for _, name := range names {
		if a.folder && !strings.HasPrefix(name, fmt.Sprintf("%012d-", a.header.First)) {
			continue
		}
		f, err := OpenOn(a.dir, name)
		if err != nil {
			continue // it is not there, or Write refuses it by its name
		}
		h := f.Header()
		if f.Close() != nil || h.Store != a.header.Store || h.First != a.header.First {
			continue
		}
		for i := range a.fit {
			if p := &a.fit[i]; p.Size == h.Last && p.Root == h.Root {
				return p
			}
		}
	}
	return &a.fit[len(a.fit)-1]
}

// end makes the segment end with a checkpoint.
func (a *archiving) end(p *audit.Proof) {
	a.header.Last, a.header.Root, a.header.Note = p.Size, p.Root, string(p.Note)
}

// begin makes the segment begin after the last one.
func (a *archiving) begin(proofs []audit.Proof, segments []journal.Segment) error {
	a.header.First, a.header.Before = 1, []tlog.Hash{}
	if len(segments) == 0 {
		return nil
	}
	last := &segments[len(segments)-1]
	for i := range proofs {
		if p := &proofs[i]; p.Size == last.Last {
			digest := tlog.Hash(last.Digest)
			a.header.First, a.header.Before, a.header.Previous = last.Last+1, p.Peaks, &digest
			return nil
		}
	}
	return fmt.Errorf("no checkpoint proves the entries up to %d, which are archived: run \"ambit audit verify\"", last.Last)
}
