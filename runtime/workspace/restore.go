package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/content"
)

// Snapshot keeps what is at some paths, files with their contents, so that
// Restore can put it back. What it keeps is durable when it returns. It is what
// a prepare handler returns for its undo handler.
func (w *Workspace) Snapshot(ctx context.Context, paths ...string) (Snapshot, error) {
	list := make(Snapshot, len(paths))
	var contents []content.Blob
	for i, name := range paths {
		now, err := w.lookAt(ctx, name)
		if err != nil {
			return nil, err
		}
		list[i] = FileState{Path: name, State: now.State}
		if now.Kind == KindFile {
			contents = append(contents, now.blob)
		}
	}
	if err := w.store.PutBlobs(ctx, contents...); err != nil {
		return nil, err
	}
	return list, nil
}

// lookAt returns what is at a path that may be written.
func (w *Workspace) lookAt(ctx context.Context, name string) (seen, error) {
	if err := errors.Join(ctx.Err(), w.checkWrite(name)); err != nil {
		return seen{}, err
	}
	p, err := w.target(name)
	if nowhere(err) {
		return seen{}, nil
	}
	if err != nil {
		return seen{}, err
	}
	defer p.close()
	now, err := p.look(w.maxFile)
	if err == nil && (now.Kind == kindSpecial || now.Kind == KindFile && now.Mode&^fs.ModePerm != 0) {
		err = fmt.Errorf("path %q: %w, or has more than permission bits", name, ErrSpecial)
	}
	return now, err
}

// Restore puts back what a snapshot says, for an undo handler. after says what
// the call has left of the same paths. Restore refuses with a DriftError, and restores
// nothing, when a path is neither as it was before nor as the call left it, or when it
// would remove a directory with what another writer has put there.
//
// In an undo handler, and in a handler, the restoring is a write like any other, in its
// transaction. Without a call, as in a test, what is restored already stays when the
// process dies: Restore may be called again, and has to be then.
func (w *Workspace) Restore(ctx context.Context, before, after Snapshot) error {
	items, err := w.restorable(ctx, before, after)
	if err != nil {
		return err
	}
	if _, err := w.txOf(ctx); err == nil {
		return w.restoreInCall(ctx, items)
	} else if !errors.Is(err, runtime.ErrNoCall) {
		return err
	}
	release, err := w.claimAll(items)
	defer release()
	if err = errors.Join(err, w.usable()); err != nil {
		return err
	}
	return w.owner.hold(func() error { return w.restoreAll(ctx, items) })
}

// claimAll keeps calls from writing paths, and other undo handlers, until they
// are released.
func (w *Workspace) claimAll(items []*item) (release func(), err error) {
	holder := &Tx{ws: w, key: Key{Call: "undo"}}
	release = func() {
		for _, it := range items {
			holder.disclaim(it.path)
		}
	}
	for _, it := range items {
		if err := holder.claim(it.path); err != nil {
			return release, err
		}
	}
	return release, nil
}

// restoreAll restores outside of any call.
func (w *Workspace) restoreAll(ctx context.Context, items []*item) error {
	r := w.restorer()
	defer r.close()
	for _, it := range items {
		r.clear(inDir(it.path, undoTemp(it.path)))
	}
	for _, it := range items {
		if err := r.restore(ctx, it); err != nil {
			r.errs = append(r.errs, fmt.Errorf("path %q: %w", it.path, err))
			break
		}
	}
	if err := r.finish(); err != nil {
		return err
	}
	if len(r.drifted) > 0 { // since we have looked
		slices.Sort(r.drifted)
		return &DriftError{Paths: r.drifted}
	}
	return nil
}

// restorable returns what is to be restored, in the order in which it can be.
// With drift it fails.
func (w *Workspace) restorable(ctx context.Context, before, after Snapshot) ([]*item, error) {
	sorted := slices.SortedFunc(slices.Values(before), byPath)
	var items []*item
	var drifted []string
	for _, f := range sorted {
		it := &item{path: f.Path, before: f.State}
		if s, ok := after.of(f.Path); ok {
			it.after = []State{s}
			if s.Kind != f.Kind { // one has to go before the other comes: a crash may have been in between
				it.after = append(it.after, State{})
			}
		}
		now, err := w.lookAt(ctx, f.Path)
		switch {
		case errors.Is(err, ErrSpecial):
			drifted = append(drifted, f.Path)
		case err != nil:
			return nil, err
		case !it.known(now.State):
			drifted = append(drifted, f.Path)
		default:
			it.seen = &seen{State: now.State, info: now.info}
		}
		items = append(items, it)
	}
	crowded, err := w.crowded(ctx, items)
	if err != nil {
		return nil, err
	}
	if drifted = append(drifted, crowded...); len(drifted) > 0 {
		slices.Sort(drifted)
		return nil, &DriftError{Paths: drifted}
	}
	return inOrder(items), nil
}

// crowded returns the directories that have to go and cannot, because there is more
// in them than goes with them. It is looked for before anything is restored:
// afterwards it would be too late to restore nothing.
func (w *Workspace) crowded(ctx context.Context, items []*item) (list []string, err error) {
	goes := make(map[string]bool, 2*len(items))
	for _, it := range items {
		goes[it.path] = it.before.Kind == KindAbsent
		goes[inDir(it.path, undoTemp(it.path))] = true // of a restoring that was interrupted
	}
	for _, it := range items {
		if it.seen == nil || it.seen.Kind != KindDir || it.before.Kind == KindDir {
			continue
		}
		entries, err := w.ReadDir(ctx, it.path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !goes[path.Join(it.path, e.Name())] }) {
			list = append(list, it.path)
		}
	}
	return list, nil
}

// restoreInCall restores in the transaction of a call.
func (w *Workspace) restoreInCall(ctx context.Context, items []*item) error {
	for _, it := range items {
		if err := w.restoreOne(ctx, it); err != nil {
			return err
		}
	}
	return nil
}

func (w *Workspace) restoreOne(ctx context.Context, it *item) error {
	now, err := w.lookAt(ctx, it.path)
	if err != nil || now.State == it.before {
		return err
	}
	var data []byte
	if it.before.Kind == KindFile {
		if data, err = w.store.Get(ctx, it.before.ref()); err != nil {
			return fmt.Errorf("path %q: %w", it.path, err)
		}
	}
	if now.Kind != KindAbsent && (now.Kind != KindFile || it.before.Kind != KindFile) {
		if err := w.Remove(ctx, it.path); err != nil {
			return err
		}
	}
	switch it.before.Kind {
	case KindAbsent:
		return nil
	case KindDir:
		return w.Mkdir(ctx, it.path, it.before.Mode)
	}
	return w.change(ctx, it.path, func(seen) (change, error) {
		return change{State: it.before, data: data}, nil
	})
}
