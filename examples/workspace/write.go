package main

import (
	"context"
	"path"

	"github.com/ambit-tools/ambit/examples/workspace/filetools"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/workspace"
)

// The modes of what is made where nothing was.
const (
	fileMode   = 0o644
	folderMode = 0o755
)

// FileWrite implements filetools.Handler.
func (w *tools) FileWrite(ctx context.Context, in *filetools.FileWriteInput) (*filetools.FileWriteOutput, error) {
	if err := w.write(ctx, in.Path, in.Content); err != nil {
		return nil, err
	}
	return &filetools.FileWriteOutput{Size: int64(len(in.Content))}, nil
}

// PreviewFileWrite implements filetools.Handler.
func (w *tools) PreviewFileWrite(ctx context.Context, in *filetools.FileWriteInput) (runtime.Preview, error) {
	return w.preview(ctx, in.Path, in.Content)
}

// PrepareFileWrite implements filetools.Handler.
func (w *tools) PrepareFileWrite(ctx context.Context, in *filetools.FileWriteInput) (*filetools.Change, error) {
	return w.prepare(ctx, in.Path, in.Content)
}

// UndoFileWrite implements filetools.Handler.
func (w *tools) UndoFileWrite(ctx context.Context, u *runtime.Undo[filetools.FileWriteInput, filetools.Change, filetools.FileWriteOutput]) error {
	return w.takeBack(ctx, u.State)
}

// write makes text the content of a file, and the folders on the way to it, in
// the transaction of the call and under its fence. The path is used as it was
// given, or refused: the policy has judged it by its name.
func (w *tools) write(ctx context.Context, name, text string) error {
	if dir := path.Dir(name); dir != "." {
		if err := w.ws.MkdirAll(ctx, dir, folderMode); err != nil {
			return explain(name, err)
		}
	}
	if err := w.ws.WriteFile(ctx, name, []byte(text), fileMode); err != nil {
		return explain(name, err)
	}
	w.dieHere(ctx)
	return nil
}

// preview shows what a write would change.
func (w *tools) preview(ctx context.Context, name, text string) (runtime.Preview, error) {
	diff, err := w.ws.Diff(ctx, name, []byte(text))
	return runtime.Preview{MediaType: "text/x-diff", Text: diff}, explain(name, err)
}

// prepare keeps what a write is about to change, and says what it will be.
func (w *tools) prepare(ctx context.Context, name, text string) (*filetools.Change, error) {
	before, err := w.ws.Snapshot(ctx, name)
	if err != nil {
		return nil, explain(name, err)
	}
	if before[0].Kind == workspace.KindDir {
		return nil, explain(name, errFolder)
	}
	after := before.WithFile(name, []byte(text), fileMode)
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		above, err := w.ws.Snapshot(ctx, dir)
		if err != nil {
			return nil, explain(dir, err)
		}
		if above[0].Kind != workspace.KindAbsent {
			break
		}
		before, after = append(before, above...), after.WithDir(dir, folderMode)
	}
	return &filetools.Change{Before: stored(before), After: stored(after)}, nil
}

// takeBack restores what a write has changed. It fails when a file has changed
// since.
func (w *tools) takeBack(ctx context.Context, c *filetools.Change) error {
	return w.ws.Restore(ctx, loaded(c.Before), loaded(c.After))
}
