package audit

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// restoresWord begins the line of a note that says down to which sizes the journal
// was restored before, in that order.
const restoresWord = "restored"

func restoresLine(restored []uint64) string {
	if len(restored) == 0 {
		return ""
	}
	return restoresWord + " " + strings.Trim(fmt.Sprint(restored), "[]") + "\n"
}

// restoresIn finds that line among those after the third.
func restoresIn(lines []string) (restored []uint64, err error) {
	for _, line := range lines {
		words := strings.Split(line, " ")
		if words[0] != restoresWord {
			continue
		}
		for _, word := range words[1:] {
			n, ok := number(word)
			if !ok {
				return nil, fmt.Errorf("the note has the line %q, which names no sizes", shorten([]byte(line)))
			}
			restored = append(restored, n)
		}
	}
	return restored, nil
}

// precedes reports whether the note is of the journal that was restored so, before
// or after some of that.
func (s *statement) precedes(restored []uint64) bool {
	n := len(s.restored)
	return n <= len(restored) && slices.Equal(s.restored, restored[:n])
}

// given reports whether the note is about entries that a later restore has given up.
func (s *statement) given(restored []uint64) bool {
	n := len(s.restored)
	return n < len(restored) && s.said > slices.Min(restored[n:])
}

// Compare compares a journal with its checkpoints and anchors as New does, and writes
// nothing. The error is ErrTampered where New would refuse the journal.
func Compare(ctx context.Context, src Source, signer note.Signer, opts ...Option) error {
	l := newLog(readOnly{reader: src}, nil, signer, opts)
	list, err := src.Checkpoints(ctx)
	if err != nil {
		return fmt.Errorf("the checkpoints cannot be read: %w", err)
	}
	_, err = l.catchUp(ctx, func(_ context.Context, size uint64, most int) ([]Checkpoint, error) {
		return recent(list, size, most), nil
	})
	return err
}

// A readOnly journal is one that is only read.
type readOnly struct {
	journal.Journal
	reader Reader
}

// Read reads the journal.
func (r readOnly) Read(ctx context.Context, after uint64, limit int) ([]journal.Entry, error) {
	return r.reader.Read(ctx, after, limit)
}

// Restore signs that a journal was restored from a copy on purpose: kept is how many
// entries the copy had. What was said of entries after these counts for nothing from
// then on, and every later note says that there was a restore. Call it when the
// record of the restore was appended, with all the anchors of the journal, and with
// no Log open.
//
// It refuses with [ErrTampered] a journal that is not the one of its last checkpoint, or whose first
// entries are archived and proved by no stored one (SEMANTICS 6.15.4).
func Restore(ctx context.Context, inner journal.Journal, store Checkpoints, signer note.Signer, kept uint64, opts ...Option) error {
	l := newLog(inner, store, signer, opts)
	stored := recentFunc(store.RecentCheckpoints)
	last, err := stored.largest(ctx, math.MaxUint64)
	if err != nil {
		return err
	}
	if last != nil {
		if err := l.restart(ctx, stored, last); err != nil {
			return err
		}
	}
	newest := l.restored
	for i := range l.anchors {
		n, err := l.newest(ctx, &l.anchors[i])
		switch {
		case err != nil:
			return err
		case n != nil && len(n.restored) > len(newest):
			newest = n.restored
		}
	}
	l.restored = append(slices.Clone(newest), kept)
	if l.tree, err = l.whole(ctx, stored, 0); err != nil {
		return err
	}
	t := l.tree.Clone()
	return l.write(ctx, &t, nil, 0)
}
