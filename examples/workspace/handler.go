package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/ambit-tools/ambit/examples/workspace/filetools"
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
	text, err := w.read(in.Path)
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
func (w *workspace) read(name string) (string, error) {
	info, err := w.root.Stat(name)
	switch {
	case err != nil:
		return "", explain(name, err)
	case info.IsDir():
		return "", explain(name, errFolder)
	case !info.Mode().IsRegular(): // reading might never end
		return "", explain(name, errSpecial)
	}
	text, err := w.root.ReadFile(name)
	if err == nil && !utf8.Valid(text) {
		err = errNoText
	}
	return string(text), explain(name, err)
}

// FileWrite implements filetools.Handler.
func (w *workspace) FileWrite(ctx context.Context, in *filetools.FileWriteInput) (*filetools.FileWriteOutput, error) {
	if err := w.replace(ctx, in.Path, []byte(in.Content)); err != nil {
		return nil, err
	}
	return &filetools.FileWriteOutput{Size: int64(len(in.Content))}, nil
}

// What is wrong with a path, and what to do instead.
var (
	errOutside  = errors.New("leads out of the workspace: name a path below it")
	errLink     = errors.New("is a symbolic link, and nothing is written through one: write to the file itself")
	errFolder   = errors.New("is a folder: name a file in it")
	errNoFolder = errors.New("is a file: it can hold no others")
	errSpecial  = errors.New("is neither a file nor a folder: name another path")
	errNoText   = errors.New("is not a text: name another file")
	errMissing  = errors.New("does not exist: file_list says what does")
	errDenied   = errors.New("is closed to this program: name another path")
)

// explain makes an error about a path that a model can act on, and drops what it
// says of the host's paths: the tools declare safe_errors, so that the text
// reaches the model.
func explain(name string, err error) error {
	var pathErr *fs.PathError
	var linkErr *os.LinkError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		err = errMissing
	case errors.Is(err, fs.ErrPermission):
		err = errDenied
	case errors.As(err, &pathErr):
		err = fmt.Errorf("cannot be used: %w", pathErr.Err)
	case errors.As(err, &linkErr):
		err = fmt.Errorf("cannot be used: %w", linkErr.Err)
	}
	return fmt.Errorf("%q %w", name, err)
}
