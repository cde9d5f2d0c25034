package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/ambit-tools/ambit/examples/workspace/filetools"
	"github.com/ambit-tools/ambit/runtime"
)

// FileEdit implements filetools.Handler.
func (w *tools) FileEdit(ctx context.Context, in *filetools.FileEditInput) (*filetools.FileEditOutput, error) {
	text, changes, err := w.edited(ctx, in)
	if err != nil {
		return nil, err
	}
	if err := w.write(ctx, in.Path, text); err != nil {
		return nil, err
	}
	return &filetools.FileEditOutput{Changes: changes, Size: int64(len(text))}, nil
}

// PreviewFileEdit implements filetools.Handler.
func (w *tools) PreviewFileEdit(ctx context.Context, in *filetools.FileEditInput) (runtime.Preview, error) {
	text, _, err := w.edited(ctx, in)
	if err != nil {
		return runtime.Preview{}, err
	}
	return w.preview(ctx, in.Path, text)
}

// PrepareFileEdit implements filetools.Handler.
func (w *tools) PrepareFileEdit(ctx context.Context, in *filetools.FileEditInput) (*filetools.Change, error) {
	text, _, err := w.edited(ctx, in)
	if err != nil {
		return nil, err
	}
	return w.prepare(ctx, in.Path, text)
}

// UndoFileEdit implements filetools.Handler.
func (w *tools) UndoFileEdit(ctx context.Context, u *runtime.Undo[filetools.FileEditInput, filetools.Change, filetools.FileEditOutput]) error {
	return w.takeBack(ctx, u.State)
}

// edited returns the text that the edits make of a file, and at how many places
// it differs.
func (w *tools) edited(ctx context.Context, in *filetools.FileEditInput) (text string, changes int64, err error) {
	if text, err = w.read(ctx, in.Path); err != nil {
		return "", 0, err
	}
	for i, edit := range in.Edits {
		switch edit := edit.(type) {
		case *filetools.EditReplace:
			n := strings.Count(text, edit.Find)
			if n == 0 {
				return "", 0, fmt.Errorf("edit %d: %q does not occur in %q: file_read shows its text", i+1, edit.Find, in.Path)
			}
			text = strings.ReplaceAll(text, edit.Find, edit.With)
			changes += int64(n)
		case *filetools.EditAppend:
			text += edit.Text
			changes++
		}
	}
	return text, changes, nil
}
