package audit

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// A NoteReader is what an [Anchor] is too when its notes can be read. New compares
// the journal with them, so that one is refused that was rolled back together with
// its checkpoints.
type NoteReader interface {
	// Notes calls f with the notes of an origin, in any order, and ends with the first
	// error of f. Not whole and changed ones may be among them; none is no error. f keeps
	// no note: it may be changed when f has returned.
	Notes(ctx context.Context, origin string, f func(note []byte) error) error
}

// Notes reads the file. One that is not there has no notes.
func (a FileAnchor) Notes(ctx context.Context, origin string, f func([]byte) error) error {
	file, err := os.Open(a.Path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("the anchor: %w", err)
	}
	err = eachNote(file, origin, func(note []byte) error { return cmp.Or(ctx.Err(), f(note)) })
	return errors.Join(err, file.Close())
}

// newest returns what the newest note of an anchor says; nil: there is none, or its
// notes cannot be read. The newest is the one after the most restores, and of these
// the one of the most entries: an old note that was copied to the end is not.
func (l *Log) newest(ctx context.Context, a *anchor) (*statement, error) {
	reader, ok := a.to.(NoteReader)
	if !ok {
		return nil, nil
	}
	var newest statement
	var signed []byte
	err := reader.Notes(ctx, l.signer.Name(), func(note []byte) error {
		s := glance(note)
		if s.bad == nil && s.said > 0 && cmp.Or(cmp.Compare(len(s.restored), len(newest.restored)), cmp.Compare(s.said, newest.said)) > 0 {
			newest, signed = s, append(signed[:0], note...)
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("the anchored notes cannot be read: %w", err)
	case signed == nil:
		return nil, nil
	}
	if newest = l.check(signed); newest.bad != nil {
		return nil, refuse("the anchored note of %d entries: %v", newest.said, newest.bad)
	}
	return &newest, nil
}

// glance returns what a note says, without a look at its signature. The usual one, of three lines, costs no
// allocation: an anchor has a note of every checkpoint there ever was.
func glance(note []byte) statement {
	text, _, _ := bytes.Cut(note, []byte("\n\n"))
	_, rest, _ := bytes.Cut(text, []byte("\n"))
	digits, root, _ := bytes.Cut(rest, []byte("\n"))
	var said uint64
	for _, c := range digits {
		said = said*10 + uint64(c-'0')
		if c < '0' || c > '9' || said == 0 {
			return parse(string(text) + "\n")
		}
	}
	var sum [rootLen]byte
	if n, err := base64.StdEncoding.Decode(sum[:], root[:min(len(root), rootLen)]); len(digits) == 0 || len(digits) > 18 || len(root) != rootLen || err != nil || n != tlog.HashSize {
		return parse(string(text) + "\n")
	}
	return statement{said: said, root: tlog.Hash(sum[:tlog.HashSize])}
}

// rootLen is the length of a root in base64.
const rootLen = (tlog.HashSize + 2) / 3 * 4

// noted returns the newest notes of all anchors that the journal is held to.
func (l *Log) noted(ctx context.Context, last *Checkpoint) (list []statement, err error) {
	for i := range l.anchors {
		n, err := l.newest(ctx, &l.anchors[i])
		switch {
		case err != nil:
			return nil, err
		case n == nil:
			continue
		case last == nil:
			return nil, fmt.Errorf("the journal has no checkpoint, and %w", l.behind(n))
		case !n.precedes(l.restored):
			return nil, fmt.Errorf("the journal was restored at %v, and %w", l.restored, l.behind(n))
		case !n.given(l.restored):
			list = append(list, *n)
		}
	}
	return list, nil
}

// behind is the error of a journal that is not the one of an anchored note.
func (l *Log) behind(n *statement) error {
	after := ""
	if len(n.restored) > 0 {
		after = fmt.Sprintf(", after it was restored at %v", n.restored)
	}
	return refuse("an anchored note of %q has %d entries%s; put the newer journal back, or, if it was restored from a copy or begun anew on purpose, "+
		"say so: ambit audit restored, ambit audit begin", l.signer.Name(), n.said, after)
}

// compareNotes compares the journal with the notes. seen has the roots at the sizes
// that were read at the start.
func (l *Log) compareNotes(ctx context.Context, notes []statement, seen map[uint64]tlog.Hash, stored recentFunc) error {
	for i := range notes {
		n := &notes[i]
		if n.said > l.tree.Size {
			return fmt.Errorf("the journal has %d entries, and %w", l.tree.Size, l.behind(n))
		}
		root, ok := seen[n.said]
		if !ok {
			var err error
			root, err = l.rootAt(ctx, n.said, stored)
			if errors.As(err, new(*journal.ArchivedError)) {
				continue // an anchor that is behind the archive: the entries of that time are in segments, and so is what was signed
			}
			if err != nil {
				return err
			}
		}
		if root != n.root {
			return fmt.Errorf("the first %d entries of the journal are others, and %w", n.said, l.behind(n))
		}
	}
	return nil
}

// rootAt returns the root of the log at a size below the last checkpoint: as a stored
// checkpoint of this journal has it, or by reading the entries.
func (l *Log) rootAt(ctx context.Context, size uint64, stored recentFunc) (tlog.Hash, error) {
	c, err := stored.of(ctx, size)
	if err != nil {
		return tlog.Hash{}, err
	}
	if c != nil {
		if s := l.check(c.Signed()); s.bad == nil && s.said == size && s.precedes(l.restored) && !s.given(l.restored) {
			return s.root, nil
		}
	}
	var t tree
	err = scan(ctx, l.inner, 0, size, &l.hasher, func(h tlog.Hash) error {
		t.Add(h)
		return nil
	})
	return t.Root(), err
}

// ReadAnchors finds the notes of one origin, which is the name of its key, in
// what a FileAnchor or a WriterAnchor has written. Other lines, the notes of
// other logs and a note that was cut short are skipped. A note that was changed
// is not: Verify is to see it. The error is that of the reader.
func ReadAnchors(r io.Reader, origin string) ([][]byte, error) {
	var notes [][]byte
	err := eachNote(r, origin, func(note []byte) error {
		notes = append(notes, bytes.Clone(note))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("the anchored notes: %w", err)
	}
	return notes, nil
}

// eachNote calls f with each whole note of an origin: text, an empty line, signatures
// and an empty line. A note holds until f returns.
func eachNote(r io.Reader, origin string, f func([]byte) error) error {
	const maxLines = 100
	var note, long []byte     // the lines of the note that has begun, and room for a long one
	lines, signatures := 0, 0 // of that note
	blank := false            // its last line is empty
	in := bufio.NewReader(r)
	for {
		line, err := lineOf(in, &long)
		if err == io.EOF {
			return nil // a line that does not end is of a note that is not whole
		}
		if err != nil {
			return err
		}
		signature := bytes.HasPrefix(line, []byte("— "))
		switch {
		case string(line) == origin:
			note, lines, signatures = note[:0], 0, 0
		case lines == 0:
			continue
		case blank && !signature, lines == maxLines: // signatures are missing, or it is too long
			lines = 0
			continue
		case signatures > 0 && !signature:
			if len(line) == 0 {
				if err := f(note); err != nil {
					return err
				}
			}
			lines = 0
			continue
		case signature && (signatures > 0 || blank):
			signatures++
		}
		note = append(append(note, line...), '\n')
		lines, blank = lines+1, len(line) == 0
	}
}

// lineOf returns the next line, without its end. It holds until the next call. long is room for a line that
// is longer than the buffer.
func lineOf(in *bufio.Reader, long *[]byte) (line []byte, err error) {
	line, err = in.ReadSlice('\n')
	for *long = (*long)[:0]; errors.Is(err, bufio.ErrBufferFull); line, err = in.ReadSlice('\n') {
		*long = append(*long, line...)
	}
	if len(*long) > 0 {
		*long = append(*long, line...)
		line = *long
	}
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")), err
}
