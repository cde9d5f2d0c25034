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
			return plain(err)
		}
		if name == start && d.IsDir() {
			return ctx.Err()
		}
		entry := filetools.FileListOutputEntriesItem{Path: name, Kind: filetools.FileListOutputEntriesItemKindFile}
		switch {
		case d.IsDir():
			entry.Kind = filetools.FileListOutputEntriesItemKindFolder
		default:
			info, err := d.Info()
			if err != nil {
				return plain(err)
			}
			entry.Size = wire.Some(info.Size())
		}
		out.Entries = append(out.Entries, entry)
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
	err := fs.WalkDir(w.root.FS(), path.Clean(in.Path), func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return plain(err)
		}
		if !d.Type().IsRegular() {
			return ctx.Err()
		}
		text, err := w.root.ReadFile(name)
		if err != nil {
			return plain(err)
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
