package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/mod/sumdb/note"

	"github.com/ambit-tools/ambit/runtime/internal/oslock"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// A Target says who restores a store, and what signs its audit log.
type Target struct {
	sqlite.Restoration             // By and Reason are recorded
	Signer             note.Signer // of the audit log; required when the store has one
	Anchors            []string    // files of anchored notes, besides Store.anchor

	// Step is told what Restore begins to do. nil: not told.
	Step func(what string)
}

var (
	// ErrStore says that there is a store, or a part of one, where a backup is to be restored.
	ErrStore = errors.New("there is a store already: move it away, with all files whose names begin like its own, but for the keys and the anchor")
	// ErrSigner says that the store has an audit log, which cannot be signed without its key.
	ErrSigner = errors.New("the store has an audit log, and the signer is missing")
)

// Restore puts the store of a backup at a path, with its keys and contents, and records in its
// journal and its audit log that it was restored, and why. The store has its name when all of that would outlive a
// crash: before, there is none, and Restore can be called again.
//
// What is not part of the store stays: a keys file of the same store, which may know of more
// entries than the backup has, and anchored notes. The record then says how many entries are
// given up.
//
// The error is [sqlite.ErrOwned] when a process has the store open, [ErrStore] when there is one,
// [ErrDamaged] when the file is not a whole backup, [sqlite.ErrKeys] when the keys file at the path is another
// store's, [ErrSigner] when there is an audit log and no signer, and [audit.ErrTampered] when the
// store is not the one that was signed.
func Restore(ctx context.Context, file, store string, t Target) (*journal.Restored, error) {
	record, err := restore(ctx, file, store, t)
	if err != nil {
		return nil, fmt.Errorf("restore %q: %w", store, err)
	}
	return record, nil
}

func restore(ctx context.Context, file, store string, t Target) (record *journal.Restored, err error) {
	in, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	if store, err = filepath.Abs(store); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(store), 0o700); err != nil {
		return nil, err
	}
	release, err := sqlite.Reserve(store)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	if err := vacant(store); err != nil {
		return nil, err
	}
	staging := store + ".restoring"
	if err := os.RemoveAll(staging); err != nil {
		return nil, err
	}
	if err := os.Mkdir(staging, 0o700); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(staging)) }()
	if t.Step == nil {
		t.Step = func(string) {}
	}
	staged := filepath.Join(staging, filepath.Base(store))
	t.Step("unpacking")
	m, err := unpack(in, staged)
	if err != nil {
		return nil, err
	}
	t.Step("verifying and signing the store")
	if record, err = t.record(ctx, m, staged, store); err != nil {
		return nil, err
	}
	return record, publish(staged, store)
}

// vacant refuses a path at which there is a store, or what SQLite keeps beside one: a log of another
// store would become part of this one.
func vacant(store string) error {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if _, err := os.Lstat(store + suffix); !errors.Is(err, fs.ErrNotExist) {
			return errors.Join(fmt.Errorf("%w: %q", ErrStore, store+suffix), err)
		}
	}
	return nil
}

// record records the restoration in the staged store.
func (t Target) record(ctx context.Context, m *Manifest, staged, store string) (*journal.Restored, error) {
	if _, err := os.Lstat(store + ".keys"); err == nil {
		// The keys that are there may know of more entries, and of more names.
		if err := sqlite.SameKeys(store+".keys", staged+".keys"); err != nil {
			return nil, err
		}
		if err := os.Remove(staged + ".keys"); err != nil {
			return nil, err
		}
		if _, err := copyIfThere(store+".keys", staged+".keys"); err != nil {
			return nil, err
		}
	}
	if err := t.signable(ctx, staged); err != nil {
		return nil, err
	}
	anchors := t.Anchors
	if anchor := store + ".anchor"; isFile(anchor) {
		anchors = append([]string{anchor}, anchors...)
	} else if isFile(staged + ".anchor") {
		anchors = append([]string{staged + ".anchor"}, anchors...)
	}
	record, err := Record(ctx, staged, sqlite.Restore, t.Restoration, t.Signer, anchors)
	if err != nil {
		return nil, err
	}
	if record.Kept != m.Entries {
		return nil, fmt.Errorf("%w: the store has %d entries, and the manifest %d", ErrDamaged, record.Kept, m.Entries)
	}
	return record, nil
}

// signable refuses a store with an audit log when there is no signer.
func (t Target) signable(ctx context.Context, staged string) error {
	if t.Signer != nil {
		return nil
	}
	r, err := sqlite.OpenReader(staged, sqlite.WithKeys(staged+".keys"))
	if err != nil {
		return err
	}
	list, err := r.Checkpoints(ctx)
	if err == nil && len(list) > 0 {
		err = ErrSigner
	}
	return errors.Join(err, r.Close())
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// publish gives the staged files their names, the store last.
func publish(staged, store string) error {
	if err := vacant(store); err != nil {
		return err
	}
	if err := publishObjects(staged+".objects", store+".objects"); err != nil {
		return err
	}
	for _, suffix := range []string{".anchor", ".audit.pub"} {
		if isFile(staged+suffix) && !isFile(store+suffix) {
			if err := os.Rename(staged+suffix, store+suffix); err != nil {
				return err
			}
		}
	}
	if err := os.Rename(staged+".keys", store+".keys"); err != nil {
		return err
	}
	if err := oslock.SyncDir(filepath.Dir(store)); err != nil {
		return err
	}
	if err := os.Rename(staged, store); err != nil {
		return err
	}
	return oslock.SyncDir(filepath.Dir(store))
}

// publishObjects adds contents to those that are there. Contents of one name are equal, so that one
// that is there can be replaced.
func publishObjects(from, to string) error {
	shards, err := os.ReadDir(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = os.MkdirAll(to, 0o700)
	}
	if err != nil {
		return err
	}
	for _, shard := range shards {
		source, target := filepath.Join(from, shard.Name()), filepath.Join(to, shard.Name())
		if err := os.MkdirAll(target, 0o700); err != nil {
			return err
		}
		list, err := os.ReadDir(source)
		if err != nil {
			return err
		}
		for _, e := range list {
			if err := os.Rename(filepath.Join(source, e.Name()), filepath.Join(target, e.Name())); err != nil {
				return err
			}
		}
		if err := oslock.SyncDir(target); err != nil {
			return err
		}
	}
	return oslock.SyncDir(to)
}
