package main

import (
	"context"
	"errors"
	"os"
	"path"
	"strings"

	"github.com/ambit-tools/ambit/examples/workspace/filetools"
	"github.com/ambit-tools/ambit/runtime"
)

// workspace carries out the tools on one directory. All file access goes
// through root, which no path and no symbolic link can leave.
type workspace struct {
	root *os.Root
	web  *library
	late lateWrites
}

var _ filetools.Handler = (*workspace)(nil)

// FileRead implements filetools.Handler.
func (w *workspace) FileRead(_ context.Context, in *filetools.FileReadInput) (*filetools.FileReadOutput, error) {
	text, err := w.root.ReadFile(in.Path)
	if err != nil {
		return nil, plain(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	n := min(int64(len(lines)), in.Limit)
	return &filetools.FileReadOutput{
		Content:   strings.Join(lines[:n], ""),
		Lines:     n,
		Truncated: n < int64(len(lines)),
	}, nil
}

// FileWrite implements filetools.Handler.
func (w *workspace) FileWrite(ctx context.Context, in *filetools.FileWriteInput) (*filetools.FileWriteOutput, error) {
	if err := w.replace(ctx, in.Path, []byte(in.Content)); err != nil {
		return nil, err
	}
	return &filetools.FileWriteOutput{Size: int64(len(in.Content))}, nil
}

// replace writes a file under the fence of the call: once the call has an
// outcome, nothing is written any more. The file is complete or as it was.
func (w *workspace) replace(ctx context.Context, name string, text []byte) error {
	return runtime.Commit(ctx, func() error {
		if err := w.root.MkdirAll(path.Dir(name), 0o755); err != nil {
			return plain(err)
		}
		temp := name + ".ambit-new"
		if err := w.root.WriteFile(temp, text, 0o644); err != nil {
			return plain(err)
		}
		if err := w.root.Rename(temp, name); err != nil {
			return errors.Join(plain(err), w.root.Remove(temp))
		}
		return nil
	})
}

// plain drops what an error says of the host's paths: the tools declare
// safe_errors, so that the text reaches the model.
func plain(err error) error {
	var pathErr *os.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	var linkErr *os.LinkError
	if errors.As(err, &linkErr) {
		return linkErr.Err
	}
	return err
}
