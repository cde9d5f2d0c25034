package audit

import (
	"context"
	"errors"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// Stored is what a package calls a Checkpoint that does not import this one, as
// runtime/store/sqlite does.
type Stored interface {
	~struct {
		Size uint64
		Note []byte
	}
}

// A Lister lists checkpoints.
type Lister[C Stored] interface {
	Checkpoints(ctx context.Context) ([]C, error)
}

// A Store stores checkpoints, as Checkpoints does.
type Store[C Stored] interface {
	Lister[C]
	SaveCheckpoint(ctx context.Context, size uint64, note []byte) error
	RecentCheckpoints(ctx context.Context, size uint64, most int) ([]C, error)
}

// A Reader reads a journal. A journal.Journal is one.
//
// Where the journal is damaged it may skip an entry, or return the entries before
// the damage and an error that is a Damage.
type Reader interface {
	Read(ctx context.Context, after uint64, limit int) ([]journal.Entry, error)
}

// A Damage is an error that says that an entry is missing or cannot be read, and
// that trying again would not help. Verify makes a Fault of it.
type Damage interface {
	error
	// DamagedAt returns the position of the entry; 0: it is not known.
	DamagedAt() uint64
}

// A forgery is an error that says that an entry was not written by an owner of the
// journal, as the *ForgedError of runtime/store/sqlite does.
type forgery interface {
	error
	ForgedAt() uint64
}

// A forged entry is damage: what follows it is not looked at.
type forged struct{ forgery }

// DamagedAt returns the position of the entry.
func (f forged) DamagedAt() uint64 { return f.ForgedAt() }

// Unwrap returns what says so.
func (f forged) Unwrap() error { return f.forgery }

// damageOf finds damage in an error, if it is about that.
func damageOf(err error) (Damage, bool) {
	var f forgery
	if errors.As(err, &f) {
		return forged{f}, true
	}
	var d Damage
	return d, errors.As(err, &d)
}

// NewCheckpoints returns a store of checkpoints as Checkpoints.
func NewCheckpoints[C Stored](s Store[C]) Checkpoints { return checkpoints[C]{lister[C]{s}, s} }

// NewSource returns a journal and the store of its checkpoints as a Source.
func NewSource[C Stored](r Reader, c Lister[C]) Source { return source{r, lister[C]{c}} }

// A lister returns the checkpoints of another one as those of this package.
type lister[C Stored] struct{ from Lister[C] }

// Checkpoints returns what the other one does.
func (l lister[C]) Checkpoints(ctx context.Context) ([]Checkpoint, error) {
	from, err := l.from.Checkpoints(ctx)
	return adopt(from), err
}

// adopt returns checkpoints of another package as those of this one.
func adopt[C Stored](from []C) []Checkpoint {
	list := make([]Checkpoint, len(from))
	for i, c := range from {
		list[i] = Checkpoint(c)
	}
	return list
}

type checkpoints[C Stored] struct {
	lister[C]
	to Store[C]
}

// SaveCheckpoint stores a checkpoint in the other one.
func (c checkpoints[C]) SaveCheckpoint(ctx context.Context, size uint64, note []byte) error {
	return c.to.SaveCheckpoint(ctx, size, note)
}

// RecentCheckpoints returns the last ones of the other one.
func (c checkpoints[C]) RecentCheckpoints(ctx context.Context, size uint64, most int) ([]Checkpoint, error) {
	from, err := c.to.RecentCheckpoints(ctx, size, most)
	return adopt(from), err
}

type source struct {
	Reader
	checkpoints interface {
		Checkpoints(ctx context.Context) ([]Checkpoint, error)
	}
}

// Checkpoints returns those of the journal.
func (s source) Checkpoints(ctx context.Context) ([]Checkpoint, error) {
	return s.checkpoints.Checkpoints(ctx)
}
