package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	goruntime "runtime"
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/runtime/content"
	"github.com/ambit-tools/ambit/runtime/internal/disk"
)

// undoTemp returns the name under which what is restored at a path waits. It is
// always the same one, so that what a crash has left is found again.
func undoTemp(name string) string {
	return tempPrefix + "undo-" + content.RefOf([]byte(name)).SHA256[:16]
}

// A restorer puts paths back as they were. All is prepared and made durable
// before the first file is renamed.
type restorer struct {
	ws      *Workspace
	waiting []*waiting
	targets []*target
	dirs    map[string]bool // whose names have changed
	drifted []string
	errs    []error
}

// waiting is a file that was prepared for a target, and what was seen there.
type waiting struct {
	target *target
	now    seen
	before State
	file   disk.File // what was prepared; once it is in its place, what it has replaced
	err    error     // why it may not take its place
}

func (w *Workspace) restorer() *restorer { return &restorer{ws: w, dirs: map[string]bool{}} }

// inOrder returns items in an order in which they can be restored after any sequence
// of writes: first what was not there before is removed, the innermost path first;
// then what was there is restored, the outermost path first.
func inOrder(items []*item) []*item {
	var gone, back []*item
	for _, it := range items {
		if it.before.Kind == KindAbsent {
			gone = append(gone, it)
		} else {
			back = append(back, it)
		}
	}
	slices.SortFunc(gone, func(a, b *item) int { return strings.Compare(b.path, a.path) })
	slices.SortFunc(back, func(a, b *item) int { return strings.Compare(a.path, b.path) })
	return append(gone, back...)
}

// rollBack restores the items of a call and removes its log. With drift the error is a DriftError, which is noted where the log was.
func (w *Workspace) rollBack(ctx context.Context, key Key, items []*item, temps []string) error {
	if err := errors.Join(ctx.Err(), w.usable()); err != nil {
		return err
	}
	r := w.restorer()
	defer r.close()
	for _, name := range temps {
		r.clear(name)
	}
	items = inOrder(items)
	for _, it := range items {
		r.clear(inDir(it.path, undoTemp(it.path)))
	}
	for _, it := range items {
		if err := r.restore(ctx, it); err != nil {
			r.errs = append(r.errs, fmt.Errorf("path %q: %w", it.path, err))
		}
	}
	if err := r.finish(); err != nil {
		return err
	}
	name := logName(key)
	if len(r.drifted) == 0 {
		return w.dropLog(name + logSuffix)
	}
	slices.Sort(r.drifted)
	drift := &DriftError{Paths: r.drifted}
	if err := w.noteDrift(name, drift); err != nil {
		return err
	}
	if err := w.dropLog(name + logSuffix); err != nil {
		return err
	}
	return drift
}

// clear removes what is left under a temporary name.
func (r *restorer) clear(name string) {
	p, err := r.ws.target(name)
	if err != nil {
		if !nowhere(err) && !errors.Is(err, disk.ErrLink) {
			r.errs = append(r.errs, err)
		}
		return
	}
	defer p.close()
	if err := drop(p.dir, p.base); err != nil {
		r.errs = append(r.errs, err)
	}
}

// restore prepares that an item becomes what it was before.
func (r *restorer) restore(ctx context.Context, it *item) error {
	now, p, err := r.see(it.path, it.seen)
	switch {
	case err != nil:
		return err
	case now.State == it.before:
		// It was never changed, or was restored before the power went: in the
		// latter case its name may not be durable yet.
		r.dirs[path.Dir(it.path)] = true
		return nil
	case !it.known(now.State) || p == nil:
		r.drifted = append(r.drifted, it.path)
		return nil
	}
	return r.put(ctx, p, now, it.before)
}

// see looks at a path, and does not read it again where earlier still holds. A
// path in no directory is absent, without a target.
func (r *restorer) see(name string, earlier *seen) (seen, *target, error) {
	p, err := r.ws.target(name)
	switch {
	case nowhere(err):
		return seen{}, nil, nil
	case errors.Is(err, disk.ErrLink):
		return seen{State: State{Kind: kindSpecial}}, nil, nil
	case err != nil:
		return seen{}, nil, err
	}
	r.targets = append(r.targets, p)
	if earlier != nil {
		if same, err := p.same(*earlier); err != nil || same {
			return *earlier, p, err
		}
	}
	now, err := p.look(r.ws.maxFile)
	if errors.Is(err, ErrTooLarge) { // no call has made it so
		return seen{State: State{Kind: kindSpecial}}, p, nil
	}
	return now, p, err
}

// put prepares that before is at a target where now is. What makes room is done
// at once: what is restored next may need it.
func (r *restorer) put(ctx context.Context, p *target, now seen, before State) error {
	var data []byte
	if before.Kind == KindFile {
		get := r.ws.store.GetUnverified // it is verified while the disk writes it
		if now.Kind == KindDir {
			get = r.ws.store.Get // the directory does not go for what cannot come back
		}
		var err error
		if data, err = get(ctx, before.ref()); err != nil {
			return err
		}
	}
	r.dirs[path.Dir(p.path)] = true
	if now.Kind == KindDir && before.Kind == KindDir {
		r.dirs[p.path] = true
		return chmod(p, before.Mode)
	}
	if now.Kind == KindDir || before.Kind == KindAbsent || before.Kind == KindDir && now.Kind == KindFile {
		err := r.ws.put(p, now, "")
		switch {
		case errors.Is(err, errNotEmpty) || errors.Is(err, fs.ErrExist):
			r.drifted = append(r.drifted, p.path) // another writer has put something there
			return nil
		case err != nil:
			return err
		}
		now = seen{}
	}
	switch before.Kind {
	case KindAbsent:
		return nil
	case KindDir:
		return r.makeDir(p, before)
	}
	f, err := disk.Create(p.dir, undoTemp(p.path), data, before.Mode)
	if err != nil {
		return err
	}
	r.waiting = append(r.waiting, &waiting{target: p, now: now, before: before, file: f})
	return nil
}

// chmod sets the mode of a directory.
func chmod(p *target, mode fs.FileMode) error {
	f, err := p.dir.Open(p.base, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(mode), f.Close())
}

// makeDir makes a directory that was removed: what was in it is restored next.
func (r *restorer) makeDir(p *target, before State) error {
	temp := undoTemp(p.path)
	f, err := makeDir(p.dir, temp, before.Mode)
	if err != nil {
		return err
	}
	if err := errors.Join(r.ws.sync(f), f.Close()); err != nil {
		return err
	}
	r.dirs[p.path] = true
	if err := r.ws.put(p, seen{}, temp); err != nil {
		return err
	}
	return r.ws.settled(p.dir)
}

// finish makes durable what was prepared, renames it and makes that durable.
func (r *restorer) finish() error {
	if len(r.waiting) > 0 {
		if err := r.ws.sync(r.prepared()...); err != nil {
			return errors.Join(append(r.errs, err)...)
		}
	}
	for _, wait := range r.waiting {
		if err := r.place(wait); err != nil {
			r.errs = append(r.errs, fmt.Errorf("path %q: %w", wait.target.path, err))
		}
	}
	dirs, open, err := r.ws.syncPaths(slices.Sorted(maps.Keys(r.dirs)))
	defer closeAll(open)
	if err == nil && len(dirs) > 0 {
		err = r.ws.sync(append([]disk.Syncer{disk.Beside(r.letGo)}, dirs...)...)
	}
	return errors.Join(append(r.errs, err)...)
}

// prepared returns what is to be durable before anything is renamed. The contents
// are verified meanwhile: there is a processor free for that.
func (r *restorer) prepared() []disk.Syncer {
	list := []disk.Syncer{r.waiting[0].file, disk.Beside(r.verify)}
	for _, wait := range r.waiting[1:] {
		list = append(list, wait.file)
	}
	return list
}

// verify reads what was prepared: it has to be what was kept.
func (r *restorer) verify() {
	for _, wait := range r.waiting {
		wait.err = wait.before.ref().Verify(io.NewSectionReader(wait.file, 0, wait.before.Size+1))
	}
}

// place renames what was prepared, unless it is not what was kept or what it would
// replace has changed.
func (r *restorer) place(wait *waiting) error {
	temp := undoTemp(wait.target.path)
	if wait.err != nil {
		return errors.Join(wait.err, drop(wait.target.dir, temp))
	}
	_ = wait.file.Close() // it was synced
	wait.file = wait.hold()
	err := r.ws.put(wait.target, wait.now, temp)
	if errors.Is(err, errChanged) {
		r.drifted = append(r.drifted, wait.target.path)
		return drop(wait.target.dir, temp)
	}
	return err
}

// hold opens what is about to be replaced, if it can. The system frees a file when it
// is closed for the last time, which takes about as long as a sync: letGo closes it
// while the names are synced. Windows may refuse to replace a file that is open.
func (w *waiting) hold() disk.File {
	if w.now.Kind != KindFile || goruntime.GOOS == "windows" {
		return nil
	}
	f, err := w.target.dir.Open(w.target.base, os.O_RDONLY, 0)
	if err != nil {
		return nil // the rename frees it
	}
	return f
}

// letGo closes files.
func (r *restorer) letGo() {
	for _, wait := range r.waiting {
		if wait.file != nil {
			_ = wait.file.Close() // it was synced, or is not needed
			wait.file = nil
		}
	}
}

// close closes all that is open.
func (r *restorer) close() {
	closeAll(r.targets)
	r.letGo()
}
