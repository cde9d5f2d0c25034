package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/content"
	"github.com/ambit-tools/ambit/runtime/internal/disk"
)

// A change is what a call wants to be at a target where something was seen.
type change struct {
	State
	data []byte // of a file
	keep bool   // it is as it should be
}

// WriteFile makes data the content of a file. A file that exists keeps its mode,
// a new one gets exactly perm, which has to let its owner read. The file is replaced
// as a whole: no reader sees a part.
//
// ctx is that of a call. The error is runtime.ErrFenced when the call has its outcome
// already, runtime.ErrReadOnly when its tool is of effect read, and ErrBusy when
// another call has written the file and has not ended.
func (w *Workspace) WriteFile(ctx context.Context, name string, data []byte, perm fs.FileMode) error {
	if err := checkMode(name, perm, 0o400); err != nil {
		return err
	}
	return w.change(ctx, name, func(now seen) (change, error) {
		if now.Kind == KindFile {
			perm = now.Mode
		}
		if now.Kind == KindDir {
			return change{}, errors.New("it is a directory")
		}
		want := fileState(content.RefOf(data), perm)
		return change{State: want, data: data, keep: want == now.State}, nil
	})
}

// Remove removes a file or an empty directory.
func (w *Workspace) Remove(ctx context.Context, name string) error {
	return w.change(ctx, name, func(now seen) (change, error) {
		if now.Kind == KindAbsent {
			return change{}, fs.ErrNotExist
		}
		return change{}, nil
	})
}

// Mkdir makes a directory, with exactly perm, which has to let its owner do all.
func (w *Workspace) Mkdir(ctx context.Context, name string, perm fs.FileMode) error {
	if err := checkMode(name, perm, 0o700); err != nil {
		return err
	}
	return w.change(ctx, name, func(now seen) (change, error) {
		if now.Kind != KindAbsent {
			return change{}, fs.ErrExist
		}
		return change{State: State{Kind: KindDir, Mode: perm}}, nil
	})
}

// MkdirAll makes a directory and those above it that do not exist.
func (w *Workspace) MkdirAll(ctx context.Context, name string, perm fs.FileMode) error {
	if err := w.checkWrite(name); err != nil {
		return err
	}
	for i := 0; i <= len(name); i++ {
		if i < len(name) && name[i] != '/' {
			continue
		}
		info, err := w.root.Lstat(name[:i])
		switch {
		case err == nil && info.IsDir():
			continue
		case err == nil:
			return fmt.Errorf("path %q: %q is no directory: %w", name, name[:i], fs.ErrExist)
		case !errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("path %q: %w", name, err)
		}
		if err := w.Mkdir(ctx, name[:i], perm); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// Rename gives a file another name, in the place of what had it. It is a copy
// and a removal: between them both can be seen. A directory is not renamed.
func (w *Workspace) Rename(ctx context.Context, from, to string) error {
	if err := errors.Join(w.checkWrite(from), w.checkWrite(to)); err != nil {
		return err
	}
	p, err := w.target(from)
	if err != nil {
		return err
	}
	now, err := p.look(w.maxFile)
	p.close()
	switch {
	case err != nil:
		return err
	case now.Kind == KindAbsent:
		return fmt.Errorf("path %q: %w", from, fs.ErrNotExist)
	case now.Kind == KindDir:
		return fmt.Errorf("path %q: a directory cannot be renamed: make the other one and rename what is in it: %w", from, fs.ErrInvalid)
	case now.Kind != KindFile:
		return fmt.Errorf("path %q: %w", from, ErrSpecial)
	case from == to:
		return nil
	}
	err = w.change(ctx, to, func(there seen) (change, error) {
		if there.Kind == KindDir {
			return change{}, errors.New("it is a directory")
		}
		return change{State: now.State, data: now.blob.Data(), keep: there.State == now.State}, nil
	})
	if err != nil {
		return err
	}
	return w.change(ctx, from, func(still seen) (change, error) {
		if still.State != now.State {
			return change{}, errChanged
		}
		return change{}, nil
	})
}

// errChanged says that another writer has changed the path first.
var errChanged = errors.New("somebody changed it at the same time: look at it again")

// change makes of a path what decide says, in the transaction of the call. The
// pre-image and the intent are durable, and the new content is, before the fence
// is entered; within it there is a look and a rename.
func (w *Workspace) change(ctx context.Context, name string, decide func(now seen) (change, error)) error {
	if err := w.checkWrite(name); err != nil {
		return err
	}
	tx, err := w.txOf(ctx)
	if err == nil { // a fenced call need not begin; what counts is the fence around the rename
		err = w.commit(ctx, nothing)
	}
	if err = errors.Join(err, ctx.Err()); err != nil {
		return fmt.Errorf("path %q: %w", name, err)
	}
	tx.mu.Lock()
	defer tx.mu.Unlock()
	if err := tx.writable(); err != nil {
		return fmt.Errorf("path %q: %w", name, err)
	}
	p, err := w.target(name)
	if err != nil {
		return err
	}
	defer p.close()
	if err := tx.claim(name); err != nil {
		return err
	}
	err = tx.apply(ctx, p, decide)
	if tx.byPath[name] == nil { // it was not written
		tx.disclaim(name)
	}
	return err
}

// nothing is an effect that has none.
func nothing() error { return nil }

// apply looks at a target and makes of it what decide says. tx.mu is held.
func (tx *Tx) apply(ctx context.Context, p *target, decide func(now seen) (change, error)) error {
	w := tx.ws
	now, err := p.look(w.maxFile)
	if err != nil {
		return err
	}
	if err := tx.mayChange(p, now); err != nil {
		return fmt.Errorf("path %q: %w", p.path, err)
	}
	want, err := decide(now)
	if err != nil {
		return fmt.Errorf("path %q: %w", p.path, err)
	}
	if want.Size > w.maxFile {
		return fmt.Errorf("path %q: %w", p.path, ErrTooLarge)
	}
	if want.keep {
		return w.commit(ctx, nothing)
	}
	if now.Kind == KindFile && tx.byPath[p.path] == nil {
		if err := w.store.PutBlobs(ctx, now.blob); err != nil {
			return fmt.Errorf("path %q: its pre-image: %w", p.path, err)
		}
	}
	temp := ""
	if want.Kind != KindAbsent {
		temp = tx.temp()
	}
	if err := tx.note(p, now.State, want.State, temp); err != nil {
		return fmt.Errorf("path %q: %w", p.path, err)
	}
	return tx.replace(ctx, p, now, want, temp)
}

// mayChange refuses what cannot be restored. tx.mu is held.
func (tx *Tx) mayChange(p *target, now seen) error {
	it := tx.byPath[p.path]
	switch {
	case now.Kind == kindSpecial:
		return ErrSpecial
	case now.Kind == KindFile && now.Mode&^fs.ModePerm != 0:
		return fmt.Errorf("its mode is %v: a file with more than permission bits is not written: %w", now.Mode, fs.ErrPermission)
	case it != nil && !it.known(now.State):
		return fmt.Errorf("%w has written it: %w", errOther, runtime.ErrDrift)
	}
	return nil
}

var errOther = errors.New("somebody else")

// replace puts what is wanted at a target, under the fence of the call.
func (tx *Tx) replace(ctx context.Context, p *target, now seen, want change, temp string) error {
	w := tx.ws
	if temp != "" {
		if err := prepare(p.dir, temp, want, tx.ws.sync); err != nil {
			return errors.Join(fmt.Errorf("path %q: %w", p.path, err), drop(p.dir, temp))
		}
	}
	err := w.commit(ctx, func() error { return w.put(p, now, temp) })
	if err != nil {
		return errors.Join(fmt.Errorf("path %q: %w", p.path, err), drop(p.dir, temp))
	}
	if want.Kind == KindDir {
		return w.settled(p.dir)
	}
	return nil
}

// settled makes the names in a directory durable where something is about to be
// made below one of them: after a crash it would be below the temporary name.
func (w *Workspace) settled(dir disk.Dir) error {
	return w.sync(disk.SyncDir{Dir: dir, Name: "."})
}

// put renames what is prepared to its place, or removes what is there, provided
// that it is still what was seen.
func (w *Workspace) put(p *target, now seen, temp string) error {
	w.placing.Lock()
	defer w.placing.Unlock()
	same, err := p.same(now)
	switch {
	case err != nil:
		return err
	case !same:
		return errChanged
	case temp == "":
		return p.dir.Remove(p.base)
	}
	return p.dir.Rename(temp, p.base)
}

// prepare makes a file or a directory under a temporary name, durably.
func prepare(dir disk.Dir, temp string, want change, sync func(...disk.Syncer) error) error {
	var f disk.File
	var err error
	if want.Kind == KindDir {
		f, err = makeDir(dir, temp, want.Mode)
	} else {
		f, err = disk.Create(dir, temp, want.data, want.Mode)
	}
	if err != nil {
		return err
	}
	return errors.Join(sync(f), f.Close())
}

// makeDir makes an empty directory with a mode, not durable yet.
func makeDir(dir disk.Dir, name string, mode fs.FileMode) (disk.File, error) {
	if err := dir.Mkdir(name, 0o700); err != nil {
		return nil, err
	}
	f, err := dir.Open(name, 0, 0)
	if err != nil {
		return nil, err
	}
	if err := f.Chmod(mode); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// drop removes what is left under a temporary name, if there is something.
func drop(dir disk.Dir, temp string) error {
	if temp == "" {
		return nil
	}
	if err := dir.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot remove %q: %w", temp, err)
	}
	return nil
}

// inDir returns other in the directory of name.
func inDir(name, other string) string {
	if !strings.Contains(name, "/") {
		return other
	}
	return path.Dir(name) + "/" + other
}
