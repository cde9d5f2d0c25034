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
func (w *tools) FileList(ctx context.Context, in *filetools.FileListInput) (*filetools.FileListOutput, error) {
	out := &filetools.FileListOutput{Entries: []filetools.FileListOutputEntriesItem{}}
	err := w.walk(ctx, path.Clean(in.Path), in.Depth, func(name string, d fs.DirEntry) error {
		entry, err := listed(name, d)
		if err == nil && entry.Kind != "" {
			out.Entries = append(out.Entries, entry)
		}
		return err
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

// walk calls visit for all that is below start, in lexical order, so many levels
// down. What stands at start itself is visited when it is no folder. What is
// removed meanwhile is passed over.
func (w *tools) walk(ctx context.Context, start string, levels int64, visit func(string, fs.DirEntry) error) error {
	info, err := w.ws.Stat(ctx, start)
	if err != nil {
		return explain(start, err)
	}
	if !info.IsDir() {
		return visit(start, fs.FileInfoToDirEntry(info))
	}
	entries, err := w.ws.ReadDir(ctx, start)
	if err != nil {
		return explain(start, err)
	}
	for _, d := range entries {
		name := path.Join(start, d.Name())
		err := visit(name, d)
		if err == nil && d.IsDir() && levels > 1 {
			err = w.walk(ctx, name, levels-1, visit)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errMissing) {
			return err
		}
	}
	return ctx.Err()
}

// allLevels is more than a path can have.
const allLevels = 1 << 20

// errEnough ends a walk that has found what it wanted.
var errEnough = errors.New("enough matches")

// TextSearch implements filetools.Handler.
func (w *tools) TextSearch(ctx context.Context, in *filetools.TextSearchInput) (*filetools.TextSearchOutput, error) {
	out := &filetools.TextSearchOutput{Matches: []filetools.TextSearchOutputMatchesItem{}}
	err := w.walk(ctx, path.Clean(in.Path), allLevels, func(name string, d fs.DirEntry) error {
		if !d.Type().IsRegular() {
			return ctx.Err()
		}
		text, err := w.ws.ReadFile(ctx, name)
		if err != nil {
			return explain(name, err)
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
