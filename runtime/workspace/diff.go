package workspace

import (
	"bytes"
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"
)

// Diff returns what writing data to a file would change, as a unified diff, for
// a preview; it is empty when nothing would change. Of files that are no text it
// only says that they differ.
func (w *Workspace) Diff(ctx context.Context, name string, data []byte) (string, error) {
	now, err := w.lookAt(ctx, name)
	if err != nil {
		return "", err
	}
	was := now.blob.Data()
	before, after := "a/"+name, "b/"+name
	switch now.Kind {
	case KindDir:
		return "", fmt.Errorf("path %q: it is a directory", name)
	case KindAbsent:
		before = "/dev/null"
		if len(data) == 0 {
			return fmt.Sprintf("--- %s\n+++ %s\n", before, after), nil
		}
	}
	if bytes.Equal(was, data) {
		return "", nil
	}
	if !isText(was) || !isText(data) {
		return fmt.Sprintf("%s (%d bytes) and %s (%d bytes) differ and are no text\n", before, len(was), after, len(data)), nil
	}
	text := diff.Diff(before, was, after, data)
	_, text, _ = bytes.Cut(text, []byte("\n")) // the line "diff a b"
	return string(text), nil
}

func isText(data []byte) bool { return utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 }
