package workspace

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"go/version"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"sync"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/content"
	"github.com/ambit-tools/ambit/runtime/internal/disk"
)

// A Key names the call that a transaction belongs to.
type Key = runtime.CallKey

var _ runtime.Participant = (*Workspace)(nil)

// A Workspace is a directory whose files tools read and write: a participant of
// the transactions of calls, to be given to the executor. Its methods are
// safe for concurrent use. The one that was opened last owns the directory: a
// former one, of this process or another, writes nothing any more (ErrTakenOver).
type Workspace struct {
	root      disk.Dir
	logs      disk.Dir
	store     *content.Store
	maxFile   int64
	protected protection
	owner     *owner // nil: on a simulated disk
	commit    func(ctx context.Context, effect func() error) error

	// placing is held from seeing that a file is still as it was to its change.
	placing sync.Mutex

	mu     sync.Mutex
	live   map[Key]*Tx
	owners map[string]*Tx // of paths that a call has written which has not ended
	broken error
	place  string // empty: on a simulated disk
}

// Open opens the workspace in a directory, which has to exist. The store keeps
// what is needed to restore files; neither it nor the undo logs may be within
// the directory, where a tool could write them.
//
// Open takes the directory over from the Workspace that had it open. It waits, for at most five
// seconds, for a write that has begun there, and fails when that does not end.
//
// Calls that a crash has interrupted are told by Unsettled and are to be settled
// before the first call of a tool.
func Open(dir string, store *content.Store, opts ...Option) (*Workspace, error) {
	o := options{maxFile: defaultMaxFile, logs: filepath.Join(filepath.Dir(store.Path()), "undo")}
	for _, opt := range opts {
		opt(&o)
	}
	protected, err := o.protection()
	if err != nil {
		return nil, fmt.Errorf("cannot open the workspace %q: %w", dir, err)
	}
	path, err := real(dir)
	if err == nil {
		err = soundRoot(goruntime.Version())
	}
	if err != nil {
		return nil, fmt.Errorf("cannot open the workspace %q: %w", dir, err)
	}
	sum := sha256.Sum256([]byte(path))
	logs := filepath.Join(o.logs, hex.EncodeToString(sum[:8]))
	if err := disk.MakeDir(logs); err != nil {
		return nil, fmt.Errorf("cannot make the directory of the undo logs %q: %w", logs, err)
	}
	for _, kept := range []string{store.Path(), logs} {
		if err := outside(path, kept); err != nil {
			return nil, err
		}
	}
	return open(path, logs, store, o.maxFile, protected)
}

// soundRoot fails for versions of Go whose os.Root can be left.
func soundRoot(built string) error {
	const sound = "go1.26.5"
	if version.IsValid(built) && version.Compare(built, sound) < 0 {
		return fmt.Errorf("the program was built with %s, whose os.Root has holes: build it with %s or later", built, sound)
	}
	return nil
}

func open(path, logs string, store *content.Store, maxFile int64, protected protection) (*Workspace, error) {
	logDir, err := disk.Open(logs)
	if err != nil {
		return nil, fmt.Errorf("cannot open the directory of the undo logs %q: %w", logs, err)
	}
	root, err := disk.Open(path)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cannot open the workspace %q: %w", path, err), logDir.Close())
	}
	w := OnDisk(root, logDir, store)
	w.maxFile, w.protected = maxFile, protected
	if w.owner, err = own(logs); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot take over the workspace %q: %w", path, err), w.Close())
	}
	if w.place, err = placeOf(logDir); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot tell which directory of undo logs %q is: %w", logs, err), w.Close())
	}
	return w, nil
}

// placeFile is a file among the undo logs that tells them from those of any other workspace, and from other logs of this one.
const placeFile = "place"

// placeOf returns what the file in a directory of undo logs says. The owner of the workspace makes the file.
func placeOf(logs disk.Dir) (string, error) {
	f, err := logs.Open(placeFile, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		if f, err = disk.Create(logs, placeFile+".new", []byte(rand.Text()+"\n"), 0o600); err != nil {
			return "", err
		}
		if err = errors.Join(f.Sync(), f.Close()); err == nil {
			err = logs.Rename(placeFile+".new", placeFile)
		}
		if err == nil {
			err = logs.Sync(".")
		}
		if err != nil {
			return "", err
		}
		f, err = logs.Open(placeFile, os.O_RDONLY, 0)
	}
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(f, 100))
	if err = errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	place := strings.TrimSpace(string(text))
	if len(place) < 26 { // as rand.Text makes it
		return "", fmt.Errorf("%q holds %q: it was changed", placeFile, place)
	}
	return place, nil
}

// Place tells the undo logs of this workspace from any others (runtime.Placed). It does not change while they are kept.
func (w *Workspace) Place() string { return w.place }

// OnDisk returns the workspace in a directory of any disk. It is for tests of this
// module; a program uses Open.
func OnDisk(root, logs disk.Dir, store *content.Store) *Workspace {
	w := &Workspace{
		root: root, logs: logs, store: store, maxFile: defaultMaxFile,
		live: map[Key]*Tx{}, owners: map[string]*Tx{},
	}
	w.commit = w.fenced
	w.protected, _ = new(options).protection() // that of the default has no error
	return w
}

// real returns an absolute path without links.
func real(dir string) (string, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// outside fails for a directory that is within a workspace.
func outside(workspace, dir string) error {
	if dir == "" {
		return nil // not on this machine's disk
	}
	path, err := real(dir)
	if err != nil {
		return fmt.Errorf("cannot find %q: %w", dir, err)
	}
	if rel, err := filepath.Rel(workspace, path); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return fmt.Errorf("%q is within the workspace %q, where tools could write it: keep it outside", dir, workspace)
	}
	return nil
}

// Close closes the directories. The transactions should have ended.
func (w *Workspace) Close() error {
	err := errors.Join(w.root.Close(), w.logs.Close())
	if w.owner != nil {
		err = errors.Join(err, w.owner.lock.Close())
	}
	return err
}

// sync makes files or directories durable. Once that fails nothing is written
// any more: what was lost is only known after a restart.
func (w *Workspace) sync(list ...disk.Syncer) error {
	err := disk.All(list...)
	if err != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.broken == nil {
			w.broken = fmt.Errorf("%w: %w", ErrBroken, err)
		}
		return w.broken
	}
	return nil
}

// usable fails once a sync has failed.
func (w *Workspace) usable() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.broken
}
