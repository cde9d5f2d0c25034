package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/ambit-tools/ambit/examples/workspace/filetools"
)

// FileEdit implements filetools.Handler.
func (w *workspace) FileEdit(ctx context.Context, in *filetools.FileEditInput) (*filetools.FileEditOutput, error) {
	text, err := w.read(in.Path)
	if err != nil {
		return nil, err
	}
	changes := 0
	for i, edit := range in.Edits {
		switch edit := edit.(type) {
		case *filetools.EditReplace:
			n := strings.Count(text, edit.Find)
			if n == 0 {
				return nil, fmt.Errorf("edit %d: %q does not occur in %q: file_read shows its text", i+1, edit.Find, in.Path)
			}
			text = strings.ReplaceAll(text, edit.Find, edit.With)
			changes += n
		case *filetools.EditAppend:
			text += edit.Text
			changes++
		}
	}
	if err := w.replace(ctx, in.Path, []byte(text)); err != nil {
		return nil, err
	}
	return &filetools.FileEditOutput{Changes: int64(changes), Size: int64(len(text))}, nil
}
