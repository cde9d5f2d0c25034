package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"sync"

	"github.com/ambit-tools/ambit/runtime"
)

// A stage says how far a transaction has come.
type stage uint8

const (
	stageOpen stage = iota
	stageSealed
	stageCommitted
	stageRollingBack // or a rollback has failed
	stageRolledBack
)

// A Tx is what one call does to the files of a workspace: all of it or nothing.
// Its methods are safe for concurrent use.
type Tx struct {
	ws  *Workspace
	key Key

	mu     sync.Mutex
	stage  stage
	log    *undoLog // nil until something is written
	items  []*item  // in the order in which they were first written
	byPath map[string]*item
	temps  []string // paths of files that wait for being renamed
	number int      // of temporary files
	dirs   map[string]bool
	failed error // why nothing can be written any more
	result error // of Rollback
}

// An item is a path that a call has written, or was about to.
type item struct {
	path   string
	before State
	after  []State // all that it has been made, the last one is what stands
	seen   *seen   // what was there a moment ago; nil: the path was not looked at
}

// known says whether s is what the call found or has made.
func (i *item) known(s State) bool { return s == i.before || slices.Contains(i.after, s) }

// Begin begins the transaction of a call, for the executor.
func (w *Workspace) Begin(ctx context.Context, key Key) (runtime.Part, error) {
	tx, err := w.BeginTx(ctx, key)
	if err != nil {
		return nil, err
	}
	return tx, nil
}

// BeginTx begins the transaction of a call. Nothing is written until the call
// writes. The error is ErrUnsettled when an earlier transaction of the call has
// not ended.
func (w *Workspace) BeginTx(ctx context.Context, key Key) (*Tx, error) {
	if err := errors.Join(ctx.Err(), w.usable()); err != nil {
		return nil, err
	}
	if err := w.owner.hold(func() error { return w.forgetDrift(key) }); err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := w.logs.Lstat(logName(key) + logSuffix)
	if err == nil || w.live[key] != nil {
		return nil, fmt.Errorf("call %q: %w", key.Call, ErrUnsettled)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("call %q: cannot look for its undo log: %w", key.Call, err)
	}
	tx := &Tx{ws: w, key: key, byPath: map[string]*item{}, dirs: map[string]bool{}}
	w.live[key] = tx
	return tx, nil
}

// Seal ends the writing: everything that the call wrote is on the disk when it
// returns. The digest is of what will stand, of the paths, modes and contents;
// it is nil when nothing was written. It may be called again.
func (tx *Tx) Seal(ctx context.Context) ([]byte, error) {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	switch {
	case tx.stage == stageSealed:
		return tx.digest()
	case tx.stage != stageOpen:
		return nil, fmt.Errorf("call %q: %w", tx.key.Call, ErrEnded)
	}
	if err := errors.Join(ctx.Err(), tx.failed, tx.ws.usable()); err != nil {
		return nil, err
	}
	if tx.log == nil {
		tx.stage = stageSealed
		return nil, nil
	}
	dirs, open, err := tx.ws.syncPaths(slices.Sorted(maps.Keys(tx.dirs)))
	defer closeAll(open)
	if err == nil {
		err = tx.ws.sync(dirs...)
	}
	if err == nil {
		err = tx.log.write(&record{Sealed: true})
	}
	if err == nil {
		err = tx.log.sync()
	}
	if err != nil {
		tx.failed = fmt.Errorf("call %q: what it wrote is not durable: %w", tx.key.Call, err)
		return nil, tx.failed
	}
	tx.stage = stageSealed
	return tx.digest()
}

// digest returns the hash of what will stand. tx.mu is held.
func (tx *Tx) digest() ([]byte, error) {
	if len(tx.items) == 0 {
		return nil, nil
	}
	sum := sha256.New()
	enc := json.NewEncoder(sum)
	for _, f := range tx.wrote() {
		if err := enc.Encode(f); err != nil {
			return nil, fmt.Errorf("call %q: %w", tx.key.Call, err)
		}
	}
	return sum.Sum(nil), nil
}

// Wrote returns what the call has made of each path that it wrote, in the order
// of the paths.
func (tx *Tx) Wrote() Snapshot {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	return tx.wrote()
}

func (tx *Tx) wrote() Snapshot {
	list := make(Snapshot, len(tx.items))
	for i, it := range tx.items {
		list[i] = FileState{Path: it.path, State: it.after[len(it.after)-1]}
	}
	slices.SortFunc(list, byPath)
	return list
}

// Commit lets stand what was written and forgets how to roll it back. It follows
// Seal, and may be called again. What an undo needs is kept by the content store.
func (tx *Tx) Commit(context.Context) error {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	switch tx.stage {
	case stageCommitted:
		return nil
	case stageSealed:
	case stageOpen:
		return fmt.Errorf("call %q: it is to be sealed before it is committed", tx.key.Call)
	default:
		return fmt.Errorf("call %q: it was rolled back: %w", tx.key.Call, ErrEnded)
	}
	if err := tx.dropLog(); err != nil {
		return err
	}
	tx.end(stageCommitted)
	return nil
}

// dropLog removes the log, if there is one. tx.mu is held.
func (tx *Tx) dropLog() error {
	if tx.log == nil {
		return nil
	}
	_ = tx.log.file.Close() // its records were synced
	return tx.ws.dropLog(tx.log.name)
}

// end releases the paths, so that other calls can write them. tx.mu is held.
func (tx *Tx) end(s stage) {
	tx.stage = s
	w := tx.ws
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.live, tx.key)
	for _, it := range tx.items {
		if w.owners[it.path] == tx {
			delete(w.owners, it.path)
		}
	}
}

// Rollback restores what was there before the call, byte by byte, with modes and
// directories. Files that another writer has changed since are left alone and
// named by a DriftError. After any other error it is to be called again; it may
// be called again in any case.
func (tx *Tx) Rollback(ctx context.Context) error {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	switch tx.stage {
	case stageRolledBack:
		return tx.result
	case stageCommitted:
		return fmt.Errorf("call %q: it was committed: %w", tx.key.Call, ErrEnded)
	}
	tx.stage = stageRollingBack
	if tx.log == nil && tx.failed != nil { // it could not be begun, and may have left something
		if err := tx.ws.dropLog(logName(tx.key) + logSuffix); err != nil {
			return fmt.Errorf("call %q: not rolled back: %w", tx.key.Call, err)
		}
	}
	if tx.log != nil {
		_ = tx.log.file.Close() // nothing is written any more
		var drift *DriftError
		err := tx.ws.owner.hold(func() error { return tx.ws.rollBack(ctx, tx.key, tx.items, tx.temps) })
		if err != nil && !errors.As(err, &drift) {
			return fmt.Errorf("call %q: not rolled back: %w", tx.key.Call, err)
		}
		tx.result = err
	}
	tx.end(stageRolledBack)
	return tx.result
}

// writable fails when the call may not write any more. tx.mu is held.
func (tx *Tx) writable() error {
	if tx.stage != stageOpen {
		return fmt.Errorf("call %q: %w: %w", tx.key.Call, ErrEnded, runtime.ErrFenced)
	}
	return errors.Join(tx.failed, tx.ws.usable())
}

// claim keeps other calls from writing a path until this one has ended.
func (tx *Tx) claim(name string) error {
	w := tx.ws
	w.mu.Lock()
	defer w.mu.Unlock()
	if owner := w.owners[name]; owner != nil && owner != tx {
		return fmt.Errorf("path %q: call %q: %w", name, owner.key.Call, ErrBusy)
	}
	w.owners[name] = tx
	return nil
}

// disclaim releases a path that was not written after all.
func (tx *Tx) disclaim(name string) {
	w := tx.ws
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.owners[name] == tx {
		delete(w.owners, name)
	}
}

// temp returns the next name for a file that waits for being renamed.
func (tx *Tx) temp() string {
	tx.number++
	return fmt.Sprintf("%s%s-%d", tempPrefix, logName(tx.key)[:16], tx.number)
}

// note writes down what is about to be done at a target, durably. Once that has
// failed nothing can be written any more: it is not known what the log says.
func (tx *Tx) note(p *target, before, after State, temp string) (err error) {
	defer func() {
		if err != nil {
			tx.failed = err
		}
	}()
	if tx.log == nil {
		err := tx.ws.owner.hold(func() (err error) {
			tx.log, err = tx.ws.newLog(tx.key)
			return err
		})
		if err != nil {
			return err
		}
	}
	if err := tx.log.write(&record{Path: p.path, Before: before, After: after, Temp: temp}); err != nil {
		return err
	}
	it := tx.byPath[p.path]
	if it == nil {
		it = &item{path: p.path, before: before}
		tx.items, tx.byPath[p.path] = append(tx.items, it), it
	}
	it.after = append(it.after, after)
	if temp != "" {
		tx.temps = append(tx.temps, path.Join(path.Dir(p.path), temp))
	}
	tx.dirs[path.Dir(p.path)] = true
	if after.Kind == KindDir {
		tx.dirs[p.path] = true
	}
	return tx.log.sync()
}
