package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/ambit-tools/ambit/examples/workspace/filetools"
	"github.com/ambit-tools/ambit/runtime/workspace"
)

//go:generate go run github.com/ambit-tools/ambit/cmd/ambit generate filetools

// tools carries out the tools on one directory. All access to its files goes
// through ws, which no path and no symbolic link can leave, and which takes part
// in the transactions of calls.
type tools struct {
	ws     *workspace.Workspace
	web    *library
	outbox string // file of the messages that were sent
	victim string // the call in the middle of which this process kills itself; empty: none
	late   lateWrites
}

var _ filetools.Handler = (*tools)(nil)

// FileRead implements filetools.Handler.
func (w *tools) FileRead(ctx context.Context, in *filetools.FileReadInput) (*filetools.FileReadOutput, error) {
	text, err := w.read(ctx, path.Clean(in.Path))
	if err != nil {
		return nil, err
	}
	lines := strings.SplitAfter(text, "\n")
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

// read returns the text of a file.
func (w *tools) read(ctx context.Context, name string) (string, error) {
	text, err := w.ws.ReadFile(ctx, name)
	if err != nil {
		if info, statErr := w.ws.Stat(ctx, name); statErr == nil && info.IsDir() {
			err = errFolder
		}
		return "", explain(name, err)
	}
	if !utf8.Valid(text) {
		return "", explain(name, errNoText)
	}
	return string(text), nil
}

// What is wrong with a path, and what to do instead.
var (
	errFolder  = errors.New("is a folder: name a file in it")
	errSpecial = errors.New("is a link, or neither a file nor a folder: name another path")
	errNoText  = errors.New("is not a text: name another file")
	errMissing = errors.New("does not exist: file_list says what does")
	errDenied  = errors.New("is closed to this program: name another path")
)

// explain makes an error about a path that a model can act on, and drops what it
// says of the host's paths: the tools declare safe_errors, so that the text
// reaches the model.
func explain(name string, err error) error {
	var pathErr *fs.PathError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		err = errMissing
	case errors.Is(err, fs.ErrPermission):
		err = errDenied
	case errors.Is(err, workspace.ErrSpecial), errors.Is(err, fs.ErrInvalid):
		err = errSpecial
	case errors.As(err, &pathErr):
		err = fmt.Errorf("cannot be used: %w", pathErr.Err)
	case errors.Is(err, errFolder), errors.Is(err, errNoText):
	default: // the workspace has named the path
		return err
	}
	return fmt.Errorf("%q %w", name, err)
}
