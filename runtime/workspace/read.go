package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Open opens a file for reading. A link is followed as long as it stays in the
// workspace. No call is needed to read.
func (w *Workspace) Open(ctx context.Context, name string) (fs.File, error) {
	if err := errors.Join(ctx.Err(), checkPath(name)); err != nil {
		return nil, err
	}
	f, err := w.root.Open(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("path %q: %w", name, err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("path %q: it is no file: %w", name, fs.ErrInvalid)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// ReadFile returns the content of a file.
func (w *Workspace) ReadFile(ctx context.Context, name string) (_ []byte, err error) {
	f, err := w.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("path %q: %w", name, err)
	}
	return data, nil
}

// Stat describes a file, a directory, or a link, which is not followed.
func (w *Workspace) Stat(ctx context.Context, name string) (fs.FileInfo, error) {
	if err := errors.Join(ctx.Err(), checkPath(name)); err != nil {
		return nil, err
	}
	info, err := w.root.Lstat(name)
	if err != nil {
		return nil, fmt.Errorf("path %q: %w", name, err)
	}
	return info, nil
}

// ReadDir returns what is in a directory, "." for the workspace itself, in the
// order of the names.
func (w *Workspace) ReadDir(ctx context.Context, name string) (_ []fs.DirEntry, err error) {
	if err := errors.Join(ctx.Err(), checkPath(name)); err != nil {
		return nil, err
	}
	dir, err := w.root.Sub(name)
	if err != nil {
		return nil, fmt.Errorf("path %q: %w", name, err)
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	names, err := dir.List()
	if err != nil {
		return nil, fmt.Errorf("path %q: %w", name, err)
	}
	var list []fs.DirEntry
	for _, n := range names {
		info, err := dir.Lstat(n)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it went in the meantime
		}
		if err != nil {
			return nil, fmt.Errorf("path %q: %w", name+"/"+n, err)
		}
		list = append(list, fs.FileInfoToDirEntry(info))
	}
	return list, nil
}
