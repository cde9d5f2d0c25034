package main

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/ambit-tools/ambit/examples/workspace/filetools"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// FileList implements filetools.Handler.
func (w *workspace) FileList(ctx context.Context, in *filetools.FileListInput) (*filetools.FileListOutput, error) {
	start := path.Clean(in.Path)
	out := &filetools.FileListOutput{Entries: []filetools.FileListOutputEntriesItem{}}
	err := fs.WalkDir(w.root.FS(), start, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return unlessGone(name, start, err)
		}
		if name == start && d.IsDir() {
			return ctx.Err()
		}
		entry, err := listed(name, d)
		if err != nil {
			return unlessGone(name, start, err)
		}
		if entry.Kind != "" {
			out.Entries = append(out.Entries, entry)
		}
		if d.IsDir() && depth(start, name) >= in.Depth {
			return fs.SkipDir
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// listed returns the entry for what stands at a path; one without a kind for
// what is neither a file, nor a folder, nor a link.
func listed(name string, d fs.DirEntry) (entry filetools.FileListOutputEntriesItem, err error) {
	entry.Path = name
	switch {
	case d.IsDir():
		entry.Kind = filetools.FileListOutputEntriesItemKindFolder
	case d.Type()&fs.ModeSymlink != 0:
		entry.Kind = filetools.FileListOutputEntriesItemKindLink
	case d.Type().IsRegular():
		info, err := d.Info()
		if err != nil {
			return entry, err
		}
		entry.Kind, entry.Size = filetools.FileListOutputEntriesItemKindFile, wire.Some(info.Size())
	}
	return entry, nil
}

// unlessGone passes over what was removed during the walk from start.
func unlessGone(name, start string, err error) error {
	if name != start && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return explain(name, err)
}

// depth counts the folder levels from start down to name.
func depth(start, name string) int64 {
	if start != "." {
		name = strings.TrimPrefix(name, start+"/")
	}
	return int64(strings.Count(name, "/")) + 1
}

// errEnough ends a walk that has found what it wanted.
var errEnough = errors.New("enough matches")

// TextSearch implements filetools.Handler.
func (w *workspace) TextSearch(ctx context.Context, in *filetools.TextSearchInput) (*filetools.TextSearchOutput, error) {
	out := &filetools.TextSearchOutput{Matches: []filetools.TextSearchOutputMatchesItem{}}
	start := path.Clean(in.Path)
	err := fs.WalkDir(w.root.FS(), start, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return unlessGone(name, start, err)
		}
		if !d.Type().IsRegular() {
			return ctx.Err()
		}
		text, err := w.root.ReadFile(name)
		if err != nil {
			return unlessGone(name, start, err)
		}
		if !utf8.Valid(text) {
			return ctx.Err()
		}
		for i, line := range strings.Split(string(text), "\n") {
			if !strings.Contains(line, in.Query) {
				continue
			}
			out.Matches = append(out.Matches, filetools.TextSearchOutputMatchesItem{Path: name, Line: int64(i) + 1, Text: line})
			if int64(len(out.Matches)) == in.Limit {
				return errEnough
			}
		}
		return ctx.Err()
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	return out, nil
}
