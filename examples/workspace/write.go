package main

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/ambit-tools/ambit/runtime"
)

// replace writes a file under the fence of the call: once the call has an
// outcome, nothing is written any more. The file is complete or as it was, and
// keeps its mode. Nothing is written through a symbolic link, since policies
// judge a path by its name.
func (w *workspace) replace(ctx context.Context, name string, text []byte) error {
	return runtime.Commit(ctx, func() error { return w.save(name, text) })
}

// save is replace without the fence.
func (w *workspace) save(name string, text []byte) error {
	switch {
	case !filepath.IsLocal(name):
		return explain(name, errOutside)
	case strings.HasSuffix(name, "/"):
		return explain(name, errFolder)
	}
	name = path.Clean(name)
	folder, err := w.folder(path.Dir(name))
	if err != nil {
		return err
	}
	defer folder.Close()
	return explain(name, put(folder, path.Base(name), text))
}

// folder opens a folder and makes those on the way that are missing. It goes one
// name at a time and looks at each that it opened, so that no link on the way is
// followed, one that appears meanwhile included.
func (w *workspace) folder(name string) (*os.Root, error) {
	at, err := w.root.OpenRoot(".")
	if err != nil || name == "." {
		return at, explain(name, err)
	}
	walked := ""
	for part := range strings.SplitSeq(path.Clean(name), "/") {
		walked = path.Join(walked, part)
		next, err := enter(at, part)
		at.Close()
		if err != nil {
			return nil, explain(walked, err)
		}
		at = next
	}
	return at, nil
}

// enter opens the folder called name in another, and makes it if need be.
func enter(in *os.Root, name string) (*os.Root, error) {
	info, err := in.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		if err := in.Mkdir(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		info, err = in.Lstat(name)
	}
	switch {
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, errLink
	case !info.IsDir():
		return nil, errNoFolder
	}
	folder, err := in.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	opened, err := folder.Stat(".")
	if err == nil && !os.SameFile(info, opened) {
		err = errLink
	}
	if err != nil {
		folder.Close()
		return nil, err
	}
	return folder, nil
}

// put writes a file in a folder beside the one that it then replaces. The name
// that it has meanwhile is nobody else's.
func put(folder *os.Root, name string, text []byte) error {
	old, err := folder.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case old.Mode()&fs.ModeSymlink != 0:
		return errLink
	case old.IsDir():
		return errFolder
	case !old.Mode().IsRegular():
		return errSpecial
	}
	temp := ".ambit-" + rand.Text()
	f, err := folder.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if old != nil {
		err = errors.Join(err, f.Chmod(old.Mode().Perm()))
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = folder.Rename(temp, name)
	}
	if err != nil {
		folder.Remove(temp) //nolint:errcheck // the first error is the one to tell
	}
	return err
}
