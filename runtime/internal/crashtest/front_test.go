package crashtest

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/audit"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// A front is a store that is read once in a life, and not three times: by the
// audit log, by the recovery and by the verification. What is written goes to the
// store, as long as the machine has power.
type front struct {
	*sqlite.Store
	m *machine

	mu      sync.Mutex
	entries []journal.Entry // all, also those that were archived
	low     uint64          // of these: the last one
	list    []journal.SignedCheckpoint
}

var errDead = errors.New("the machine is dead")

// load takes all entries, and reads the checkpoints of the store.
func (f *front) load(ctx context.Context, all []journal.Entry) (err error) {
	f.entries = all
	if f.low, err = f.Store.Archived(ctx); err == nil {
		f.list, err = f.Store.Checkpoints(ctx)
	}
	return err
}

// Append implements journal.Journal.
func (f *front) Append(ctx context.Context, entries []journal.Entry) error {
	if f.m.dead() {
		return errDead
	}
	err := f.Store.Append(ctx, entries)
	if err == nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.entries = append(f.entries, entries...)
	}
	return err
}

// Read implements journal.Journal.
func (f *front) Read(ctx context.Context, after uint64, limit int) ([]journal.Entry, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if after < f.low {
		return f.Store.Read(ctx, after, limit) // which says where they are
	}
	rest := f.entries[min(after, uint64(len(f.entries))):]
	return slices.Clip(rest[:min(limit, len(rest))]), nil
}

// SaveCheckpoint implements audit.Store.
func (f *front) SaveCheckpoint(ctx context.Context, size uint64, note []byte) error {
	if f.m.dead() {
		return errDead
	}
	err := f.Store.SaveCheckpoint(ctx, size, note)
	if err == nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.list = append(f.list, journal.SignedCheckpoint{Size: size, Note: note})
	}
	return err
}

// Checkpoints implements audit.Store.
func (f *front) Checkpoints(context.Context) ([]journal.SignedCheckpoint, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.list), nil
}

// RecentCheckpoints implements audit.Store.
func (f *front) RecentCheckpoints(_ context.Context, size uint64, most int) (list []journal.SignedCheckpoint, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range slices.Backward(f.list) {
		if c.Size <= size && len(list) < most {
			list = append(list, c)
		}
	}
	return list, nil
}

// A shop is where a world's journal is: a store, or a front of one.
type shop interface {
	journal.Journal
	audit.Store[journal.SignedCheckpoint]
}
